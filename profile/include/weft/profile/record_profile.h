// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_RECORD_PROFILE_H_
#define WEFT_PROFILE_RECORD_PROFILE_H_

// Profiles a block of the calling thread into a trace file, in one line:
//
//   weft::RecordProfile profile("decode.json");
//
// The file is an array of slices, ts and dur in microseconds with a fraction.

#include <iosfwd>
#include <string>

#include "weft/internal/api.h"
#include "weft/profile/profiler.h"
#include "weft/result.h"

namespace weft {

// Stays on its thread.
class WEFT_API RecordProfile {
 public:
  // The file appears when it is complete; ".gz" is compressed.
  explicit RecordProfile(std::string path);
  // `out` must outlive this.
  explicit RecordProfile(std::ostream& out);
  RecordProfile(const RecordProfile&) = delete;
  RecordProfile& operator=(const RecordProfile&) = delete;
  ~RecordProfile();  // finishes; what fails then is not told

  // Stops and writes, once.
  // Errors: those of Profiler::start() and stop(); kIo; kBusy: is finished
  Result<void> finish();

 private:
  Profiler profiler_;
  Result<void> started_;
  std::string path_;
  std::ostream* out_ = nullptr;
  bool finished_ = false;
};

}  // namespace weft

#endif  // WEFT_PROFILE_RECORD_PROFILE_H_
