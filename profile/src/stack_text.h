// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_STACK_TEXT_H_
#define WEFT_PROFILE_SRC_STACK_TEXT_H_

// Words of the texts that captured_stack.h describes, and what writes them.

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <system_error>

namespace weft::profile {

inline constexpr std::string_view kModuleWord = "module";
inline constexpr std::string_view kNoBuildId = "-";
inline constexpr std::string_view kCutMark = "...";

// Text of limited size, on the stack. What does not fit is cut.
template <std::size_t kBytes>
class FixedText {
 public:
  void add(std::string_view text) noexcept {
    const std::size_t room = kBytes - size_;
    const std::size_t bytes = text.size() < room ? text.size() : room;
    std::memcpy(text_.data() + size_, text.data(), bytes);
    size_ += bytes;
  }
  void add_hex(std::uint64_t value) noexcept {
    const auto written = std::to_chars(text_.data() + size_,
                                       text_.data() + kBytes, value, 16);
    if (written.ec == std::errc())
      size_ = static_cast<std::size_t>(written.ptr - text_.data());
  }
  // Always two digits.
  void add_byte(std::uint8_t byte) noexcept {
    constexpr char kDigits[] = "0123456789abcdef";
    const char digits[] = {kDigits[byte >> 4], kDigits[byte & 15]};
    add({digits, sizeof digits});
  }
  bool empty() const noexcept { return size_ == 0; }
  std::string_view view() const noexcept { return {text_.data(), size_}; }

 private:
  std::array<char, kBytes> text_;
  std::size_t size_ = 0;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_STACK_TEXT_H_
