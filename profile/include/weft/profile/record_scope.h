// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_RECORD_SCOPE_H_
#define WEFT_PROFILE_RECORD_SCOPE_H_

#include <cstddef>
#include <cstdint>

namespace weft {

// What kind of code a range covers. The numbers appear in outputs.
enum class RecordScope : std::uint8_t {
  kFunction = 0,
  kBackwardFunction = 1,  // inherits the stack of the forward range
  kTorchscriptFunction = 2,
  kKernelFunctionDtype = 3,
  kCustomClass = 4,
  kBuildFeature = 5,
  kLiteInterpreter = 6,
  kUserScope = 7,
  kStaticRuntimeOp = 8,
  kStaticRuntimeModel = 9,
};
inline constexpr std::size_t kRecordScopes = 10;

// The category under which records of that scope travel: files have it, and
// filters of subscriptions know it.
constexpr const char* category_of(RecordScope scope) noexcept {
  switch (scope) {
    case RecordScope::kFunction:
      return "function";
    case RecordScope::kBackwardFunction:
      return "backward_function";
    case RecordScope::kTorchscriptFunction:
      return "torchscript_function";
    case RecordScope::kKernelFunctionDtype:
      return "kernel_function_dtype";
    case RecordScope::kCustomClass:
      return "custom_class";
    case RecordScope::kBuildFeature:
      return "build_feature";
    case RecordScope::kLiteInterpreter:
      return "lite_interpreter";
    case RecordScope::kUserScope:
      return "user_scope";
    case RecordScope::kStaticRuntimeOp:
      return "static_runtime_op";
    case RecordScope::kStaticRuntimeModel:
      return "static_runtime_model";
  }
  return "function";
}

}  // namespace weft

#endif  // WEFT_PROFILE_RECORD_SCOPE_H_
