// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_GPU_CUPTI_STAND_IN_STAND_IN_H_
#define WEFT_TESTS_GPU_CUPTI_STAND_IN_STAND_IN_H_

// A library that looks like libcupti and libcuda to whoever opens it, and does
// what a test tells it. It fills the structs of the vendor's own headers.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace weft::test {

// A call of CUDA, and what the device does for it.
struct CudaWork {
  std::uint32_t kind = 10;  // of record, CUPTI's number
  const char* name = "_Z6kernelPf";
  std::uint32_t device = 0, context = 1, stream = 7;
  std::uint32_t graph = 0;
  std::uint32_t records = 1;  // nodes of the graph
  std::uint64_t bytes = 0;
  // The call: of the runtime, which makes one of the driver, or of the driver.
  bool driver_call = false;
  std::uint32_t call = 0;         // 0: the plain launch of a kernel
  bool is_call = true;            // false: nobody called, as before an attach
  std::uint32_t correlation = 0;  // 0: the next one
  std::int64_t length_ns = 1000;
  bool raw_times = false;  // the two below are what the record says
  std::uint64_t start = 0, end = 0;
  bool unfinished = false;  // until finish() or a wait for the device
};

class CuptiStandIn {
 public:
  virtual ~CuptiStandIn() = default;
  // As new. Nobody may be subscribed or hold buffers.
  virtual void reset() = 0;

  // On the thread that calls CUDA. Returns the correlation.
  virtual std::uint32_t launch(const CudaWork& work) = 0;
  std::uint32_t launch() { return launch({}); }
  // Only what a thread sees of it: the callbacks of one call.
  virtual void call_back(std::uint32_t correlation) = 0;
  virtual void finish(std::uint32_t device) = 0;
  // Bytes as they are, as the next record.
  virtual void put(std::vector<std::uint8_t> record) = 0;
  // Asks for buffers and keeps them; how many it got.
  virtual std::size_t take_buffers(std::size_t count) = 0;
  virtual void fail_fatally() = 0;
  // Gives back what was kept, all but the newest `but`.
  virtual void release_kept(std::size_t but = 0) = 0;
  virtual std::size_t kept() const = 0;

  // Another tool of the same process.
  virtual int subscribe_other_tool() = 0;
  virtual void unsubscribe_other_tool() = 0;
  // As the end of the process does when a tool has left it undone.
  virtual void unsubscribe_all() = 0;

  virtual bool subscribed() const = 0;
  virtual std::size_t kinds_on() const = 0;
  virtual std::size_t callbacks_on() const = 0;        // of calls
  virtual std::vector<std::string> calls() const = 0;  // the first, in order
  virtual std::size_t calls_of(const std::string& name) const = 0;

  // Set before anything runs.
  std::uint32_t version = 130001;
  std::map<std::string, int> fails;  // what a function answers, by name
  std::set<std::uint32_t> kinds_missing;
  std::uint32_t next_correlation = 1;
  bool nested_shares_number = true;
  std::size_t keep = 0;  // so many of the next full buffers are not returned
  bool reverse = false;  // the newest record first
  std::uint32_t shuffle = 0;  // 0: not; else the seed
  bool null_crashes = false;  // aborts when no buffer is given

  // The driver.
  int devices = 2;
  bool cuda_initialised = true;
  std::set<int> contexts = {0};
  std::map<int, int> waits;  // by device

  std::atomic<std::uint64_t> null_buffers{0};
  std::atomic<std::uint64_t> calls_made{0};  // readable after a fork
};

// What the library exports.
inline constexpr const char* kStandInSymbol = "weft_cupti_stand_in";
using StandInEntry = CuptiStandIn* (*)();

}  // namespace weft::test

#endif  // WEFT_TESTS_GPU_CUPTI_STAND_IN_STAND_IN_H_
