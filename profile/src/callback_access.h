// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_CALLBACK_ACCESS_H_
#define WEFT_PROFILE_SRC_CALLBACK_ACCESS_H_

#include "weft/profile/record_callback.h"

namespace weft {

// What the profiler reads of a callback that its user built.
struct CallbackAccess {
  static const RecordCallback::Start& start(const RecordCallback& callback) {
    return callback.start_;
  }
  static const RecordCallback::End& end(const RecordCallback& callback) {
    return callback.end_;
  }
  static bool needs_inputs(const RecordCallback& callback) {
    return callback.needs_inputs_;
  }
  static bool needs_outputs(const RecordCallback& callback) {
    return callback.needs_outputs_;
  }
  static bool needs_ids(const RecordCallback& callback) {
    return callback.needs_ids_;
  }
  static double probability(const RecordCallback& callback) {
    return callback.probability_;
  }
  static bool wants(const RecordCallback& callback, RecordScope scope) {
    return (callback.scopes_ >> static_cast<unsigned>(scope) & 1) != 0;
  }
};

}  // namespace weft

#endif  // WEFT_PROFILE_SRC_CALLBACK_ACCESS_H_
