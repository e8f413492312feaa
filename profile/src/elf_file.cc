// SPDX-License-Identifier: Apache-2.0
#include "elf_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <tuple>
#include <utility>

namespace weft::profile {
namespace {

constexpr unsigned char kByteOrder = std::endian::native == std::endian::little
                                         ? ELFDATA2LSB
                                         : ELFDATA2MSB;

std::string hex_of(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

// A copy of what lies at `at`, which need not be aligned.
template <class T>
bool copy_at(std::string_view bytes, std::size_t at, T* value) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) return false;
  std::memcpy(value, bytes.data() + at, sizeof(T));
  return true;
}

std::string build_id_in(std::string_view notes) {
  std::size_t at = 0;
  for (Elf64_Nhdr note; copy_at(notes, at, &note);) {
    const auto padded = [](std::uint64_t n) { return (n + 3) & ~std::uint64_t{3}; };
    const std::uint64_t name = at + sizeof note;
    const std::uint64_t value = name + padded(note.n_namesz);
    if (value > notes.size() || note.n_descsz > notes.size() - value) return {};
    if (note.n_type == NT_GNU_BUILD_ID &&
        notes.substr(name, note.n_namesz) ==
            std::string_view(ELF_NOTE_GNU, sizeof ELF_NOTE_GNU))
      return hex_of(notes.substr(value, note.n_descsz));
    at = value + padded(note.n_descsz);
  }
  return {};
}

bool is_function(const Elf64_Sym& symbol) {
  const auto type = ELF64_ST_TYPE(symbol.st_info);
  return (type == STT_FUNC || type == STT_GNU_IFUNC) &&
         symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0;
}

}  // namespace

ElfFile::ElfFile(std::string path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor) {}

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

Result<ElfFile> ElfFile::open(const std::string& path) {
  // Without waiting: the path may name a pipe.
  const int descriptor =
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return Error{ErrorCode::kIo, path + ": " + std::strerror(errno)};
  ElfFile file(path, descriptor);
  if (Result<void> read = file.read_headers(); !read.ok()) return read.error();
  return file;
}

bool ElfFile::read(std::uint64_t offset, void* to, std::size_t bytes) const {
  if (offset > std::uint64_t{INT64_MAX} - bytes) return false;
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t n =
        pread(descriptor_.number(), at, bytes, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    offset += static_cast<std::uint64_t>(n);
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

std::optional<std::string> ElfFile::contents(const Section& section) const {
  if (section.type == SHT_NOBITS || section.bytes > kMaxSectionBytes)
    return std::nullopt;
  // Memory is taken as bytes come: the size may be a lie.
  constexpr std::size_t kStep = 1u << 20;
  std::string bytes;
  while (bytes.size() < section.bytes) {
    const std::size_t had = bytes.size();
    const auto more = static_cast<std::size_t>(
        std::min<std::uint64_t>(kStep, section.bytes - had));
    bytes.resize(had + more);
    if (!read(section.offset + had, bytes.data() + had, more))
      return std::nullopt;
  }
  return bytes;
}

Result<void> ElfFile::read_headers() {
  Elf64_Ehdr header;
  if (!read(0, &header, sizeof header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return Error{ErrorCode::kCorrupt, path_ + ": is no ELF file"};
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != kByteOrder)
    return Error{ErrorCode::kUnsupported,
                 path_ + ": is for another word size or byte order"};
  read_sections(header);
  read_facts();
  return {};
}

void ElfFile::read_sections(const Elf64_Ehdr& header) {
  if (header.e_shentsize != sizeof(Elf64_Shdr)) return;
  std::vector<Elf64_Shdr> headers;
  std::uint64_t count = header.e_shnum;
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, kMaxSections);
       ++i) {
    Elf64_Shdr section;
    if (!read(header.e_shoff + i * sizeof section, &section, sizeof section))
      break;
    headers.push_back(section);
  }
  for (const Elf64_Shdr& section : headers)
    sections_.push_back({"", section.sh_type, section.sh_link, section.sh_addr,
                         section.sh_offset, section.sh_size});
  if (header.e_shstrndx >= sections_.size()) return;
  const auto names = contents(sections_[header.e_shstrndx]);
  if (!names) return;
  for (std::size_t i = 0; i < sections_.size(); ++i)
    if (headers[i].sh_name < names->size())
      sections_[i].name = names->c_str() + headers[i].sh_name;
}

void ElfFile::read_facts() {
  for (const Section& section : sections_) {
    if (section.type == SHT_NOTE && build_id_.empty()) {
      if (const auto notes = contents(section)) build_id_ = build_id_in(*notes);
    } else if (section.name == ".gnu_debuglink") {
      if (const auto text = contents(section)) debug_link_ = text->c_str();
    } else if (section.type == SHT_SYMTAB) {
      has_full_symbols_ = true;
    } else if ((section.name == ".debug_line" ||
                section.name == ".zdebug_line") &&
               section.type != SHT_NOBITS) {
      has_debug_lines_ = true;
    }
  }
}

const ElfFile::Section* ElfFile::find(std::uint32_t type) const {
  const auto found =
      std::find_if(sections_.begin(), sections_.end(),
                   [&](const Section& s) { return s.type == type; });
  return found == sections_.end() ? nullptr : &*found;
}

// Assembler may leave it out; the symbol then reaches to the end of its section
// or, since the nearest is asked, to the next.
std::uint64_t ElfFile::size_of(const Elf64_Sym& symbol) const {
  if (symbol.st_size != 0 || symbol.st_shndx >= sections_.size())
    return symbol.st_size;
  const Section& section = sections_[symbol.st_shndx];
  const std::uint64_t end = section.address + section.bytes;
  return symbol.st_value < end ? end - symbol.st_value : 0;
}

void ElfFile::read_symbols() {
  symbols_read_ = true;
  const Section* table = find(SHT_SYMTAB);
  if (table == nullptr) table = find(SHT_DYNSYM);
  if (table == nullptr || table->link >= sections_.size()) return;
  auto bytes = contents(*table);
  auto names = contents(sections_[table->link]);
  if (!bytes || !names) return;
  names_ = *std::move(names);
  Elf64_Sym symbol;
  for (std::size_t at = 0; copy_at(*bytes, at, &symbol); at += sizeof symbol)
    if (is_function(symbol) && symbol.st_name < names_.size())
      symbols_.push_back({symbol.st_value, size_of(symbol), symbol.st_name,
                          ELF64_ST_BIND(symbol.st_info) == STB_LOCAL});
  // Of several at one address, the largest that others may call.
  std::stable_sort(symbols_.begin(), symbols_.end(),
                   [](const Symbol& a, const Symbol& b) {
                     return std::tuple(a.address, a.is_local, ~a.bytes) <
                            std::tuple(b.address, b.is_local, ~b.bytes);
                   });
}

std::string_view ElfFile::function_at(std::uint64_t address) {
  if (!symbols_read_) read_symbols();
  const auto above = std::upper_bound(
      symbols_.begin(), symbols_.end(), address,
      [](std::uint64_t a, const Symbol& s) { return a < s.address; });
  if (above == symbols_.begin()) return {};
  const std::uint64_t nearest = std::prev(above)->address;
  const auto symbol = std::lower_bound(
      symbols_.begin(), above, nearest,
      [](const Symbol& s, std::uint64_t a) { return s.address < a; });
  if (address - symbol->address >= symbol->bytes) return {};
  return names_.c_str() + symbol->name;
}

}  // namespace weft::profile
