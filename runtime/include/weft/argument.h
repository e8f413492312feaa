// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_ARGUMENT_H_
#define WEFT_ARGUMENT_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "weft/record.h"
#include "weft/ringbuf/platform.h"

namespace weft {

// A typed key and value on a record: `WEFT_SPAN("decode", {"bytes", n})`.
//
// Keys are literals. Values are integers, enums, bool, float, double, StringId,
// or text. Text is copied into the record; one record holds about 800 bytes of
// it in all, what is longer is cut and marked as cut.
class Argument {
 public:
  constexpr Argument() noexcept = default;

  template <std::size_t kKey, class T,
            std::enable_if_t<std::is_arithmetic_v<T> || std::is_enum_v<T>,
                             int> = 0>
  WEFT_ALWAYS_INLINE Argument(const char (&key)[kKey], T value) noexcept
      : key_(key), key_size_(kKey - 1), type_(type_for<T>()),
        bits_(bits_for(value)) {}

  template <std::size_t kKey>
  Argument(const char (&key)[kKey], std::string_view text) noexcept
      : key_(key), key_size_(kKey - 1), type_(RecordKind::kText),
        bits_(text.size()), text_(text.data()) {}
  template <std::size_t kKey>
  Argument(const char (&key)[kKey], const std::string& text) noexcept
      : Argument(key, std::string_view(text)) {}
  template <std::size_t kKey>
  Argument(const char (&key)[kKey], const char* text) noexcept
      : Argument(key, text == nullptr ? std::string_view("(null)")
                                      : std::string_view(text)) {}

  // Bytes that internal::pack_text() made, fewer than 65536.
  template <std::size_t kKey>
  static Argument packed(const char (&key)[kKey],
                         std::string_view bytes) noexcept {
    Argument argument(key, bytes);
    argument.type_ = RecordKind::kPackedText;
    return argument;
  }

  std::string_view key() const noexcept { return {key_, key_size_}; }
  RecordKind type() const noexcept { return type_; }
  // The value, or the length of the text.
  std::uint64_t bits() const noexcept { return bits_; }
  std::string_view text() const noexcept { return {text_, bits_}; }
  bool present() const noexcept { return type_ != RecordKind::kNone; }

 private:
  template <class T>
  static constexpr RecordKind type_for() noexcept {
    if constexpr (std::is_same_v<T, bool>) {
      return RecordKind::kBool;
    } else if constexpr (std::is_same_v<T, StringId>) {
      return RecordKind::kStringId;
    } else if constexpr (std::is_floating_point_v<T>) {
      return RecordKind::kDouble;
    } else if constexpr (std::is_enum_v<T>) {
      return type_for<std::underlying_type_t<T>>();
    } else {
      return std::is_signed_v<T> ? RecordKind::kInt64 : RecordKind::kUint64;
    }
  }

  template <class T>
  static WEFT_ALWAYS_INLINE std::uint64_t bits_for(T value) noexcept {
    if constexpr (std::is_floating_point_v<T>) {
      const double wide = static_cast<double>(value);
      std::uint64_t bits;
      std::memcpy(&bits, &wide, sizeof bits);
      return bits;
    } else if constexpr (std::is_enum_v<T>) {
      return bits_for(static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::is_signed_v<T>) {
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    } else {
      return static_cast<std::uint64_t>(value);
    }
  }

  const char* key_ = nullptr;
  std::size_t key_size_ = 0;
  RecordKind type_ = RecordKind::kNone;
  std::uint64_t bits_ = 0;
  const char* text_ = nullptr;
};

}  // namespace weft

#endif  // WEFT_ARGUMENT_H_
