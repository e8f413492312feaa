// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/emit_markers.h"

#include <atomic>
#include <string>
#include <thread>
#include <utility>

#include "call_observers.h"
#include "marker_label.h"
#include "marker_library.h"
#include "session_coverage.h"
#include "weft/profile/record_callback.h"

namespace weft {
namespace {

using profile::MarkerLibrary;
using profile::SharedSession;

// Relaxed throughout: counts of their own, and a switch.
struct Emission {
  std::atomic<bool> emitting{true};
  std::atomic<std::uint64_t> begun{0};
  std::atomic<std::uint64_t> ended{0};
  std::atomic<std::uint64_t> not_ended{0};
};

// A range that is open. It ends with the call, whoever removed the callback
// meanwhile.
class OpenRange : public CallbackContext {
 public:
  OpenRange(const MarkerLibrary& library, std::shared_ptr<Emission> emission,
            const std::string& label)
      : library_(library), emission_(std::move(emission)) {
    library_.begin(label);
    emission_->begun.fetch_add(1, std::memory_order_relaxed);
  }
  ~OpenRange() override {
    const bool here = std::this_thread::get_id() == thread_;
    if (here) library_.end();
    (here ? emission_->ended : emission_->not_ended)
        .fetch_add(1, std::memory_order_relaxed);
  }

 private:
  const MarkerLibrary& library_;
  std::shared_ptr<Emission> emission_;
  std::thread::id thread_ = std::this_thread::get_id();
};

// The option that markers cannot honour; null if there is none.
const char* unsupported_option(const MarkerOptions& options) {
  return options.profile_memory ? "profile_memory"
         : options.with_stack   ? "with_stack"
         : options.with_flops   ? "with_flops"
         : options.with_modules ? "with_modules"
                                : nullptr;
}

}  // namespace

struct MarkerEmission::State {
  State(const MarkerLibrary& the_library, MarkerOptions the_options)
      : library(the_library), options(std::move(the_options)) {}

  RecordCallback callback() const {
    RecordCallback made([library = &library, emission = emission,
                         scopes = options.scopes,
                         shapes = options.record_shapes](
                            const FunctionCall& call)
                            -> std::unique_ptr<CallbackContext> {
      if (!emission->emitting.load(std::memory_order_relaxed) ||
          (!scopes.empty() && scopes.count(call.scope) == 0))
        return nullptr;
      return std::make_unique<OpenRange>(
          *library, emission, profile::marker_label(call, shapes));
    });
    if (options.record_shapes) made.needs_inputs();
    return made;
  }

  const MarkerLibrary& library;
  MarkerOptions options;
  bool running = false;
  bool attached = false;
  CallbackHandle handle = CallbackHandle::kNone;
  std::shared_ptr<SharedSession> session;
  std::shared_ptr<Emission> emission;
};

MarkerEmission::MarkerEmission(std::unique_ptr<State> state)
    : state_(std::move(state)) {}

MarkerEmission::~MarkerEmission() {
  if (state_->running) (void)stop();
}

Result<void> MarkerEmission::start() {
  State& s = *state_;
  const auto refuse = [&](ErrorCode code, const std::string& why) {
    return Error{code, std::string(s.library.name) + " markers: " + why};
  };
  if (s.running) return refuse(ErrorCode::kBusy, "are emitted already");
  if (!s.options.enabled) {
    s.running = true;
    return {};
  }
  if (const char* option = unsupported_option(s.options))
    return refuse(ErrorCode::kUnsupported,
                  std::string(option) + " cannot be honoured");
  if (s.library.why_missing != nullptr)
    return refuse(ErrorCode::kUnsupported, s.library.why_missing);
  if (s.options.synchronize) s.options.synchronize();
  auto session = std::make_shared<SharedSession>();
  session->number = profile::next_session_number();
  session->coverage = s.options.coverage;
  if (auto claimed = profile::claim_coverage(session); !claimed.ok())
    return refuse(claimed.error().code, claimed.error().message);
  s.emission = std::make_shared<Emission>();
  s.attached = s.library.attached();
  if (s.attached) {
    const auto added = s.options.coverage == ThreadCoverage::kAllThreads
                           ? add_global_callback(s.callback())
                           : add_thread_local_callback(s.callback());
    if (!added.ok()) {
      profile::give_up_coverage(*session);
      return added.error();
    }
    s.handle = *added;
  }
  s.session = std::move(session);
  s.running = true;
  return {};
}

Result<void> MarkerEmission::stop() {
  State& s = *state_;
  if (!s.running)
    return Error{ErrorCode::kNotRunning,
                 std::string(s.library.name) + " markers: are not emitted"};
  s.running = false;
  if (s.session == nullptr) return {};
  if (s.options.synchronize) s.options.synchronize();
  s.emission->emitting.store(false, std::memory_order_relaxed);
  if (s.handle != CallbackHandle::kNone) remove_callback(s.handle);
  s.handle = CallbackHandle::kNone;
  profile::give_up_coverage(*s.session);
  s.session = nullptr;
  return {};
}

bool MarkerEmission::running() const noexcept { return state_->running; }

MarkerStatistics MarkerEmission::statistics() const noexcept {
  if (state_->emission == nullptr) return {};
  const Emission& emission = *state_->emission;
  return {state_->attached, emission.begun.load(std::memory_order_relaxed),
          emission.ended.load(std::memory_order_relaxed),
          emission.not_ended.load(std::memory_order_relaxed)};
}

EmitNvtx::EmitNvtx(MarkerOptions options)
    : MarkerEmission(std::make_unique<State>(profile::nvtx_library(),
                                             std::move(options))) {}
bool EmitNvtx::available() noexcept {
  return profile::nvtx_library().why_missing == nullptr;
}

EmitItt::EmitItt(MarkerOptions options)
    : MarkerEmission(std::make_unique<State>(profile::itt_library(),
                                             std::move(options))) {}
bool EmitItt::available() noexcept {
  return profile::itt_library().why_missing == nullptr;
}

}  // namespace weft
