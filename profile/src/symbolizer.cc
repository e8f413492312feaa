// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/symbolizer.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "demangle.h"
#include "elf_file.h"
#include "source_lines.h"
#include "weft/profile/rules.h"

namespace weft {

using profile::ElfFile;
using profile::SourceFrame;
using profile::SourceLines;

namespace {

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}
std::string_view folder(std::string_view path) {
  return path.substr(0, path.rfind('/') + 1);
}

// Frames in which weft records a call: inlined into the program, or its own in
// a debug build. Names of templates begin with what they return, and debug
// information has some without their namespace.
bool is_recording(const ResolvedFrame& frame) {
  std::string_view name = frame.function;
  name = name.substr(0, name.find_first_of("(<"));
  name.remove_prefix(name.rfind(' ') + 1);
  const std::string_view file = frame.file;
  return name.starts_with("weft::internal::") ||
         name.starts_with("weft::RecordFunction::") ||
         (frame.inlined && (file.ends_with("/weft/span.h") ||
                            file.ends_with("/weft/profile/record_function.h")));
}

// The files that know a module, and what was found in them.
struct Module {
  std::optional<ElfFile> own;
  std::optional<ElfFile> debug;
  std::optional<SourceLines> lines;
  std::string problem;
  std::unordered_map<std::uint64_t, std::vector<ResolvedFrame>> known;

  bool usable() const { return own.has_value() || debug.has_value(); }

  std::string function_at(std::uint64_t address) {
    // A debug file has all symbols, a stripped module those it exports.
    for (auto* file : {&debug, &own}) {
      if (!file->has_value()) continue;
      const std::string_view name = (*file)->function_at(address);
      if (!name.empty()) return std::string(name);
    }
    return {};
  }
};

}  // namespace

std::string ResolvedFrame::text() const {
  if (!function.empty() && !file.empty())
    return fmt::format("{}({}): {}", file, line, function);
  if (!function.empty()) return fmt::format("{}: {}", module, function);
  if (!module.empty()) return fmt::format("{}+{:#x}", module, offset);
  return fmt::format("{:#x}", offset);
}

struct Symbolizer::State {
  SymbolizerOptions options;
  std::map<std::pair<std::string, std::string>, Module> modules;

  // The file, if it is there and is what was loaded.
  std::optional<ElfFile> open(const std::string& path,
                              const std::string& build_id,
                              std::string* problem) const {
    Result<ElfFile> file = ElfFile::open(path);
    if (!file.ok()) {
      *problem = file.error().message;
      return std::nullopt;
    }
    if (file->build_id() != build_id) {
      *problem = path + ": has build id " +
                 (file->build_id().empty() ? "none" : file->build_id()) +
                 ", but " + (build_id.empty() ? "none" : build_id) +
                 " was loaded";
      return std::nullopt;
    }
    return std::move(file).value();
  }

  std::vector<std::string> debug_paths(const LoadedModule& module,
                                       const std::string& link) const {
    std::vector<std::string> paths;
    for (const std::string& dir : options.debug_dirs) {
      if (module.build_id.size() > 2)
        paths.push_back(dir + "/.build-id/" + module.build_id.substr(0, 2) +
                        "/" + module.build_id.substr(2) + ".debug");
      paths.push_back(dir + module.path + ".debug");
    }
    if (!link.empty() && link.find('/') == std::string::npos) {
      const std::string beside = options.root + std::string(folder(module.path));
      for (const std::string& path :
           {beside + link, beside + ".debug/" + link})
        paths.push_back(path);
      for (const std::string& dir : options.debug_dirs) {
        paths.push_back(dir + "/" + link);
        paths.push_back(dir + std::string(folder(module.path)) + link);
      }
    }
    return paths;
  }

  void load(const LoadedModule& loaded, Module& module) const {
    module.own = open(options.root + loaded.path, loaded.build_id,
                      &module.problem);
    const bool complete = module.own && module.own->has_full_symbols() &&
                          module.own->has_debug_lines();
    if (!complete) {
      std::string ignored;
      const std::string link = module.own ? module.own->debug_link() : "";
      for (const std::string& path : debug_paths(loaded, link)) {
        module.debug = open(path, loaded.build_id, &ignored);
        if (module.debug) break;
      }
    }
    if (!module.usable()) return;
    module.problem.clear();
    ElfFile* const described =
        module.debug && module.debug->has_debug_lines()  ? &*module.debug
        : module.own && module.own->has_debug_lines() ? &*module.own
                                                      : nullptr;
    if (!options.source_lines) return;
    if (described != nullptr && SourceLines::available()) {
      module.lines.emplace(described->descriptor());
    } else if (described != nullptr) {
      module.problem = loaded.path + ": lines are not looked for: weft was "
                                     "built without libdw";
    } else {
      module.problem = loaded.path + ": no debug information, here or in a file "
                                     "of build id " +
                       (loaded.build_id.empty() ? "none" : loaded.build_id);
    }
  }

  std::vector<ResolvedFrame> look_up(const LoadedModule& loaded,
                                     Module& module, std::uint64_t offset) {
    // The byte before a return address belongs to the call.
    const std::uint64_t address = offset == 0 ? 0 : offset - 1;
    const auto add = [&](std::vector<ResolvedFrame>& frames, SourceFrame&& f) {
      frames.push_back({profile::demangle(f.function, Rules::kWeft),
                        std::move(f.file), f.line, f.inlined,
                        std::string(file_name(loaded.path)), offset});
    };
    std::vector<ResolvedFrame> frames;
    if (module.lines)
      for (SourceFrame& frame : module.lines->at(address))
        add(frames, std::move(frame));
    if (frames.empty() || frames.back().inlined) add(frames, {});
    // Debug information may have it without namespaces and parameters.
    if (const std::string symbol = module.function_at(address); !symbol.empty())
      frames.back().function = profile::demangle(symbol, Rules::kWeft);
    return frames;
  }
};

Symbolizer::Symbolizer(SymbolizerOptions options) : state_(new State) {
  state_->options = std::move(options);
}
Symbolizer::Symbolizer(Symbolizer&&) noexcept = default;
Symbolizer& Symbolizer::operator=(Symbolizer&&) noexcept = default;
Symbolizer::~Symbolizer() = default;

const std::vector<ResolvedFrame>& Symbolizer::resolve(
    const LoadedModule& module, std::uint64_t offset) {
  const auto [at, is_new] =
      state_->modules.try_emplace({module.path, module.build_id});
  if (is_new) state_->load(module, at->second);
  const auto [frames, is_new_frame] = at->second.known.try_emplace(offset);
  if (is_new_frame)
    frames->second = state_->look_up(module, at->second, offset);
  return frames->second;
}

std::vector<std::string> Symbolizer::frames(
    std::string_view stack,
    const std::function<std::string_view(StringId)>& text_of) {
  const auto captured = parse_captured_stack(stack);
  if (!captured) return {std::string(stack)};
  std::vector<std::string> texts;
  const auto add = [&](const ResolvedFrame& frame) {
    if (!texts.empty() || !is_recording(frame))
      texts.push_back(frame.text());
  };
  for (const CapturedFrame& frame : captured->frames) {
    const auto module =
        frame.module == StringId::kNone
            ? std::nullopt
            : parse_loaded_module(text_of(frame.module));
    if (module) {
      for (const ResolvedFrame& found : resolve(*module, frame.offset))
        add(found);
    } else {
      ResolvedFrame bare;
      bare.offset = frame.offset;
      add(bare);
    }
  }
  if (captured->cut) texts.emplace_back("(more frames)");
  return texts;
}

std::vector<std::string> Symbolizer::problems() const {
  std::vector<std::string> sentences;
  for (const auto& [key, module] : state_->modules)
    if (!module.problem.empty()) sentences.push_back(module.problem);
  return sentences;
}

bool source_lines_available() noexcept { return SourceLines::available(); }

}  // namespace weft
