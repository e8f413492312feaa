// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_CODE_ADDRESS_H_
#define WEFT_PROFILE_SRC_CODE_ADDRESS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace weft::profile {

// The module, program or shared object, that holds an address now.
struct CodeModule {
  std::uintptr_t begin = 0;      // of its memory
  std::uintptr_t end = 0;
  std::uintptr_t load_base = 0;  // address less this: as its file numbers it
  std::string_view path;         // empty: the program itself; as long as loaded
  std::span<const std::uint8_t> build_id;  // empty: it has none
};

// False for code that no module has, such as a JIT's. Async-signal-safe with
// glibc 2.35 and later; before, it takes the dynamic linker's lock.
bool find_module(std::uintptr_t address, CodeModule* module) noexcept;

// Equal for addresses of one module; 0 if there is none. As find_module(), but
// a few ns only.
std::uintptr_t module_number(std::uintptr_t address) noexcept;

// Changes whenever modules were unloaded. Takes the dynamic linker's lock. Cold.
std::uint64_t unload_count() noexcept;

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_CODE_ADDRESS_H_
