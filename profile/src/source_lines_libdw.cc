// SPDX-License-Identifier: Apache-2.0
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <libelf.h>

#include <cstdlib>

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
  // Above an inlined function, the first list goes on with where that was
  // written; where it was put is what the second tells.
  Dwarf_Die* lexical = nullptr;
  Dwarf_Die* scopes = nullptr;
  int count = dwarf_getscopes(&unit, address, &lexical);
  if (count > 0) count = dwarf_getscopes_die(lexical, &scopes);
  for (int i = 0; i < count; ++i) {
    Dwarf_Die* const scope = &scopes[i];
    const int tag = dwarf_tag(scope);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
    next.function = function_of(scope);
    next.inlined = tag == DW_TAG_inlined_subroutine;
    frames.push_back(next);
    if (!next.inlined) break;
    next = {};
    read_call(&unit, scope, &next);
  }
  std::free(scopes);
  std::free(lexical);
  if (frames.empty() && !next.file.empty()) frames.push_back(next);
  return frames;
}

}  // namespace weft::profile
