// SPDX-License-Identifier: Apache-2.0
#include "execution_trace_recorder.h"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include "output_file.h"

namespace weft {
namespace {

constexpr std::uint64_t kSealed = std::uint64_t{1} << 63;
constexpr std::chrono::milliseconds kRest{20};

// A forked child has the callback and not the writer: it notes nothing.
std::atomic<std::uint64_t> forks{0};
[[maybe_unused]] const int fork_handler = pthread_atfork(
    nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });

std::atomic<std::uint64_t> next_serial{1};

std::int64_t steady_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string time_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char text[32] = "";
  if (localtime_r(&now, &parts) != nullptr)
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  return text;
}

}  // namespace

// An open call, as calls inside it see it.
struct ExecutionTraceRecorder::OpenNode {
  std::uint64_t serial;
  std::uint64_t number;
  std::shared_ptr<OpenNode> outer;
  // Relaxed: a call that ended on another thread is passed over sooner or
  // later.
  std::atomic<bool> ended{false};
};

namespace {

// The innermost open call of a thread. A thread that is ending has none: its
// thread-locals go one after the other, and calls may come between.
template <class Node>
struct Innermost {
  std::shared_ptr<Node> node;
  ~Innermost() { gone() = true; }
  static bool& gone() {
    thread_local bool flag = false;
    return flag;
  }
  static Innermost* of_this_thread() {
    if (gone()) return nullptr;
    thread_local Innermost innermost;
    return &innermost;
  }
};

}  // namespace

class ExecutionTraceRecorder::Noted final : public CallbackContext {
 public:
  Noted(std::shared_ptr<ExecutionTraceRecorder> recorder,
        std::shared_ptr<OpenNode> node)
      : recorder_(std::move(recorder)), node_(std::move(node)) {}
  ~Noted() override { end(Ended::kUnfinished, {}); }
  void end(Ended ended, std::string_view outputs) {
    if (node_->ended.exchange(true, std::memory_order_relaxed)) return;
    recorder_->note_end(node_->number, ended, std::string(outputs));
  }
  // Of a begin that nobody will see.
  void forget() { node_->ended.store(true, std::memory_order_relaxed); }

 private:
  const std::shared_ptr<ExecutionTraceRecorder> recorder_;
  const std::shared_ptr<OpenNode> node_;
};

ExecutionTraceRecorder::ExecutionTraceRecorder(std::string path,
                                               std::size_t memory_bytes)
    : path_(std::move(path)),
      memory_bytes_(memory_bytes),
      serial_(next_serial.fetch_add(1, std::memory_order_relaxed)),
      forks_(forks.load(std::memory_order_relaxed)) {}

ExecutionTraceRecorder::~ExecutionTraceRecorder() {
  if (!writer_.joinable()) return;
  if (of_this_process()) {
    (void)finish();
  } else {
    writer_.detach();  // the thread exists in the parent alone
    (void)closing_.release();
  }
}

bool ExecutionTraceRecorder::of_this_process() const noexcept {
  return forks.load(std::memory_order_relaxed) == forks_;
}

Result<void> ExecutionTraceRecorder::open() {
  std::future<bool> opened = opened_.get_future();
  try {
    writer_ = std::thread([this] {
      bool entered = false;
      written_ = profile::write_file(path_, [&](std::ostream& out) {
        entered = true;
        opened_.set_value(true);
        write(out);
      });
      if (!entered) opened_.set_value(false);
    });
  } catch (const std::system_error& refused) {
    return Error{ErrorCode::kThreadFailed, std::string("no thread to write ") +
                                               path_ + ": " + refused.what()};
  }
  if (opened.get()) return {};
  writer_.join();
  return written_;
}

Result<void> ExecutionTraceRecorder::finish() {
  // [S] acq_rel: sees all begins that got in, and is seen by later ones.
  inside_.fetch_or(kSealed, std::memory_order_acq_rel);
  while ((inside_.load(std::memory_order_acquire) & ~kSealed) != 0)  // [S]
    std::this_thread::yield();
  {
    const std::scoped_lock lock(closing_->mutex);
    closing_->wanted = true;
  }
  closing_->changed.notify_one();
  writer_.join();
  return written_;
}

RecordCallback ExecutionTraceRecorder::callback() {
  const std::shared_ptr<ExecutionTraceRecorder> self = shared_from_this();
  return RecordCallback(
             [self](const FunctionCall& call) {
               return self->note_begin(call);
             },
             [](const FunctionCall& call, CallbackContext* context) {
               if (context == nullptr) return;
               static_cast<Noted*>(context)->end(Ended::kFinished,
                                                 call.outputs_text);
             })
      .needs_inputs()
      .needs_outputs()
      .needs_ids();
}

bool ExecutionTraceRecorder::charge(std::size_t bytes) noexcept {
  std::size_t used = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > memory_bytes_ || used > memory_bytes_ - bytes) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes,
                                        std::memory_order_relaxed));
  return true;
}

// A begin from its first line to its last. [S] acq_rel: sees what came before
// the seal it misses, and is seen by the seal that waits for it.
class ExecutionTraceRecorder::Inside {
 public:
  explicit Inside(std::atomic<std::uint64_t>& state) noexcept
      : state_(state),
        sealed_((state.fetch_add(1, std::memory_order_acq_rel) & kSealed) !=
                0) {}
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() { state_.fetch_sub(1, std::memory_order_release); }  // [S]
  bool sealed() const noexcept { return sealed_; }

 private:
  std::atomic<std::uint64_t>& state_;
  const bool sealed_;
};

std::unique_ptr<CallbackContext> ExecutionTraceRecorder::note_begin(
    const FunctionCall& call) {
  if (!of_this_process()) return nullptr;
  // Begin, End, their place in the writer's table, and what is open.
  const std::size_t bytes = 3 * sizeof(Item) + sizeof(OpenNode) + 64 +
                            call.name.size() + call.inputs_text.size();
  const Inside inside(inside_);
  if (inside.sealed()) {
    late_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  if (charge(bytes)) {
    try {
      return note_charged(call, bytes);
    } catch (const std::bad_alloc&) {
      used_.fetch_sub(bytes, std::memory_order_relaxed);
    }
  }
  dropped_.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

std::unique_ptr<CallbackContext> ExecutionTraceRecorder::note_charged(
    const FunctionCall& call, std::size_t bytes) {
  auto* innermost = Innermost<OpenNode>::of_this_thread();
  auto node = std::make_shared<OpenNode>();
  node->serial = serial_;
  node->number = next_number_.fetch_add(1, std::memory_order_relaxed);
  if (innermost != nullptr) {
    std::shared_ptr<OpenNode>& outer = innermost->node;
    while (outer != nullptr && (outer->serial != serial_ ||
                                outer->ended.load(std::memory_order_relaxed)))
      outer = std::shared_ptr<OpenNode>(outer->outer);
    node->outer = outer;
  }
  Item begin;
  begin.number = node->number;
  if (node->outer != nullptr) begin.parent = node->outer->number;
  begin.scope = call.scope;
  begin.handle = call.handle;
  begin.sequence_nr = call.sequence_nr;
  begin.thread = static_cast<std::uint64_t>(call.thread);
  begin.forward_thread = static_cast<std::uint64_t>(call.forward_thread);
  begin.charged = bytes;
  begin.name = call.name;
  begin.inputs = call.inputs_text;
  auto noted = std::make_unique<Noted>(shared_from_this(), node);
  if (!queue_.enqueue(std::move(begin))) {
    noted->forget();
    throw std::bad_alloc();
  }
  if (innermost != nullptr) innermost->node = std::move(node);
  return noted;
}

// An end that comes too late for the file is no loss: the node is in it as
// unfinished.
void ExecutionTraceRecorder::note_end(std::uint64_t number, Ended ended,
                                      std::string outputs) {
  if (!of_this_process()) return;
  Item end;
  end.number = number;
  end.ended = ended;
  if (charge(outputs.size())) {
    end.charged = outputs.size();
    end.outputs = std::move(outputs);
  }
  queue_.enqueue(std::move(end));
}

void ExecutionTraceRecorder::write(std::ostream& out) {
  profile::GraphWriter writer(out);
  ExecutionGraphOptions options;
  options.pid = getpid();
  options.time = time_text();
  options.start_ms = steady_ms();
  writer.begin(options);
  for (bool last = false; !last;) {
    {
      std::unique_lock lock(closing_->mutex);
      closing_->changed.wait_for(lock, kRest, [&] { return closing_->wanted; });
      last = closing_->wanted;
    }
    drain(writer);
  }
  for (auto& [number, begin] : open_) {
    Item end;
    end.number = number;
    end.ended = Ended::kUnfinished;
    write_node(writer, begin, end);
  }
  writer.end(steady_ms());
}

void ExecutionTraceRecorder::drain(profile::GraphWriter& writer) {
  Item item;
  while (queue_.try_dequeue(item)) take(writer, std::move(item));
  cut_lists_.store(writer.cut_lists(), std::memory_order_relaxed);
}

// A call may end on another thread, so its end may be seen first.
void ExecutionTraceRecorder::take(profile::GraphWriter& writer, Item item) {
  auto& others = item.ended == Ended::kNo ? early_ends_ : open_;
  const auto other = others.find(item.number);
  if (other == others.end()) {
    (item.ended == Ended::kNo ? open_ : early_ends_)
        .emplace(item.number, std::move(item));
    return;
  }
  const Item& begin = item.ended == Ended::kNo ? item : other->second;
  const Item& end = item.ended == Ended::kNo ? other->second : item;
  write_node(writer, begin, end);
  others.erase(other);
}

void ExecutionTraceRecorder::write_node(profile::GraphWriter& writer,
                                        const Item& begin, const Item& end) {
  profile::GraphNode node;
  node.number = begin.number;
  node.parent = begin.parent;
  node.name = begin.name;
  node.inputs = parse_inputs(begin.inputs).inputs;
  node.outputs = parse_inputs(end.outputs).inputs;
  node.handle = begin.handle;
  node.sequence_nr = begin.sequence_nr;
  node.scope = begin.scope;
  node.thread = begin.thread;
  node.forward_thread = begin.forward_thread;
  writer.add(node);
  nodes_.fetch_add(1, std::memory_order_relaxed);
  if (end.ended != Ended::kFinished)
    unfinished_.fetch_add(1, std::memory_order_relaxed);
  used_.fetch_sub(begin.charged + end.charged, std::memory_order_relaxed);
}

ExecutionTraceStatistics ExecutionTraceRecorder::statistics() const noexcept {
  ExecutionTraceStatistics all;
  all.nodes = nodes_.load(std::memory_order_relaxed);
  all.unfinished = unfinished_.load(std::memory_order_relaxed);
  all.dropped = dropped_.load(std::memory_order_relaxed);
  all.late = late_.load(std::memory_order_relaxed);
  all.cut_lists = cut_lists_.load(std::memory_order_relaxed);
  return all;
}

}  // namespace weft
