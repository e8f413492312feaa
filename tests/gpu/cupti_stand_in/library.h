// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_GPU_CUPTI_STAND_IN_LIBRARY_H_
#define WEFT_TESTS_GPU_CUPTI_STAND_IN_LIBRARY_H_

// What lies behind the exported functions.

#include <cupti.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <utility>

#include "gpu/cupti_stand_in/records.h"
#include "gpu/cupti_stand_in/stand_in.h"

namespace weft::test {

inline constexpr std::uint32_t kLaunchKernel = 211;
inline constexpr std::uint32_t kDriverLaunchKernel = 307;

// A call of CUPTI's from one of its callbacks is what deadlocks and crashes.
inline thread_local int t_in_callback = 0;
struct InCallback {
  InCallback() { ++t_in_callback; }
  ~InCallback() { --t_in_callback; }
};

class Library final : public CuptiStandIn {
 public:
  void reset() override {
    const std::scoped_lock lock(mutex_);
    if (subscriber_ != nullptr) std::abort();
    version = 130001;
    fails.clear();
    kinds_missing.clear();
    next_correlation = 1;
    nested_shares_number = true;
    keep = 0;
    reverse = null_crashes = false;
    shuffle = 0;
    devices = 2;
    cuda_initialised = true;
    contexts = {0};
    waits.clear();
    null_buffers = 0;
    calls_.clear();
    counts_.clear();
    pending_.clear();
    unfinished_.clear();
    timestamp_ = nullptr;
    dropped_ = 0;
    kinds_.clear();
    callbacks_.clear();
  }

  std::uint32_t launch(const CudaWork& work) override {
    std::uint32_t correlation = work.correlation;
    if (correlation == 0) {
      const std::scoped_lock lock(mutex_);
      correlation = next_correlation++;
    }
    if (work.is_call) call_back_for(work, correlation);
    const std::scoped_lock lock(mutex_);
    if (kinds_.count(work.kind) == 0) return correlation;
    std::uint64_t start = time();
    for (std::uint32_t node = 0; node < work.records; ++node) {
      const auto end = start + static_cast<std::uint64_t>(work.length_ns);
      auto record = work.raw_times ? make_record(work, correlation, node,
                                                 work.start, work.end, version)
                                   : make_record(work, correlation, node, start,
                                                 end, version);
      if (work.unfinished) {
        unfinished_[work.device].push_back(std::move(record));
      } else {
        pending_.push_back(std::move(record));
      }
      start = end;
    }
    if (pending_.size() >= 1000) write_out();
    return correlation;
  }

  void call_back(std::uint32_t correlation) override {
    call_back_for({}, correlation);
  }

  void finish(std::uint32_t device) override {
    const std::scoped_lock lock(mutex_);
    for (auto& record : unfinished_[device])
      pending_.push_back(std::move(record));
    unfinished_.erase(device);
  }

  void put(std::vector<std::uint8_t> record) override {
    const std::scoped_lock lock(mutex_);
    pending_.push_back(std::move(record));
  }

  std::size_t take_buffers(std::size_t count) override {
    std::size_t got = 0;
    CUpti_BuffersCallbackRequestFunc request = nullptr;
    {
      const std::scoped_lock lock(mutex_);
      request = request_;
    }
    for (; count > 0; --count) {
      std::uint8_t* buffer = nullptr;
      std::size_t bytes = 0, most = 0;
      {
        const InCallback in;
        request(&buffer, &bytes, &most);
      }
      if (buffer == nullptr) {
        ++null_buffers;
        continue;
      }
      ++got;
      const std::scoped_lock lock(mutex_);
      kept_.push_back({buffer, bytes, 0});
    }
    return got;
  }

  void fail_fatally() override {
    if (callback_ == nullptr) return;
    CUpti_StateData data{};
    const InCallback in;
    callback_(user_, CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR,
              &data);
  }

  void release_kept(std::size_t but) override {
    std::vector<Buffer> back;
    {
      const std::scoped_lock lock(mutex_);
      const std::size_t count = kept_.size() - std::min(but, kept_.size());
      back.assign(kept_.begin(),
                  kept_.begin() + static_cast<std::ptrdiff_t>(count));
      kept_.erase(kept_.begin(),
                  kept_.begin() + static_cast<std::ptrdiff_t>(count));
    }
    for (const Buffer& buffer : back) give_back(buffer);
  }
  std::size_t kept() const override {
    const std::scoped_lock lock(mutex_);
    return kept_.size();
  }

  int subscribe_other_tool() override {
    const std::scoped_lock lock(mutex_);
    if (subscriber_ != nullptr)
      return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    subscriber_ = &other_tool_;
    return CUPTI_SUCCESS;
  }
  void unsubscribe_other_tool() override {
    const std::scoped_lock lock(mutex_);
    if (subscriber_ == &other_tool_) subscriber_ = nullptr;
  }

  void unsubscribe_all() override { (void)unsubscribe(); }

  bool subscribed() const override {
    const std::scoped_lock lock(mutex_);
    return subscriber_ != nullptr;
  }
  std::size_t kinds_on() const override {
    const std::scoped_lock lock(mutex_);
    return kinds_.size();
  }
  std::size_t callbacks_on() const override {
    const std::scoped_lock lock(mutex_);
    return callbacks_.size();
  }
  std::vector<std::string> calls() const override {
    const std::scoped_lock lock(mutex_);
    return calls_;
  }
  std::size_t calls_of(const std::string& name) const override {
    const std::scoped_lock lock(mutex_);
    const auto found = counts_.find(name);
    return found == counts_.end() ? 0 : found->second;
  }

  // What the exported functions do. The answer that a test has set, or 0.
  int called(const char* name) {
    if (t_in_callback != 0) std::abort();
    ++calls_made;
    const std::scoped_lock lock(mutex_);
    if (calls_.size() < 4096) calls_.emplace_back(name);
    ++counts_[name];
    const auto found = fails.find(name);
    return found == fails.end() ? 0 : found->second;
  }
  int subscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                void* user) {
    const std::scoped_lock lock(mutex_);
    if (subscriber_ != nullptr)
      return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    subscriber_ = &weft_;
    *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&weft_);
    callback_ = callback;
    user_ = user;
    return CUPTI_SUCCESS;
  }
  int unsubscribe() {
    const std::scoped_lock lock(mutex_);
    subscriber_ = nullptr;
    callbacks_.clear();
    return CUPTI_SUCCESS;
  }
  int enable_callback(bool on, std::uint32_t domain, std::uint32_t call) {
    const std::scoped_lock lock(mutex_);
    if (on) {
      callbacks_.insert({domain, call});
    } else {
      callbacks_.erase({domain, call});
    }
    return CUPTI_SUCCESS;
  }
  int set_kind(bool on, std::uint32_t kind) {
    const std::scoped_lock lock(mutex_);
    if (kinds_missing.count(kind) != 0) return CUPTI_ERROR_NOT_SUPPORTED;
    if (on) {
      kinds_.insert(kind);
    } else {
      kinds_.erase(kind);
    }
    return CUPTI_SUCCESS;
  }
  void set_buffers(CUpti_BuffersCallbackRequestFunc request,
                   CUpti_BuffersCallbackCompleteFunc complete) {
    const std::scoped_lock lock(mutex_);
    request_ = request;
    complete_ = complete;
  }
  void set_timestamp(CUpti_TimestampCallbackFunc function) {
    const std::scoped_lock lock(mutex_);
    timestamp_ = function;
  }
  void flush() {
    const std::scoped_lock lock(mutex_);
    write_out();
    finish_buffer();
  }
  std::size_t take_dropped() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(dropped_, 0);
  }
  std::uint64_t now() {
    const std::scoped_lock lock(mutex_);
    return own_time();
  }
  void wait_for(int device) {
    finish(static_cast<std::uint32_t>(device));
    const std::scoped_lock lock(mutex_);
    ++waits[device];
  }

 private:
  struct Buffer {
    std::uint8_t* data = nullptr;
    std::size_t bytes = 0;
    std::size_t valid = 0;
  };

  std::uint64_t own_time() const {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
           static_cast<std::uint64_t>(now.tv_nsec);
  }
  std::uint64_t time() const {
    return timestamp_ != nullptr ? timestamp_() : own_time();
  }

  void call_one(CUpti_CallbackDomain domain, std::uint32_t call,
                CUpti_ApiCallbackSite site, std::uint32_t correlation) {
    CUpti_CallbackFunc callback = nullptr;
    void* user = nullptr;
    {
      const std::scoped_lock lock(mutex_);
      if (callbacks_.count({domain, call}) == 0) return;
      callback = callback_;
      user = user_;
    }
    CUpti_CallbackData data{};
    data.callbackSite = site;
    data.correlationId = correlation;
    const InCallback in;
    callback(user, domain, call, &data);
  }
  void call_back_for(const CudaWork& work, std::uint32_t correlation) {
    const std::uint32_t call =
        work.call != 0
            ? work.call
            : (work.driver_call ? kDriverLaunchKernel : kLaunchKernel);
    const CUpti_CallbackDomain domain = work.driver_call
                                            ? CUPTI_CB_DOMAIN_DRIVER_API
                                            : CUPTI_CB_DOMAIN_RUNTIME_API;
    call_one(domain, call, CUPTI_API_ENTER, correlation);
    if (!work.driver_call) {
      const std::uint32_t nested =
          nested_shares_number ? correlation : correlation + 0x40000000;
      call_one(CUPTI_CB_DOMAIN_DRIVER_API, kDriverLaunchKernel, CUPTI_API_ENTER,
               nested);
      call_one(CUPTI_CB_DOMAIN_DRIVER_API, kDriverLaunchKernel, CUPTI_API_EXIT,
               nested);
    }
    call_one(domain, call, CUPTI_API_EXIT, correlation);
  }

  // Under the lock, like CUPTI's own: whoever called CUPTI from here would
  // hang.
  void write_out() {
    if (reverse) std::reverse(pending_.begin(), pending_.end());
    if (shuffle != 0)
      std::shuffle(pending_.begin(), pending_.end(), std::mt19937(shuffle));
    for (const auto& record : pending_) write(record);
    pending_.clear();
  }
  void write(const std::vector<std::uint8_t>& record) {
    if (buffer_.data != nullptr &&
        buffer_.bytes - buffer_.valid < record.size())
      finish_buffer();
    if (buffer_.data == nullptr) {
      std::size_t most = 0;
      const InCallback in;
      request_(&buffer_.data, &buffer_.bytes, &most);
      buffer_.valid = 0;
    }
    if (buffer_.data == nullptr) {
      ++null_buffers;
      ++dropped_;
      if (null_crashes) std::abort();
      return;
    }
    // Nobody may have touched it, and it must have come cleared.
    if (buffer_.data[buffer_.valid] != 0) std::abort();
    std::memcpy(buffer_.data + buffer_.valid, record.data(), record.size());
    buffer_.valid += record.size();
  }
  void finish_buffer() {
    if (buffer_.data == nullptr) return;
    const Buffer full = std::exchange(buffer_, {});
    if (keep > 0) {
      --keep;
      kept_.push_back(full);
    } else {
      give_back(full);
    }
  }
  void give_back(const Buffer& buffer) {
    const InCallback in;
    complete_(nullptr, 0, buffer.data, buffer.bytes, buffer.valid);
  }

  mutable std::recursive_mutex mutex_;
  int weft_ = 0, other_tool_ = 0;  // for their addresses
  int* subscriber_ = nullptr;
  CUpti_CallbackFunc callback_ = nullptr;
  void* user_ = nullptr;
  CUpti_BuffersCallbackRequestFunc request_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete_ = nullptr;
  CUpti_TimestampCallbackFunc timestamp_ = nullptr;
  std::set<std::pair<std::uint32_t, std::uint32_t>> callbacks_;
  std::set<std::uint32_t> kinds_;
  std::vector<std::string> calls_;  // the first 4096
  std::map<std::string, std::size_t> counts_;
  std::vector<std::vector<std::uint8_t>> pending_;
  std::map<std::uint32_t, std::vector<std::vector<std::uint8_t>>> unfinished_;
  std::vector<Buffer> kept_;
  Buffer buffer_;
  std::size_t dropped_ = 0;
};

// The one of this process.
Library& library();

}  // namespace weft::test

#endif  // WEFT_TESTS_GPU_CUPTI_STAND_IN_LIBRARY_H_
