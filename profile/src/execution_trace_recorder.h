// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_EXECUTION_TRACE_RECORDER_H_
#define WEFT_PROFILE_SRC_EXECUTION_TRACE_RECORDER_H_

#include <concurrentqueue/concurrentqueue.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "execution_graph_node.h"
#include "weft/profile/execution_trace_observer.h"
#include "weft/profile/record_callback.h"

namespace weft {

// Between the calls of a program and the file of their graph.
//
//   start of a call --Begin--> queue --> open nodes --(its End)--> file
//   end of a call   --End----> queue --/
//
// The memory of a node is charged at its begin, its end included, so that an
// end never finds the queue full. The writer polls: no call wakes it.
class ExecutionTraceRecorder
    : public std::enable_shared_from_this<ExecutionTraceRecorder> {
 public:
  ExecutionTraceRecorder(std::string path, std::size_t memory_bytes);
  ~ExecutionTraceRecorder();

  const std::string& path() const noexcept { return path_; }
  bool of_this_process() const noexcept;

  // Errors: kIo, kThreadFailed.
  Result<void> open();
  // Writes what is left. Errors: kIo.
  Result<void> finish();
  RecordCallback callback();
  ExecutionTraceStatistics statistics() const noexcept;

 private:
  class Inside;
  class Noted;
  struct OpenNode;
  enum class Ended : std::uint8_t { kNo, kUnfinished, kFinished };
  // A Begin has all but outputs; an End has its number, outputs and `ended`.
  struct Item {
    std::uint64_t number = 0;
    std::uint64_t parent = profile::kRootNode;
    Ended ended = Ended::kNo;
    RecordScope scope = RecordScope::kFunction;
    std::uint64_t handle = 0;
    std::int64_t sequence_nr = -1;
    std::uint64_t thread = 0;
    std::uint64_t forward_thread = 0;
    std::size_t charged = 0;
    std::string name;
    std::string inputs;
    std::string outputs;
  };

  std::unique_ptr<CallbackContext> note_begin(const FunctionCall& call);
  std::unique_ptr<CallbackContext> note_charged(const FunctionCall& call,
                                                std::size_t bytes);
  void note_end(std::uint64_t number, Ended ended, std::string outputs);
  bool charge(std::size_t bytes) noexcept;
  void write(std::ostream& out);
  void drain(profile::GraphWriter& writer);
  void take(profile::GraphWriter& writer, Item item);
  void write_node(profile::GraphWriter& writer, const Item& begin,
                  const Item& end);

  const std::string path_;
  const std::size_t memory_bytes_;
  const std::uint64_t serial_;  // unique in the process
  const std::uint64_t forks_;   // of the process when this was made
  std::thread writer_;
  std::promise<bool> opened_;
  Result<void> written_;  // the writer's; read when it has been joined
  // Of its own, since a forked child must leave it as it is: to destroy what the
  // parent's writer waits for would take for ever.
  struct Closing {
    std::mutex mutex;
    std::condition_variable changed;
    bool wanted = false;
  };
  std::unique_ptr<Closing> closing_ = std::make_unique<Closing>();

  // Relaxed everywhere: sums and numbers that order nothing.
  std::atomic<std::uint64_t> next_number_{profile::kFirstNode};
  std::atomic<std::size_t> used_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> late_{0};
  std::atomic<std::uint64_t> nodes_{0};
  std::atomic<std::uint64_t> unfinished_{0};
  std::atomic<std::uint64_t> cut_lists_{0};
  // Edge [S]: as DeviceInbox's [C]: a begin is in the queue, or sees that the
  // recorder is sealed and is late.
  std::atomic<std::uint64_t> inside_{0};

  moodycamel::ConcurrentQueue<Item> queue_;
  // Writer only.
  std::unordered_map<std::uint64_t, Item> open_;
  std::unordered_map<std::uint64_t, Item> early_ends_;
};

}  // namespace weft

#endif  // WEFT_PROFILE_SRC_EXECUTION_TRACE_RECORDER_H_
