// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_GPU_CUPTI_COLLECTOR_H_
#define WEFT_GPU_CUPTI_COLLECTOR_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "cupti/library.h"
#include "cupti/record_reader.h"
#include "weft/gpu/device_source.h"

namespace weft::cupti {

// The thread that may wait for CUPTI: it has it flush, reads full buffers,
// hands over what was in them, keeps buffers in stock and compares clocks.
//
// CUPTI is flushed four times a second while it holds buffers; clocks are
// compared ten times a second.
class Collector {
 public:
  struct Plan {
    Libraries libraries;
    bool stamps_are_ours = false;
    std::size_t most_buffers = 0;
    std::uint32_t run = 0;
    std::shared_ptr<DeviceSink> sink;
  };

  explicit Collector(Plan plan);
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;
  ~Collector() { join(); }

  // Throws std::system_error when there is no thread to be had.
  void start();
  // Returns when a flush that began after the call is over and its buffers are
  // read. Thread-safe.
  void flush();
  // After this the calls below are the caller's.
  void join();
  // Takes out of CUPTI all that it has, and waits half a second at most for
  // buffers that it keeps.
  void take_the_rest();

 private:
  void run();
  // One flush, and what it brings.
  void round(std::uint32_t flags);
  void read_full_buffers();
  void compare_clocks();
  void report_losses();

  const Plan plan_;
  RecordReader reader_;
  RecordReader::Counts reported_;
  std::uint64_t strange_reported_;
  std::vector<DeviceActivity> activities_;

  std::mutex mutex_;  // of the three below; never held across a vendor's call
  std::condition_variable changed_;
  bool stopping_ = false;
  std::uint64_t asked_ = 0;
  std::uint64_t done_ = 0;
  std::thread thread_;
};

// Hands over what came back of runs that are over: their sinks count it as
// late. Thread-safe. Cold.
void collect_late(const CuptiCalls& calls);

}  // namespace weft::cupti

#endif  // WEFT_GPU_CUPTI_COLLECTOR_H_
