// SPDX-License-Identifier: Apache-2.0
#include "process_info.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "weft/version.h"

namespace weft {
namespace {

std::string content_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file),
          std::istreambuf_iterator<char>()};
}

std::string link_target(const char* path) {
  char target[PATH_MAX];
  const ssize_t size = readlink(path, target, sizeof target);
  return size < 0 ? std::string() : std::string(target, static_cast<std::size_t>(size));
}

// The GNU build id among the notes of one segment, in hexadecimal.
std::string build_id_in(const std::uint8_t* notes, std::size_t size) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto padded = [](std::size_t n) { return (n + 3) & ~std::size_t{3}; };
  std::size_t at = 0;
  while (at + sizeof(ElfW(Nhdr)) <= size) {
    const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(notes + at);
    const std::size_t name = at + sizeof *note;
    const std::size_t value = name + padded(note->n_namesz);
    const std::size_t next = value + padded(note->n_descsz);
    if (next > size) break;
    if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
        std::equal(notes + name, notes + name + 4, "GNU")) {
      std::string id;
      for (std::size_t i = 0; i < note->n_descsz; ++i) {
        id += kDigits[notes[value + i] >> 4];
        id += kDigits[notes[value + i] & 15];
      }
      return id;
    }
    at = next;
  }
  return {};
}

// Called for the executable first, which is the one that matters.
int find_build_id(dl_phdr_info* module, std::size_t, void* result) {
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = module->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    std::string id = build_id_in(reinterpret_cast<const std::uint8_t*>(
                                     module->dlpi_addr + header.p_vaddr),
                                 header.p_memsz);
    if (!id.empty()) {
      *static_cast<std::string*>(result) = std::move(id);
      break;
    }
  }
  return 1;  // no other module
}

}  // namespace

ProcessInfo describe_process(const ClockSource& clock) {
  ProcessInfo info;
  info.pid = static_cast<std::uint32_t>(getpid());
  info.executable = link_target("/proc/self/exe");
  info.command_line = content_of("/proc/self/cmdline");
  if (!info.command_line.empty()) info.command_line.pop_back();
  std::replace(info.command_line.begin(), info.command_line.end(), '\0', ' ');
  info.boot_id = content_of("/proc/sys/kernel/random/boot_id");
  if (!info.boot_id.empty() && info.boot_id.back() == '\n')
    info.boot_id.pop_back();
  utsname system{};
  if (uname(&system) == 0) {
    info.host = system.nodename;
    info.kernel = std::string(system.sysname) + " " + system.release;
  }
  dl_iterate_phdr(find_build_id, &info.build_id);
  info.weft_version = version();
  info.clock = clock.name();
  info.clock_reason = clock.reason();
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  info.cpus = cpus > 0 ? static_cast<std::uint32_t>(cpus) : 0;
  info.tick_hz = clock.tick_hz();
  return info;
}

}  // namespace weft
