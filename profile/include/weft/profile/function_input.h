// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_FUNCTION_INPUT_H_
#define WEFT_PROFILE_FUNCTION_INPUT_H_

// The inputs of a recorded call, read back from the text of its record.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weft/profile/flop_formulas.h"
#include "weft/profile/function_event.h"

namespace weft {

struct FunctionInput {
  enum class Kind : std::uint8_t {
    kArray,
    kArrayList,
    kScalar,
    kScalarList,
    kOther,
  };

  Kind kind = Kind::kOther;
  std::string type;    // of an array: as it was given; may be empty
  Shape sizes;         // of an array
  std::vector<Shape> list_sizes;      // of a list of arrays
  std::vector<std::int64_t> integers;  // of a whole number or a list of them
  std::string value;   // of a number or a list of them, as text

  // "Scalar", "ScalarList" and "TensorList" for what has no type of its own.
  std::string type_name() const;
};

struct ParsedInputs {
  std::vector<FunctionInput> inputs;
  bool complete = true;  // false: there were more, or the text makes no sense
};

// Any text gives some answer: it may come from a hostile file. `cut`: the text
// is only the beginning of what was recorded.
enum class InputText : std::uint8_t { kWhole, kCut };
ParsedInputs parse_inputs(std::string_view text,
                          InputText text_is = InputText::kWhole);

// As events show them: the sizes of arrays, nothing for everything else.
std::vector<Shape> shapes_of(const std::vector<FunctionInput>& inputs);

// As formulas want them.
std::vector<OpInput> op_inputs_of(const std::vector<FunctionInput>& inputs);

}  // namespace weft

#endif  // WEFT_PROFILE_FUNCTION_INPUT_H_
