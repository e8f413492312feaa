// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_INIT_CONFIG_H_
#define WEFT_SRC_INIT_CONFIG_H_

#include <functional>
#include <string>
#include <string_view>

#include "category_filter.h"
#include "clock_source.h"
#include "weft/result.h"
#include "weft/session.h"

namespace weft {

// What init accepted. Only finalize() makes one that differs from the defaults,
// so nothing behind it checks again.
struct FinalConfig {
  InitOptions options;
  CategoryFilter filter;
  ClockRequest clock = ClockRequest::kAuto;
  bool quiet = false;
};

// Looks a variable up; null when it is not set.
using Environment = std::function<const char*(const char*)>;

// The process's environment; empty in a process with AT_SECURE.
Environment process_environment();

// Environment over code over default. Errors: kInvalidArgument,
// kInvalidEnvironment; the message names the variable or option, its value and
// the limit.
Result<FinalConfig> finalize(const InitOptions& options,
                             const Environment& environment);

// `pattern` with %p (process id), %e (program's name), %h (host), %t (seconds
// since the epoch) and %% replaced; anything else after % is kept.
std::string expand_path(std::string_view pattern);

}  // namespace weft

#endif  // WEFT_SRC_INIT_CONFIG_H_
