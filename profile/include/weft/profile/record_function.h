// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_RECORD_FUNCTION_H_
#define WEFT_PROFILE_RECORD_FUNCTION_H_

// Instrumented calls: weft spans that a profiler can ask more of.
//
//   WEFT_RECORD_FUNCTION("matmul", a, b);         // to the end of the block
//   WEFT_RECORD_FUNCTION_WITH_SCOPE(weft::RecordScope::kStaticRuntimeOp, "op");
//   WEFT_RECORD_FUNCTION_DYN(node.name(), a);     // a name made at run time
//   WEFT_RECORD_USER_SCOPE("request", id);        // a user's range
//
//   weft::RecordFunction call(weft::RecordScope::kFunction);  // explicitly
//   call.before("matmul", a, b);
//   call.end();                                   // or where it is destroyed
//
// Every session sees these spans, with the scope as their category. Inputs are
// evaluated only when a profiler wants shapes or FLOPs, or a callback inputs.
//
//   site off   | site on, nobody wants more  | observed
//   one byte   | a span: two ticks, two slots | out of line: callbacks, inputs,
//              |                              | stack; then the same span
//
// Cost: nobody listens: a disabled span. A session without options: a recorded
// span. Observed: some 100 ns and what the callbacks take; may allocate, so not
// for signal handlers then. Nothing here throws; with -DWEFT_DISABLED the macros
// leave nothing behind.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <type_traits>

#include "weft/call_record.h"
#include "weft/internal/api.h"
#include "weft/internal/macros.h"
#include "weft/profile/input_writer.h"
#include "weft/profile/record_scope.h"
#include "weft/profile/sequence_number.h"
#include "weft/span.h"

namespace weft {

namespace internal {

// What the out-of-line path is told of a call.
struct CallDetails {
  RecordScope scope = RecordScope::kFunction;
  std::string_view name;          // of a call whose site has none
  std::string_view args;
  bool has_args = false;
  std::int64_t sequence_nr = -1;
  ThreadIndex forward_thread = ThreadIndex::kNone;
  std::int64_t debug_handle = -1;
  // Writes the inputs; null: there are none.
  void (*describe)(InputWriter& inputs, const void* values) = nullptr;
  const void* values = nullptr;
};

// `state` is that of the site: not off. Returns the ids of an OpenSpan that
// end_call() knows. Thread-safe.
WEFT_API std::uint64_t begin_call(std::uint64_t* position, std::uint8_t state,
                                  SiteData& site,
                                  const CallDetails& details) noexcept;
WEFT_API void end_call(OpenSpan call) noexcept;
WEFT_API void set_call_outputs(OpenSpan call,
                               void (*describe)(InputWriter&, const void*),
                               const void* values) noexcept;
// Of calls that have no site of their own.
WEFT_API SiteData& site_of(RecordScope scope) noexcept;

template <class Describe>
void describe_with(InputWriter& inputs, const void* describe) {
  (*static_cast<const Describe*>(describe))(inputs);
}

struct NoInputs {
  void operator()(InputWriter&) const noexcept {}
};

// What the macros declare: an OpenSpan that ends with its block.
class CallSpan {
 public:
  CallSpan() noexcept = default;
  // At a static site. `describe(writer)` writes the inputs.
  template <class Describe>
  WEFT_ALWAYS_INLINE CallSpan(std::uint8_t state, SiteData& site,
                              RecordScope scope,
                              const Describe& describe) noexcept {
    const auto slow = [&](std::uint64_t* begun_at) noexcept {
      CallDetails details;
      details.scope = scope;
      return begin_described(begun_at, state, site, details, describe);
    };
    // Backward calls have a sequence number in their record.
    if (scope == RecordScope::kBackwardFunction) {
      ids_ = slow(&position_);
    } else {
      begin_span_or(slow, ids_, position_, state, site);
    }
  }
  // With details that only the out-of-line path can record.
  template <class Describe>
  CallSpan(std::uint8_t state, SiteData& site, const CallDetails& details,
           const Describe& describe) noexcept {
    ids_ = begin_described(&position_, state, site, details, describe);
  }
  CallSpan(const CallSpan&) = delete;
  CallSpan& operator=(const CallSpan&) = delete;
  WEFT_ALWAYS_INLINE ~CallSpan() {
    if (ids_ != 0) end_span_fast<end_call>({ids_, position_});
  }

 private:
  template <class Describe>
  static std::uint64_t begin_described(std::uint64_t* position,
                                       std::uint8_t state, SiteData& site,
                                       CallDetails details,
                                       const Describe& describe) noexcept {
    if constexpr (!std::is_same_v<Describe, NoInputs>) {
      details.describe = &describe_with<Describe>;
      details.values = &describe;
    }
    return begin_call(position, state, site, details);
  }

  std::uint64_t ids_ = 0;
  std::uint64_t position_ = 0;
};

template <class Describe>
CallSpan sequenced_call(std::uint8_t state, SiteData& site, SequenceNr sequence,
                        const Describe& describe) noexcept {
  CallDetails details;
  details.sequence_nr = sequence.value;
  return CallSpan(state, site, details, describe);
}
template <class Describe>
CallSpan dynamic_call(std::uint8_t state, SiteData& site, std::string_view name,
                      const Describe& describe) noexcept {
  CallDetails details;
  details.name = name;
  return CallSpan(state, site, details, describe);
}

// The text that a user gives to a range; of a number in the buffer.
using NumberText = char[32];
inline std::string_view args_text(std::string_view args,
                                  NumberText&) noexcept {
  return args;
}
template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
std::string_view args_text(T value, NumberText& text) noexcept {
  int size = 0;
  if constexpr (std::is_floating_point_v<T>) {
    size = std::snprintf(text, sizeof text, "%.17g",
                         static_cast<double>(value));
  } else if constexpr (std::is_signed_v<T>) {
    size = std::snprintf(text, sizeof text, "%lld",
                         static_cast<long long>(value));
  } else {
    size = std::snprintf(text, sizeof text, "%llu",
                         static_cast<unsigned long long>(value));
  }
  return {text, size < 0 ? 0 : static_cast<std::size_t>(size)};
}

template <std::size_t kName>
WEFT_ALWAYS_INLINE CallSpan user_scope(std::uint8_t state, SiteData& site,
                                       const char (&)[kName]) noexcept {
  return CallSpan(state, site, RecordScope::kUserScope, NoInputs());
}
template <std::size_t kName, class Args>
CallSpan user_scope(std::uint8_t state, SiteData& site, const char (&)[kName],
                    const Args& args) noexcept {
  NumberText number;
  CallDetails details;
  details.scope = RecordScope::kUserScope;
  details.args = args_text(args, number);
  details.has_args = true;
  return CallSpan(state, site, details, NoInputs());
}
inline CallSpan user_scope_dyn(std::uint8_t state, SiteData& site,
                               std::string_view name,
                               std::string_view args = {}) noexcept {
  CallDetails details;
  details.scope = RecordScope::kUserScope;
  details.name = name;
  details.args = args;
  details.has_args = !args.empty();
  return CallSpan(state, site, details, NoInputs());
}

}  // namespace internal

// A call in explicit form, from `before` to `end`. Neither copied nor moved:
// calls nest on their thread; async_range.h has what ends elsewhere. One thread
// at a time.
class WEFT_API RecordFunction {
 public:
  explicit RecordFunction(
      RecordScope scope = RecordScope::kFunction) noexcept {
    details_.scope = scope;
  }
  RecordFunction(const RecordFunction&) = delete;
  RecordFunction& operator=(const RecordFunction&) = delete;
  ~RecordFunction() { end(); }

  // Of the next before().
  void set_sequence(SequenceNr sequence) noexcept {
    details_.sequence_nr = sequence.value;
  }
  void set_forward_thread(ThreadIndex thread) noexcept {
    details_.forward_thread = thread;
  }
  void set_debug_handle(std::int64_t handle) noexcept {
    details_.debug_handle = handle;
  }

  // Begins the call; one that has begun is ended first. The name is copied.
  template <class... Inputs>
  void before(std::string_view name, const Inputs&... inputs) noexcept {
    const auto describe = [&](InputWriter& writer) {
      internal::describe_inputs(writer, inputs...);
    };
    begin(name, &internal::describe_with<decltype(describe)>, &describe);
  }

  // Evaluated only when a callback of this call wants outputs.
  template <class... Outputs>
  void set_outputs(const Outputs&... outputs) noexcept {
    const auto describe = [&](InputWriter& writer) {
      internal::describe_inputs(writer, outputs...);
    };
    internal::set_call_outputs({ids_, position_},
                               &internal::describe_with<decltype(describe)>,
                               &describe);
  }

  // Ends the call now. Later calls do nothing.
  void end() noexcept;

  // True while somebody listens to this call.
  bool active() const noexcept { return ids_ != 0; }

 private:
  void begin(std::string_view name,
             void (*describe)(InputWriter&, const void*),
             const void* values) noexcept;

  std::uint64_t ids_ = 0;
  std::uint64_t position_ = 0;
  internal::CallDetails details_;
};

}  // namespace weft

#if !defined(WEFT_DISABLED)

#define WEFT_RECORD_FUNCTION(...) \
  WEFT_RECORD_FUNCTION_WITH_SCOPE(::weft::RecordScope::kFunction, __VA_ARGS__)
#define WEFT_RECORD_FUNCTION_WITH_SCOPE(scope, ...) \
  WEFT_INTERNAL_RECORD(__COUNTER__, scope, __VA_ARGS__)
#define WEFT_RECORD_FUNCTION_DYN(...) \
  WEFT_INTERNAL_RECORD_DYN(__COUNTER__, __VA_ARGS__)
#define WEFT_RECORD_FUNCTION_SEQ(sequence, ...) \
  WEFT_INTERNAL_RECORD_SEQ(__COUNTER__, sequence, __VA_ARGS__)
#define WEFT_RECORD_USER_SCOPE(...) \
  WEFT_INTERNAL_RECORD_USER(__COUNTER__, __VA_ARGS__)
#define WEFT_RECORD_USER_SCOPE_DYN(...) \
  WEFT_INTERNAL_RECORD_USER_DYN(__COUNTER__, __VA_ARGS__)

#define WEFT_INTERNAL_CALL_SITE(number, scope, name)                    \
  static ::weft::internal::Site WEFT_INTERNAL_CONCAT(weft_site_, number)( \
      ::weft::SiteKind::kSpan, "" name, ::weft::category_of(scope),     \
      __FILE__, __LINE__, ::weft::internal::SiteRole::kCall);           \
  const auto WEFT_INTERNAL_CONCAT(weft_state_, number) =                \
      WEFT_INTERNAL_CONCAT(weft_site_, number).wanted()
#define WEFT_INTERNAL_CALL_SPAN(number, make)                              \
  [[maybe_unused]] const ::weft::internal::CallSpan WEFT_INTERNAL_CONCAT( \
      weft_call_, number) = WEFT_INTERNAL_CONCAT(weft_state_, number) != 0 \
                                ? make                                     \
                                : ::weft::internal::CallSpan()
// All but the first, which may have side effects, and one that is none.
#define WEFT_INTERNAL_REST(first, ...) __VA_ARGS__
#define WEFT_INTERNAL_DESCRIBE(...)                                        \
  [&](::weft::InputWriter& weft_inputs) {                                  \
    ::weft::internal::describe_inputs(                                     \
        weft_inputs,                                                       \
        WEFT_INTERNAL_REST(__VA_ARGS__, ::weft::internal::NoInput()));     \
  }

#define WEFT_INTERNAL_RECORD(number, scope, ...)                             \
  WEFT_INTERNAL_CALL_SITE(number, scope, WEFT_INTERNAL_FIRST(__VA_ARGS__));  \
  WEFT_INTERNAL_CALL_SPAN(                                                   \
      number, (::weft::internal::CallSpan(                                   \
                  WEFT_INTERNAL_CONCAT(weft_state_, number),                 \
                  WEFT_INTERNAL_CONCAT(weft_site_, number), scope,           \
                  WEFT_INTERNAL_DESCRIBE(__VA_ARGS__))))
#define WEFT_INTERNAL_RECORD_SEQ(number, sequence, ...)                     \
  WEFT_INTERNAL_CALL_SITE(number, ::weft::RecordScope::kFunction,           \
                          WEFT_INTERNAL_FIRST(__VA_ARGS__));                \
  WEFT_INTERNAL_CALL_SPAN(                                                  \
      number, (::weft::internal::sequenced_call(                            \
                  WEFT_INTERNAL_CONCAT(weft_state_, number),                \
                  WEFT_INTERNAL_CONCAT(weft_site_, number), sequence,       \
                  WEFT_INTERNAL_DESCRIBE(__VA_ARGS__))))
#define WEFT_INTERNAL_RECORD_DYN(number, ...)                               \
  WEFT_INTERNAL_CALL_SITE(number, ::weft::RecordScope::kFunction, "");      \
  WEFT_INTERNAL_CALL_SPAN(                                                  \
      number, (::weft::internal::dynamic_call(                              \
                  WEFT_INTERNAL_CONCAT(weft_state_, number),                \
                  WEFT_INTERNAL_CONCAT(weft_site_, number),                 \
                  WEFT_INTERNAL_FIRST(__VA_ARGS__),                         \
                  WEFT_INTERNAL_DESCRIBE(__VA_ARGS__))))
#define WEFT_INTERNAL_RECORD_USER(number, ...)                        \
  WEFT_INTERNAL_CALL_SITE(number, ::weft::RecordScope::kUserScope,    \
                          WEFT_INTERNAL_FIRST(__VA_ARGS__));          \
  WEFT_INTERNAL_CALL_SPAN(number,                                     \
                          ::weft::internal::user_scope(               \
                              WEFT_INTERNAL_CONCAT(weft_state_, number), \
                              WEFT_INTERNAL_CONCAT(weft_site_, number),  \
                              __VA_ARGS__))
#define WEFT_INTERNAL_RECORD_USER_DYN(number, ...)                    \
  WEFT_INTERNAL_CALL_SITE(number, ::weft::RecordScope::kUserScope, ""); \
  WEFT_INTERNAL_CALL_SPAN(number,                                     \
                          ::weft::internal::user_scope_dyn(           \
                              WEFT_INTERNAL_CONCAT(weft_state_, number), \
                              WEFT_INTERNAL_CONCAT(weft_site_, number),  \
                              __VA_ARGS__))

#else

#define WEFT_RECORD_FUNCTION(...) static_assert(true, "")
#define WEFT_RECORD_FUNCTION_WITH_SCOPE(...) static_assert(true, "")
#define WEFT_RECORD_FUNCTION_DYN(...) static_assert(true, "")
#define WEFT_RECORD_FUNCTION_SEQ(...) static_assert(true, "")
#define WEFT_RECORD_USER_SCOPE(...) static_assert(true, "")
#define WEFT_RECORD_USER_SCOPE_DYN(...) static_assert(true, "")

#endif

#endif  // WEFT_PROFILE_RECORD_FUNCTION_H_
