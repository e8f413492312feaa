// SPDX-License-Identifier: Apache-2.0
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <libelf.h>

#include <cstdint>
#include <vector>

#include "source_lines.h"

namespace weft::profile {
namespace {

std::string text_of(const char* text) { return text == nullptr ? "" : text; }

// The linker's name, wherever it is declared; else the plain one.
std::string function_of(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  for (const unsigned which : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name})
    if (dwarf_attr_integrate(die, which, &attribute) != nullptr)
      return text_of(dwarf_formstring(&attribute));
  return text_of(dwarf_attr_integrate(die, DW_AT_name, &attribute) == nullptr
                     ? nullptr
                     : dwarf_formstring(&attribute));
}

// The function that holds an address and what is inlined into it there, outermost
// first. dwarf_getscopes() does not look into namespaces, where Clang describes
// functions and GCC only declares them.
class FunctionSearch {
 public:
  explicit FunctionSearch(Dwarf_Addr address) : address_(address) {}

  // True when something below `parent` holds the address.
  bool look_below(Dwarf_Die* parent, int depth) {
    Dwarf_Die die;
    if (depth == kDeepest || dwarf_child(parent, &die) != 0) return false;
    do {
      if (++looked_at_ > kMost) return false;
      switch (dwarf_tag(&die)) {
        case DW_TAG_subprogram:
        case DW_TAG_inlined_subroutine:
          if (dwarf_haspc(&die, address_) <= 0) break;
          found.push_back(die);
          look_below(&die, depth + 1);
          return true;
        case DW_TAG_lexical_block:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
          if (dwarf_haspc(&die, address_) <= 0) break;
          look_below(&die, depth + 1);
          return true;
        case DW_TAG_namespace:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_union_type:
          if (look_below(&die, depth + 1)) return true;
          break;
        default:
          break;
      }
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
  }

  std::vector<Dwarf_Die> found;

 private:
  // Beyond what compilers write: the file may be made to be slow.
  static constexpr int kDeepest = 200;
  static constexpr std::uint64_t kMost = 10'000'000;

  const Dwarf_Addr address_;
  std::uint64_t looked_at_ = 0;
};

// Where an inlined function was called.
void read_call(Dwarf_Die* unit, Dwarf_Die* inlined, SourceFrame* caller) {
  Dwarf_Attribute attribute;
  Dwarf_Word file = 0;
  Dwarf_Word line = 0;
  if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute),
                      &line) == 0)
    caller->line = static_cast<std::uint32_t>(line);
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute),
                      &file) == 0 &&
      dwarf_getsrcfiles(unit, &files, &count) == 0 && file < count)
    caller->file = text_of(dwarf_filesrc(files, file, nullptr, nullptr));
}

}  // namespace

struct SourceLines::State {
  Elf* elf = nullptr;
  Dwarf* debug = nullptr;

  ~State() {
    if (debug != nullptr) dwarf_end(debug);
    if (elf != nullptr) elf_end(elf);
  }

  bool find_unit(Dwarf_Addr address, Dwarf_Die* unit) const {
    if (dwarf_addrdie(debug, address, unit) != nullptr) return true;
    // Not every compiler writes an index of addresses.
    Dwarf_CU* next = nullptr;
    while (dwarf_get_units(debug, next, &next, nullptr, nullptr, unit,
                           nullptr) == 0)
      if (dwarf_haspc(unit, address) > 0) return true;
    return false;
  }
};

bool SourceLines::available() noexcept { return true; }

SourceLines::SourceLines(int descriptor) : state_(new State) {
  elf_version(EV_CURRENT);
  // Read, not mapped: the file may be cut meanwhile.
  state_->elf = elf_begin(descriptor, ELF_C_READ, nullptr);
  if (state_->elf != nullptr)
    state_->debug = dwarf_begin_elf(state_->elf, DWARF_C_READ, nullptr);
}
SourceLines::~SourceLines() = default;
SourceLines::SourceLines(SourceLines&&) noexcept = default;

std::vector<SourceFrame> SourceLines::at(std::uint64_t address) const {
  std::vector<SourceFrame> frames;
  Dwarf_Die unit;
  if (state_->debug == nullptr || !state_->find_unit(address, &unit)) return {};
  SourceFrame next;
  if (Dwarf_Line* const line = dwarf_getsrc_die(&unit, address)) {
    int number = 0;
    if (dwarf_lineno(line, &number) == 0 && number > 0)
      next.line = static_cast<std::uint32_t>(number);
    next.file = text_of(dwarf_linesrc(line, nullptr, nullptr));
  }
  FunctionSearch search(address);
  search.look_below(&unit, 0);
  for (auto scope = search.found.rbegin(); scope != search.found.rend();
       ++scope) {
    next.function = function_of(&*scope);
    next.inlined = dwarf_tag(&*scope) == DW_TAG_inlined_subroutine;
    frames.push_back(next);
    if (!next.inlined) break;
    next = {};
    read_call(&unit, &*scope, &next);
  }
  if (frames.empty() && !next.file.empty()) frames.push_back(next);
  return frames;
}

}  // namespace weft::profile
