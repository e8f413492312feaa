// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_ELF_FILE_H_
#define WEFT_PROFILE_SRC_ELF_FILE_H_

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/result.h"

namespace weft::profile {

// Closes what it holds.
class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept
      : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();
  int number() const noexcept { return number_; }

 private:
  int number_;
};

// What symbolizing needs of an ELF file. It is read, not mapped: a file that is
// cut meanwhile must not end the process. Any bytes end in an error or in fewer
// symbols.
class ElfFile {
 public:
  struct Symbol {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint32_t name = 0;   // where it begins in the table of names
    bool is_local = false;
  };

  // Errors: kIo           cannot be read
  //         kCorrupt      is no ELF file
  //         kUnsupported  of another word size or byte order
  static Result<ElfFile> open(const std::string& path);

  const std::string& path() const noexcept { return path_; }
  int descriptor() const noexcept { return descriptor_.number(); }
  const std::string& build_id() const noexcept { return build_id_; }  // hex
  // Of the file that `.gnu_debuglink` names; empty: none.
  const std::string& debug_link() const noexcept { return debug_link_; }
  bool has_full_symbols() const noexcept { return has_full_symbols_; }
  bool has_debug_lines() const noexcept { return has_debug_lines_; }

  // Name, as the linker knows it, of the function that holds the address; empty
  // if there is none. Reads the tables at the first call.
  std::string_view function_at(std::uint64_t address);

  static constexpr std::size_t kMaxSections = 65535;
  static constexpr std::uint64_t kMaxSectionBytes = std::uint64_t{1} << 30;

 private:
  struct Section {
    std::string name;
    std::uint32_t type = 0;
    std::uint32_t link = 0;
    std::uint64_t address = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };

  ElfFile(std::string path, int descriptor);
  Result<void> read_headers();
  void read_sections(const Elf64_Ehdr& header);
  void read_facts();
  void read_symbols();
  bool read(std::uint64_t offset, void* to, std::size_t bytes) const;
  std::optional<std::string> contents(const Section& section) const;
  const Section* find(std::uint32_t type) const;
  std::uint64_t size_of(const Elf64_Sym& symbol) const;

  std::string path_;
  Descriptor descriptor_;
  std::vector<Section> sections_;
  std::string build_id_;
  std::string debug_link_;
  bool has_full_symbols_ = false;
  bool has_debug_lines_ = false;
  bool symbols_read_ = false;
  std::vector<Symbol> symbols_;  // by address
  std::string names_;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_ELF_FILE_H_
