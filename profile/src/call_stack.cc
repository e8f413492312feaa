// SPDX-License-Identifier: Apache-2.0
#include "call_stack.h"

#include <unistd.h>

// Inline: no dependency on the shared library.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <string>

#include "code_address.h"
#include "stack_table.h"
#include "stack_text.h"
#include "weft/span.h"

namespace weft::profile {
namespace {

// What a module's path is cut to: signal stacks are small.
constexpr std::size_t kMaxPathBytes = 1024;
constexpr std::size_t kMaxModuleText = kMaxPathBytes + 128;
// A number of 8 digits, one of 16, and two separators a frame.
constexpr std::size_t kMaxStackText = (kMaxStackFrames + 1) * 26;

StackTable table;
// Relaxed: a stack that is hashed with the old value is as good as one that was
// taken a moment earlier.
std::atomic<std::uint64_t> unloads{0};
std::atomic<std::uint64_t> described{0};  // counts of their own
std::atomic<std::uint64_t> not_kept{0};

// The program's own path, which the dynamic linker does not know.
std::array<char, kMaxPathBytes> program_path;
std::atomic<std::size_t> program_path_bytes{0};

void read_program_path() noexcept {
  if (program_path_bytes.load(std::memory_order_acquire) != 0) return;
  const ssize_t bytes =
      readlink("/proc/self/exe", program_path.data(), program_path.size());
  // Release, acquire: the bytes before their number.
  if (bytes > 0)
    program_path_bytes.store(static_cast<std::size_t>(bytes),
                             std::memory_order_release);
}

std::string_view path_of(const CodeModule& module) noexcept {
  if (!module.path.empty()) return module.path.substr(0, kMaxPathBytes);
  return {program_path.data(),
          program_path_bytes.load(std::memory_order_acquire)};
}

StringId intern_module(const CodeModule& module) noexcept {
  FixedText<kMaxModuleText> text;
  text.add(kModuleWord);
  text.add(" ");
  if (module.build_id.empty()) text.add(kNoBuildId);
  for (const std::uint8_t byte :
       module.build_id.first(std::min<std::size_t>(module.build_id.size(), 32)))
    text.add_byte(byte);
  text.add(" ");
  text.add_hex(module.load_base);
  text.add(" ");
  text.add_hex(module.end - module.begin);
  text.add(" ");
  text.add(path_of(module));
  return internal::intern(text.view());
}

StringId describe(const WalkedStack& stack) noexcept {
  described.fetch_add(1, std::memory_order_relaxed);
  FixedText<kMaxStackText> text;
  CodeModule module;
  StringId number = StringId::kNone;
  for (std::size_t i = 0; i < stack.count; ++i) {
    const std::uintptr_t address = stack.frames[i];
    // The byte before belongs to the call; after it another function may begin.
    if (address <= module.begin || address > module.end) {
      module = {};
      number = find_module(address - 1, &module) ? intern_module(module)
                                                 : StringId::kNone;
    }
    if (number == StringId::kOtherNames) number = StringId::kNone;
    if (i != 0) text.add(";");
    text.add_hex(static_cast<std::uint32_t>(number));
    text.add("+");
    text.add_hex(number == StringId::kNone ? address
                                           : address - module.load_base);
  }
  if (stack.cut) {
    text.add(";");
    text.add(kCutMark);
  }
  return internal::intern(text.view());
}

}  // namespace

Result<void> prepare_call_stacks() {
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  if (!table.reserve())
    return Error{ErrorCode::kOutOfMemory,
                 "stacks: no memory for a table of " +
                     std::to_string(StackTable::kPlaces) + " stacks"};
  prepare_stack_walks();
  read_program_path();
  unloads.store(unload_count(), std::memory_order_relaxed);
  WalkedStack stack;
  unwind(walk_start(), stack);
  if (stack.count == 0)
    return Error{ErrorCode::kUnsupported,
                 "stacks: the program has no unwind tables; build it without "
                 "-fno-asynchronous-unwind-tables"};
  return {};
}

StringId call_stack(const WalkStart& start) noexcept {
  WalkedStack stack;
  const bool by_pointers = may_walk_frame_pointers(start);
  if (by_pointers) {
    walk_frame_pointers(start, stack);
  } else {
    unwind(start, stack);
  }
  const auto hash = [&] {
    // What the two ways give differs in the first frames of a thread.
    return XXH3_64bits_withSeed(
        stack.frames.data(), stack.count * sizeof(stack.frames[0]),
        unloads.load(std::memory_order_relaxed) << 2 |
            (by_pointers ? 2u : 0u) | (stack.cut ? 1u : 0u));
  };
  const std::uint64_t known_by = hash();
  if (const StringId known = table.find(known_by); known != StringId::kNone)
    return known;
  bool same = true;
  if (by_pointers) {
    WalkedStack unwound;
    unwind(start, unwound);
    same = frame_pointers_hold(stack, unwound);
    stack = unwound;
  }
  if (stack.count == 0) return StringId::kNone;
  const StringId text = describe(stack);
  if (text == StringId::kNone) return text;
  if (same && !table.keep(known_by, text))
    not_kept.fetch_add(1, std::memory_order_relaxed);
  return text;
}

CallStackCounts call_stack_counts() noexcept {
  return {described.load(std::memory_order_relaxed),
          not_kept.load(std::memory_order_relaxed)};
}

}  // namespace weft::profile
