// SPDX-License-Identifier: Apache-2.0
#include "code_address.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>

namespace weft::profile {
namespace {

constexpr std::size_t kNoteAlignment = 4;

std::size_t note_padded(std::size_t bytes) noexcept {
  return (bytes + kNoteAlignment - 1) & ~(kNoteAlignment - 1);
}

// The build id among the notes in a stretch of memory.
std::span<const std::uint8_t> find_build_id(const std::uint8_t* at,
                                            std::size_t bytes) noexcept {
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    at += sizeof note;
    bytes -= sizeof note;
    const std::size_t name_bytes = note_padded(note.n_namesz);
    const std::size_t value_bytes = note_padded(note.n_descsz);
    if (name_bytes > bytes || value_bytes > bytes - name_bytes) return {};
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU &&
        std::memcmp(at, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0)
      return {at + name_bytes, note.n_descsz};
    at += name_bytes + value_bytes;
    bytes -= name_bytes + value_bytes;
  }
  return {};
}

// What the headers of a module say that is in memory. The loader has accepted
// them; still, nothing outside [begin, end) is read.
std::span<const std::uint8_t> build_id_of(const CodeModule& module,
                                          const ElfW(Phdr)* headers,
                                          std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const ElfW(Phdr)& header = headers[i];
    const std::uintptr_t begin = module.load_base + header.p_vaddr;
    if (header.p_type != PT_NOTE || begin < module.begin ||
        begin > module.end || header.p_memsz > module.end - begin)
      continue;
    const auto id = find_build_id(reinterpret_cast<const std::uint8_t*>(begin),
                                  header.p_memsz);
    if (!id.empty()) return id;
  }
  return {};
}

}  // namespace

#if __GLIBC_PREREQ(2, 35)

bool find_module(std::uintptr_t address, CodeModule* module) noexcept {
  dl_find_object found;
  if (_dl_find_object(reinterpret_cast<void*>(address), &found) != 0)
    return false;
  const link_map& map = *found.dlfo_link_map;
  module->begin = reinterpret_cast<std::uintptr_t>(found.dlfo_map_start);
  module->end = reinterpret_cast<std::uintptr_t>(found.dlfo_map_end);
  module->load_base = map.l_addr;
  module->path = map.l_name == nullptr ? "" : map.l_name;
  module->build_id = {};
  ElfW(Ehdr) header;
  if (module->end - module->begin < sizeof header) return true;
  std::memcpy(&header, found.dlfo_map_start, sizeof header);
  const std::size_t bytes = module->end - module->begin;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_phentsize != sizeof(ElfW(Phdr)) || header.e_phoff > bytes ||
      header.e_phnum > (bytes - header.e_phoff) / sizeof(ElfW(Phdr)))
    return true;
  module->build_id = build_id_of(
      *module,
      reinterpret_cast<const ElfW(Phdr)*>(module->begin + header.e_phoff),
      header.e_phnum);
  return true;
}

std::uintptr_t module_number(std::uintptr_t address) noexcept {
  dl_find_object found;
  return _dl_find_object(reinterpret_cast<void*>(address), &found) == 0
             ? reinterpret_cast<std::uintptr_t>(found.dlfo_map_start)
             : 0;
}

#else

namespace {

struct LookedFor {
  std::uintptr_t address;
  CodeModule* module;
};

// Fills in the module if it is the one that holds the address.
int look_at_module(dl_phdr_info* info, std::size_t, void* argument) {
  auto& looked_for = *static_cast<LookedFor*>(argument);
  CodeModule& module = *looked_for.module;
  module = {};
  module.begin = ~std::uintptr_t{0};
  for (std::size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    module.begin = std::min(module.begin, begin);
    module.end = std::max(module.end, begin + header.p_memsz);
  }
  if (looked_for.address < module.begin || looked_for.address >= module.end)
    return 0;
  module.load_base = info->dlpi_addr;
  module.path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  module.build_id = build_id_of(module, info->dlpi_phdr, info->dlpi_phnum);
  return 1;
}

}  // namespace

bool find_module(std::uintptr_t address, CodeModule* module) noexcept {
  LookedFor looked_for{address, module};
  return dl_iterate_phdr(&look_at_module, &looked_for) != 0;
}

std::uintptr_t module_number(std::uintptr_t address) noexcept {
  CodeModule module;
  return find_module(address, &module) ? module.begin : 0;
}

#endif

std::uint64_t unload_count() noexcept {
  std::uint64_t count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        *static_cast<std::uint64_t*>(result) = info->dlpi_subs;
        return 1;
      },
      &count);
  return count;
}

}  // namespace weft::profile
