// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_RESULT_H_
#define WEFT_RESULT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace weft {

// Why a control call failed. Numbers are never reused or changed: they end up
// in logs and in other programs.
enum class ErrorCode : std::uint16_t {
  kInvalidArgument = 1,   // a value given in code is outside its limits
  kInvalidEnvironment = 2,  // a WEFT_* variable is outside its limits
  kBusy = 3,              // what was asked for is already running
  kNotRunning = 4,        // what was to be stopped is not running
  kOutOfMemory = 5,
  kThreadFailed = 6,      // a thread of weft's could not be started
  kIo = 7,                // the operating system refused a file operation
  kNoExporter = 8,        // the program is not linked with the format's writer
  kCorrupt = 9,           // the bytes read are not what they claim to be
  kUnsupported = 10,      // newer version, other platform, missing feature
  kTimeout = 11,
  kLimit = 12,            // a configured bound was reached
  kNotFinished = 13,      // a result is asked for while it is being recorded
  kNotRecorded = 14,      // the session was not told to record that
  kUnavailable = 15,      // a device or its driver is not there
};

// A failure in words for a person: names the value and the limit.
struct Error {
  ErrorCode code = ErrorCode::kInvalidArgument;
  std::string message;
};

// Either a value or an Error. Reading the side that is not there is a caller's
// mistake and ends in std::bad_variant_access, or abort without exceptions.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

// A Result without a value. Discardable, unlike the others: a service that
// cannot be traced must still run, so nobody is forced to look.
template <>
class Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), ok_(false) {}

  bool ok() const noexcept { return ok_; }
  explicit operator bool() const noexcept { return ok_; }
  const Error& error() const noexcept { return error_; }

 private:
  Error error_;
  bool ok_ = true;
};

}  // namespace weft

#endif  // WEFT_RESULT_H_
