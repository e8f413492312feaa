// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_VARINT_H_
#define WEFT_EXPORT_SRC_VARINT_H_

// Integers in as few bytes as they need, the length known from the first byte.
//
// n bytes hold 7 n bits: the value, shifted left by n, with bit n - 1 set and
// all below it clear, little endian. A first byte of 0 is followed by all 64
// bits. Longer forms than needed are valid, so a length can be patched later.
//
//   xxxxxxx1                        0 .. 2^7 - 1
//   xxxxxx10 xxxxxxxx               .. 2^14 - 1
//   xxxxx100 xxxxxxxx xxxxxxxx      .. 2^21 - 1
//   10000000 7 bytes                .. 2^56 - 1
//   00000000 8 bytes                .. 2^64 - 1
//
// Unlike a chain of continuation bits this is written with one store and read
// with one load, without a loop or a branch on the value.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft::exporters {

static_assert(std::endian::native == std::endian::little,
              "the file is little endian, and so is every supported processor");

inline constexpr std::size_t kMaxVarintBytes = 9;
// Writing stores whole words: what may be touched behind the last byte.
inline constexpr std::size_t kVarintSlack = 8;

template <class T>
T load(const std::uint8_t* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
std::uint8_t* store(std::uint8_t* to, T value) noexcept {
  std::memcpy(to, &value, sizeof value);
  return to + sizeof value;
}

// For values below 2^56. Hot.
inline std::uint8_t* put_short_varint(std::uint8_t* to,
                                      std::uint64_t value) noexcept {
  const std::uint64_t marked = value << 1 | 1;
  const auto bits = static_cast<unsigned>(std::bit_width(marked) - 1);
  const unsigned more = (bits * 9) >> 6;  // bits / 7 rounded up, less one
  store(to, marked << more);
  return to + more + 1;
}

inline std::uint8_t* put_varint(std::uint8_t* to,
                                std::uint64_t value) noexcept {
  if (value >> 56 == 0) return put_short_varint(to, value);
  *to = 0;
  return store(to + 1, value);
}

// As exactly three bytes, for lengths that are filled in later.
inline constexpr std::uint64_t kMaxPaddedVarint = (1u << 21) - 1;
inline void put_padded_varint(std::uint8_t* to, std::uint64_t value) noexcept {
  const std::uint64_t word = value << 3 | 4;
  to[0] = static_cast<std::uint8_t>(word);
  to[1] = static_cast<std::uint8_t>(word >> 8);
  to[2] = static_cast<std::uint8_t>(word >> 16);
}

constexpr std::uint64_t zigzag(std::uint64_t value) noexcept {
  return value << 1 ^ (0 - (value >> 63));
}
constexpr std::uint64_t unzigzag(std::uint64_t value) noexcept {
  return value >> 1 ^ (0 - (value & 1));
}

// Reads from bytes that nobody vouches for. After the first read past the end
// everything is 0 and `ok()` is false, so callers check once at the end of a
// group of reads.
class ByteReader {
 public:
  ByteReader() = default;
  ByteReader(const std::uint8_t* begin, const std::uint8_t* end) noexcept
      : at_(begin), end_(end) {}

  bool ok() const noexcept { return ok_; }
  bool at_end() const noexcept { return at_ == end_; }
  const std::uint8_t* at() const noexcept { return at_; }
  std::size_t left() const noexcept {
    return static_cast<std::size_t>(end_ - at_);
  }

  template <class T>
  T fixed() noexcept {
    const std::uint8_t* from = take(sizeof(T));
    return from == nullptr ? T{} : load<T>(from);
  }

  std::uint64_t varint() noexcept {
    if (at_ == end_) return fail();
    const unsigned first = *at_;
    if (first == 0) {
      ++at_;
      return fixed<std::uint64_t>();
    }
    const auto bytes = static_cast<unsigned>(std::countr_zero(first)) + 1;
    std::uint64_t word = 0;
    if (left() >= sizeof word) {
      word = load<std::uint64_t>(at_);
    } else if (left() >= bytes) {
      std::memcpy(&word, at_, left());
    } else {
      return fail();
    }
    at_ += bytes;
    // Two shifts: by 64 in one would be undefined when bytes is 8.
    return (word << (8 * (8 - bytes))) >> (8 * (8 - bytes)) >> bytes;
  }

  // A varint that must fit 32 bits.
  std::uint32_t varint32() noexcept {
    const std::uint64_t value = varint();
    if (value >> 32 != 0) return static_cast<std::uint32_t>(fail());
    return static_cast<std::uint32_t>(value);
  }

  // Null and not ok if there are fewer than `count`.
  const std::uint8_t* take(std::size_t count) noexcept {
    if (count > left()) {
      fail();
      return nullptr;
    }
    const std::uint8_t* from = at_;
    at_ += count;
    return from;
  }

 private:
  std::uint64_t fail() noexcept {
    ok_ = false;
    at_ = end_;
    return 0;
  }

  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* end_ = nullptr;
  bool ok_ = true;
};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_VARINT_H_
