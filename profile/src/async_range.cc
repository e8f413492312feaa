// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/async_range.h"

#include <array>
#include <cstddef>

#include "weft/async_span.h"
#include "weft/call_record.h"
#include "weft/span.h"

namespace weft {

struct AsyncRange::State {
  // 0: ended, or never begun. Relaxed: who exchanges it ends the range; the
  // record has its order from the ring it goes to.
  std::atomic<std::uint64_t> span{0};
  std::atomic<bool> end_taken{false};
  SiteId site = SiteId::kNone;  // constant once the range is handed out
};

namespace {

internal::SiteData& site_of(RecordScope scope) noexcept {
  using internal::Site;
  using internal::SiteRole;
#define WEFT_ASYNC_SITE(scope)                                               \
  Site(SiteKind::kAsyncSpan, "", category_of(RecordScope::scope), __FILE__, \
       __LINE__, SiteRole::kCall)
  static constinit Site sites[kRecordScopes] = {
      WEFT_ASYNC_SITE(kFunction),
      WEFT_ASYNC_SITE(kBackwardFunction),
      WEFT_ASYNC_SITE(kTorchscriptFunction),
      WEFT_ASYNC_SITE(kKernelFunctionDtype),
      WEFT_ASYNC_SITE(kCustomClass),
      WEFT_ASYNC_SITE(kBuildFeature),
      WEFT_ASYNC_SITE(kLiteInterpreter),
      WEFT_ASYNC_SITE(kUserScope),
      WEFT_ASYNC_SITE(kStaticRuntimeOp),
      WEFT_ASYNC_SITE(kStaticRuntimeModel),
  };
#undef WEFT_ASYNC_SITE
  const auto number = static_cast<std::size_t>(scope);
  return sites[number < kRecordScopes ? number : 0];
}

}  // namespace

AsyncRange record_async(std::string_view name, std::string_view args,
                        RecordScope scope) noexcept try {
  internal::SiteData& site = site_of(scope);
  const std::uint8_t state = site.wanted();
  if ((state & (internal::kSiteFast | internal::kSiteSlow)) == 0) return {};
  AsyncRange range;
  range.state_ = std::make_shared<AsyncRange::State>();
  std::array<Argument, kCallArguments> values;
  constexpr auto kArgs = static_cast<std::size_t>(CallArgument::kArgs);
  if (!args.empty()) values[kArgs] = Argument("args", args);
  range.state_->span.store(
      internal::begin_async(site, internal::intern(name), values.data(),
                            args.empty() ? 0 : kArgs + 1),
      std::memory_order_relaxed);
  range.state_->site =
      static_cast<SiteId>(site.number.load(std::memory_order_relaxed));
  return range;
} catch (...) {
  return {};  // no memory for a handle
}

void AsyncRange::end() noexcept {
  if (state_ == nullptr) return;
  const std::uint64_t span =
      state_->span.exchange(0, std::memory_order_relaxed);
  if (span != 0) internal::end_async(span, state_->site);
}

bool AsyncRange::take_end() noexcept {
  return state_ != nullptr &&
         !state_->end_taken.exchange(true, std::memory_order_relaxed);
}

Result<std::function<void()>> AsyncRange::on_end() {
  if (state_ != nullptr && !take_end())
    return Error{ErrorCode::kBusy,
                 "the end of this range was handed to a future before"};
  return std::function<void()>([range = *this]() mutable { range.end(); });
}

bool AsyncRange::end_on_used() const noexcept {
  return state_ != nullptr &&
         state_->end_taken.load(std::memory_order_relaxed);
}

AsyncRange::operator bool() const noexcept {
  return state_ != nullptr &&
         state_->span.load(std::memory_order_relaxed) != 0;
}

}  // namespace weft
