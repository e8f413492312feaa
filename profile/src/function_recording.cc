// SPDX-License-Identifier: Apache-2.0

// Calls that take the path out of line: observed ones, and those whose record
// has more than a site.
//
//   who wants what? -> inputs -> start callbacks -> begin record
//                                                        ... the call ...
//                                  end callbacks <- end record
//
// Records lie closest to the call, so that what observers cost is in the time
// of the caller and not of the call.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>

#include "call_observers.h"
#include "call_stack.h"
#include "firing_callbacks.h"
#include "weft/internal/packed_text.h"
#include "weft/profile/record_function.h"

namespace weft {
namespace internal {
namespace {

using profile::CallWants;
using profile::FiringCallbacks;
using profile::ThreadObservers;

// Ids of a call with callbacks: no thread has this number, so that its end
// takes the slow path; the position is then the address of its OpenCall.
constexpr std::uint64_t kCallbackIds = ~std::uint64_t{0};

// A call whose end callbacks have to run.
struct OpenCall {
  FiringCallbacks callbacks;
  FunctionCall call;
  std::string name;
  std::string args;
  std::string inputs;
  std::string outputs;
  OpenSpan span;
};

thread_local std::int64_t backward_sequence = -1;
thread_local ThreadIndex backward_thread = ThreadIndex::kNone;
thread_local std::int64_t next_sequence = 0;

std::atomic<std::uint64_t> next_handle{1};

// What the caller's own code throws while it says what its inputs are.
void describe(const CallDetails& details, std::optional<InputWriter>& inputs) {
  try {
    inputs.emplace();
    if (details.describe != nullptr) details.describe(*inputs, details.values);
  } catch (...) {
    inputs.emplace();
    inputs->other();
  }
}

class CallRecord {
 public:
  template <std::size_t kKey, class T>
  void set(CallArgument which, const char (&key)[kKey], const T& value) {
    const auto place = static_cast<std::size_t>(which);
    values_[place] = Argument(key, value);
    count_ = std::max(count_, place + 1);
  }
  // Packed, if that makes it shorter.
  void set_inputs(std::string_view text) {
    const std::size_t size =
        pack_text(text, packed_.data(), packed_.size());
    set(CallArgument::kInputs, "inputs", text);
    if (size != 0)
      values_[static_cast<std::size_t>(CallArgument::kInputs)] =
          Argument::packed("inputs",
                           {reinterpret_cast<const char*>(packed_.data()), size});
  }
  const Argument* values() const { return values_.data(); }
  std::size_t count() const { return count_; }

 private:
  std::array<Argument, kCallArguments> values_;
  std::size_t count_ = 0;
  std::array<std::uint8_t, InputWriter::kMaxBytes> packed_;
};

std::uint64_t begin_record(std::uint64_t* position, SiteData& site,
                           const CallDetails& details,
                           const std::optional<InputWriter>& inputs,
                           std::uint64_t handle,
                           const profile::WalkStart* stack) noexcept {
  CallRecord record;
  if (inputs) record.set_inputs(inputs->text());
  if (details.sequence_nr >= 0)
    record.set(CallArgument::kSequence, "seq", details.sequence_nr);
  if (details.forward_thread != ThreadIndex::kNone)
    record.set(CallArgument::kForwardThread, "fwd_thread",
               static_cast<std::uint64_t>(details.forward_thread));
  if (stack != nullptr && details.scope != RecordScope::kBackwardFunction)
    record.set(CallArgument::kStack, "stack", profile::call_stack(*stack));
  if (handle != 0) record.set(CallArgument::kHandle, "handle", handle);
  if (details.has_args) record.set(CallArgument::kArgs, "args", details.args);
  if (details.debug_handle >= 0)
    record.set(CallArgument::kDebugHandle, "debug_handle",
               details.debug_handle);
  const StringId name =
      details.name.empty() ? StringId::kNone : intern(details.name);
  return begin_span(position, site, name, record.values(), record.count());
}

// Null when there is no memory for it.
OpenCall* open_call(FiringCallbacks&& callbacks, const SiteData& site,
                    const CallDetails& details,
                    const std::optional<InputWriter>& inputs,
                    std::uint64_t handle) noexcept try {
  auto open = std::make_unique<OpenCall>();
  open->callbacks = std::move(callbacks);
  open->name = details.name.empty() ? std::string_view(site.name)
                                    : details.name;
  open->args = details.args;
  if (inputs) open->inputs = inputs->text();
  FunctionCall& call = open->call;
  call.name = open->name;
  call.scope = details.scope;
  call.handle = handle;
  call.sequence_nr = details.sequence_nr;
  call.thread = thread_index();
  call.forward_thread = details.forward_thread;
  call.args = open->args;
  call.has_inputs = inputs.has_value();
  call.num_inputs = inputs ? inputs->count() : 0;
  call.inputs_text = open->inputs;
  open->callbacks.run_starts(call);
  return open.release();
} catch (...) {
  return nullptr;
}

FiringCallbacks draw(ThreadObservers* thread, RecordScope scope) noexcept
    try {
  return thread == nullptr ? FiringCallbacks()
                           : FiringCallbacks(*thread, scope);
} catch (...) {
  return {};
}

}  // namespace

// Not inlined: stacks begin above it.
__attribute__((noinline)) std::uint64_t begin_call(
    std::uint64_t* position, std::uint8_t state, SiteData& site,
    const CallDetails& caller) noexcept {
  const profile::WalkStart stack = profile::walk_start();
  CallDetails details = caller;
  if (details.scope == RecordScope::kBackwardFunction &&
      details.sequence_nr < 0) {
    details.sequence_nr = backward_sequence;
    details.forward_thread = backward_thread;
  }
  ThreadObservers* thread = (state & kSiteObserved) != 0
                                      ? profile::thread_observers()
                                      : nullptr;
  const CallWants wants = thread == nullptr ? CallWants()
                                            : profile::wants_of(*thread);
  FiringCallbacks callbacks = draw(thread, details.scope);
  std::optional<InputWriter> inputs;
  if (wants.inputs || callbacks.need_inputs()) describe(details, inputs);
  // Relaxed: a number of its own.
  const std::uint64_t handle =
      callbacks.need_ids()
          ? next_handle.fetch_add(1, std::memory_order_relaxed)
          : 0;
  OpenCall* open = callbacks.empty() ? nullptr
                                     : open_call(std::move(callbacks), site,
                                                 details, inputs, handle);
  OpenSpan span;
  if ((state & (kSiteFast | kSiteSlow)) != 0) {
    // Only for callbacks: no record has them.
    if (!wants.inputs) inputs.reset();
    if (wants.stacks) profile::know_this_stack();
    span.ids = begin_record(&span.position, site, details, inputs, handle,
                            wants.stacks ? &stack : nullptr);
  }
  if (open == nullptr) {
    *position = span.position;
    return span.ids;
  }
  open->span = span;
  *position = reinterpret_cast<std::uintptr_t>(open);
  return kCallbackIds;
}

void end_call(OpenSpan span) noexcept {
  if (span.ids != kCallbackIds) {
    end_span(span);
    return;
  }
  const std::unique_ptr<OpenCall> open(
      reinterpret_cast<OpenCall*>(span.position));
  if (open->span.recorded()) end_span(open->span);
  open->callbacks.run_ends(open->call);
}

void set_call_outputs(OpenSpan span,
                      void (*describe_outputs)(InputWriter&, const void*),
                      const void* values) noexcept try {
  if (span.ids != kCallbackIds) return;
  auto* open = reinterpret_cast<OpenCall*>(span.position);
  if (!open->callbacks.need_outputs()) return;
  InputWriter outputs;
  describe_outputs(outputs, values);
  open->outputs = outputs.text();
  open->call.outputs_text = open->outputs;
  open->call.num_outputs = outputs.count();
} catch (...) {
  // The caller's own code: its outputs are not known then.
}

SiteData& site_of(RecordScope scope) noexcept {
  static constinit Site sites[kRecordScopes] = {
#define WEFT_SCOPE_SITE(scope)                                          \
  Site(SiteKind::kSpan, "", category_of(RecordScope::scope), __FILE__, \
       __LINE__, SiteRole::kCall)
      WEFT_SCOPE_SITE(kFunction),
      WEFT_SCOPE_SITE(kBackwardFunction),
      WEFT_SCOPE_SITE(kTorchscriptFunction),
      WEFT_SCOPE_SITE(kKernelFunctionDtype),
      WEFT_SCOPE_SITE(kCustomClass),
      WEFT_SCOPE_SITE(kBuildFeature),
      WEFT_SCOPE_SITE(kLiteInterpreter),
      WEFT_SCOPE_SITE(kUserScope),
      WEFT_SCOPE_SITE(kStaticRuntimeOp),
      WEFT_SCOPE_SITE(kStaticRuntimeModel),
#undef WEFT_SCOPE_SITE
  };
  const auto number = static_cast<std::size_t>(scope);
  return sites[number < kRecordScopes ? number : 0];
}

}  // namespace internal

void RecordFunction::begin(std::string_view name,
                           void (*describe)(InputWriter&, const void*),
                           const void* values) noexcept {
  end();
  internal::SiteData& site = internal::site_of(details_.scope);
  const std::uint8_t state = site.wanted();
  if (state == internal::kSiteOff) return;
  internal::CallDetails details = details_;
  details.name = name;
  details.describe = describe;
  details.values = values;
  ids_ = internal::begin_call(&position_, state, site, details);
}

void RecordFunction::end() noexcept {
  if (ids_ != 0) internal::end_call({ids_, position_});
  ids_ = 0;
}

SequenceNr next_sequence_nr() noexcept {
  return SequenceNr(internal::next_sequence++);
}

ThreadIndex this_thread_index() noexcept { return internal::thread_index(); }

BackwardScope::BackwardScope(SequenceNr sequence,
                             ThreadIndex forward_thread) noexcept
    : previous_sequence_(internal::backward_sequence),
      previous_thread_(internal::backward_thread) {
  internal::backward_sequence = sequence.value;
  internal::backward_thread = forward_thread;
}

BackwardScope::~BackwardScope() {
  internal::backward_sequence = previous_sequence_;
  internal::backward_thread = previous_thread_;
}

}  // namespace weft
