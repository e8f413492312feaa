// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_RECORD_CALLBACK_H_
#define WEFT_PROFILE_RECORD_CALLBACK_H_

// Functions of the program that run at the start and end of instrumented calls,
// whether a session records or not.
//
//   auto handle = weft::add_global_callback(
//       weft::RecordCallback([](const weft::FunctionCall& call) { ... })
//           .sampling_prob(0.01)
//           .scopes({weft::RecordScope::kUserScope}));
//   weft::remove_callback(*handle);
//
// Order: global ones first, then the thread's, each by handle; ends in reverse.
// A callback that throws is counted and goes no further. Calls that a callback
// makes itself are recorded, but run no callbacks.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string_view>

#include "weft/internal/api.h"
#include "weft/profile/function_input.h"
#include "weft/profile/record_scope.h"
#include "weft/record.h"
#include "weft/result.h"

namespace weft {

// A call as its callbacks see it; valid only while they run.
struct FunctionCall {
  std::string_view name;
  RecordScope scope = RecordScope::kFunction;
  std::uint64_t handle = 0;  // unique in the process; 0: no callback needs ids
  std::int64_t sequence_nr = -1;
  ThreadIndex thread = ThreadIndex::kNone;  // kNone: nobody records
  ThreadIndex forward_thread = ThreadIndex::kNone;
  std::string_view args;     // of user ranges
  bool has_inputs = false;   // somebody needs them
  std::size_t num_inputs = 0;
  std::string_view inputs_text;  // see input_writer.h
  std::size_t num_outputs = 0;   // at the end only, if somebody needs them
  std::string_view outputs_text;

  // Allocate.
  ParsedInputs inputs() const { return parse_inputs(inputs_text); }
  ParsedInputs outputs() const { return parse_inputs(outputs_text); }
};

// What a start callback keeps for its end.
class WEFT_API CallbackContext {
 public:
  virtual ~CallbackContext() = default;
};

class WEFT_API RecordCallback {
 public:
  using Start =
      std::function<std::unique_ptr<CallbackContext>(const FunctionCall&)>;
  // `context` is what the start returned; null if it threw.
  using End = std::function<void(const FunctionCall&, CallbackContext* context)>;

  explicit RecordCallback(Start start, End end = {})
      : start_(std::move(start)), end_(std::move(end)) {}
  // For starts that keep nothing.
  static RecordCallback at_start(std::function<void(const FunctionCall&)> start,
                                 End end = {});

  RecordCallback& needs_inputs() { return needs_inputs_ = true, *this; }
  RecordCallback& needs_outputs() { return needs_outputs_ = true, *this; }
  RecordCallback& needs_ids() { return needs_ids_ = true, *this; }
  // In [0, 1]; 0: never. Each thread and scope draws for itself.
  RecordCallback& sampling_prob(double p) { return probability_ = p, *this; }
  // None: all.
  RecordCallback& scopes(std::initializer_list<RecordScope> scopes);

 private:
  friend struct CallbackAccess;
  Start start_;
  End end_;
  bool needs_inputs_ = false;
  bool needs_outputs_ = false;
  bool needs_ids_ = false;
  double probability_ = 1;
  std::uint32_t scopes_ = ~std::uint32_t{0};  // a bit each
};

// Unique in the process, growing; 0 is none.
enum class CallbackHandle : std::uint64_t { kNone = 0 };

// For all threads, or for the calling one and what inherits its state
// (thread_local_state.h).
// Errors: kInvalidArgument  the sampling probability is not in [0, 1]
// Thread-safe. Cold: turns sites.
[[nodiscard]] WEFT_API Result<CallbackHandle> add_global_callback(
    RecordCallback callback);
[[nodiscard]] WEFT_API Result<CallbackHandle> add_thread_local_callback(
    RecordCallback callback);

// False for a handle that is not known. Of an open call the end of a removed
// callback does not run. Thread-safe for global ones; those of a thread belong
// to it. Cold.
WEFT_API bool remove_callback(CallbackHandle handle);
WEFT_API bool disable_callback(CallbackHandle handle);
WEFT_API bool reenable_callback(CallbackHandle handle);

WEFT_API bool has_global_callbacks();
WEFT_API bool has_thread_local_callbacks();
WEFT_API void clear_global_callbacks();
WEFT_API void clear_thread_local_callbacks();

enum class Callbacks : std::uint8_t { kOff, kOn };

// Turns the callbacks of the calling thread off or on while it lives.
class WEFT_API RecordFunctionGuard {
 public:
  explicit RecordFunctionGuard(Callbacks callbacks = Callbacks::kOn) noexcept;
  RecordFunctionGuard(const RecordFunctionGuard&) = delete;
  RecordFunctionGuard& operator=(const RecordFunctionGuard&) = delete;
  ~RecordFunctionGuard();

 private:
  bool was_off_;
};

// Makes the calling thread's samples repeatable. Cold.
WEFT_API void seed_callback_sampling(std::uint64_t seed);

struct CallbackStatistics {
  std::uint64_t thrown = 0;          // exceptions of callbacks
  std::uint64_t ends_not_run = 0;    // removed between start and end
};
// Since the process began. Thread-safe.
WEFT_API CallbackStatistics callback_statistics() noexcept;

}  // namespace weft

#endif  // WEFT_PROFILE_RECORD_CALLBACK_H_
