// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_INPUT_WRITER_H_
#define WEFT_PROFILE_INPUT_WRITER_H_

// How the inputs of a call become part of its record: as one line of text, which
// people can read in any trace viewer and tools can take apart again
// (function_input.h).
//
//   float[2,3]        an array of that type and size; "[]" has no dimensions
//   {float[2] int[]}  a list of arrays
//   7  0.5  true      a number
//   (1,1)             a list of numbers, of at most 30
//   -                 anything else
//
// Plain sizes are copied; nothing of the input is kept. In the record a digit
// takes half a byte (weft/internal/packed_text.h): "float[64,3,224,224]" is one
// 16-byte slot.
//
// A type says what it is by a specialisation:
//
//   template <>
//   struct weft::InputTraits<Matrix> {
//     static void describe(weft::InputWriter& inputs, const Matrix& m) {
//       const std::int64_t sizes[] = {m.rows(), m.columns()};
//       inputs.array("float", sizes, 2);
//     }
//   };

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "weft/internal/api.h"

namespace weft {

// One thread at a time. Nothing here allocates or throws.
class WEFT_API InputWriter {
 public:
  static constexpr std::size_t kMaxBytes = 800;
  static constexpr std::size_t kMaxListElements = 30;

  // `type` is shortened to letters, digits, '_', ':' and '.', at most 24.
  void array(std::string_view type, const std::int64_t* sizes,
             std::size_t rank) noexcept;
  void begin_list() noexcept;  // of arrays
  void end_list() noexcept;
  void integer(std::int64_t value) noexcept;
  void number(double value) noexcept;
  void boolean(std::int64_t value) noexcept;  // any integer: 0 is false
  // More than kMaxListElements: as other().
  void integers(const std::int64_t* values, std::size_t count) noexcept;
  void other() noexcept;

  // Inputs so far, a list as one.
  std::size_t count() const noexcept { return count_; }
  // Ends in "!" when inputs found no room.
  std::string_view text() const noexcept { return {text_.data(), size_}; }

 private:
  bool begin_input(std::size_t bytes) noexcept;
  void put(std::string_view text) noexcept;
  void put(std::int64_t value) noexcept;

  std::array<char, kMaxBytes> text_;
  std::size_t size_ = 0;
  std::size_t count_ = 0;
  bool in_list_ = false;
  bool full_ = false;
};

// An array that is described on the spot: weft::ArrayInput{"float", sizes, 2}.
struct ArrayInput {
  std::string_view type;
  const std::int64_t* sizes = nullptr;
  std::size_t rank = 0;
};

namespace internal {

template <class T, class = void>
struct is_list : std::false_type {};
template <class T>
struct is_list<T, std::void_t<decltype(std::declval<const T&>().data()),
                              decltype(std::declval<const T&>().size()),
                              typename T::value_type>> : std::true_type {};

}  // namespace internal

// Numbers, ArrayInput, and lists of integers or of described types with data()
// and size() are known; every other type is "-" until it is specialised.
template <class T, class = void>
struct InputTraits {
  static void describe(InputWriter& inputs, const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      inputs.boolean(value);
    } else if constexpr (std::is_integral_v<T>) {
      inputs.integer(static_cast<std::int64_t>(value));
    } else if constexpr (std::is_floating_point_v<T>) {
      inputs.number(static_cast<double>(value));
    } else if constexpr (std::is_same_v<T, ArrayInput>) {
      inputs.array(value.type, value.sizes, value.rank);
    } else if constexpr (internal::is_list<T>::value) {
      describe_list(inputs, value);
    } else {
      inputs.other();
    }
  }

 private:
  static void describe_list(InputWriter& inputs, const T& list) {
    using Element = typename T::value_type;
    if constexpr (std::is_same_v<Element, char>) {
      inputs.other();
    } else if constexpr (std::is_integral_v<Element>) {
      std::int64_t values[InputWriter::kMaxListElements] = {};
      const std::size_t count = list.size();
      if (count > InputWriter::kMaxListElements) return inputs.other();
      for (std::size_t i = 0; i < count; ++i)
        values[i] = static_cast<std::int64_t>(list.data()[i]);
      inputs.integers(values, count);
    } else if constexpr (std::is_arithmetic_v<Element>) {
      inputs.other();
    } else {
      inputs.begin_list();
      for (std::size_t i = 0; i < list.size(); ++i)
        InputTraits<Element>::describe(inputs, list.data()[i]);
      inputs.end_list();
    }
  }
};

namespace internal {

// Stands behind the inputs in macros, so that there may be none.
struct NoInput {};

template <class Input>
void describe_input(InputWriter& inputs, const Input& value) {
  if constexpr (!std::is_same_v<Input, NoInput>)
    InputTraits<std::decay_t<Input>>::describe(inputs, value);
}

template <class... Inputs>
void describe_inputs(InputWriter& inputs, const Inputs&... values) {
  (describe_input(inputs, values), ...);
}

}  // namespace internal
}  // namespace weft

#endif  // WEFT_PROFILE_INPUT_WRITER_H_
