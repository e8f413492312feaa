// SPDX-License-Identifier: Apache-2.0

// The ways around the fast path of spans, and all other kinds of records.
//
//   site known? --no--> copy its texts, give it an id
//   thread known? --no--> enroll it
//   in the middle of a record (signal handler)? --yes--> side channel
//   room? --no--> look what the drainer freed; a larger ring; else refuse, count
//   write, publish

#include <algorithm>

#include "record_draft.h"
#include "runtime.h"
#include "thread_exit.h"
#include "weft/async_span.h"
#include "weft/flow.h"
#include "weft/instant.h"
#include "weft/internal/launch.h"
#include "weft/request.h"
#include "weft/span.h"

namespace weft::internal {

constinit ThreadState no_ring{};

}  // namespace weft::internal

extern "C" {
__thread weft::internal::ThreadState* weft_thread_state WEFT_TLS_MODEL =
    &weft::internal::no_ring;
}

namespace weft {
namespace {

__thread RequestId current_request WEFT_TLS_MODEL = {};

void record_context(const RequestId& id) noexcept;

}  // namespace

namespace internal {
namespace {

// A record that cannot go into a ring of its own. Its position counts side
// records; a span begun there must also end there.
std::uint64_t record_aside(Runtime& runtime, std::uint32_t thread,
                           const Draft& draft) noexcept {
  std::uint32_t each[kMaxArguments + 1];
  const std::uint32_t slots = slots_of(draft, SideChannel::kCellSlots, each);
  std::uint64_t number;
  SideChannel::Cell* cell = runtime.side.claim(&number);
  if (cell == nullptr) {
    runtime.drop(DropReason::kSignalHandler, 1 + draft.promise);
    return 0;
  }
  cell->owner = thread;
  cell->count = slots;
  cell->slots[0] = {head_word(draft.kind,
                              static_cast<std::uint8_t>(draft.flags |
                                                        kFlagSignalHandler),
                              runtime.now()),
                    draft.word1};
  put_values(draft, each, [&](std::uint32_t at, std::uint64_t w0,
                              std::uint64_t w1) { cell->slots[at] = {w0, w1}; });
  runtime.side.publish(cell, number);
  return kSidePosition | number * SideChannel::kCellSlots;
}

// While entered: room for `slots` and `promise`, in this ring or a larger one.
bool find_room(Runtime& runtime, ThreadState& thread, std::uint32_t slots,
               std::uint32_t promise) noexcept {
  ringbuf::RingWriter& writer = thread.writer;
  ThreadRegistry::Place& place = runtime.threads.place(thread.slot);
  const bool fits = writer.refill(slots, promise);
  // Relaxed: a suggestion; the ring itself is handed over by the link.
  const std::uint32_t offer = place.offer.load(std::memory_order_relaxed);
  if (fits && offer == 0) return true;
  const Rung now = runtime.stock.rung_of(writer.capacity());
  Rung next = now;
  if (!fits) {
    if (now == Rung::kTop) return false;
    next = now == Rung::kSmall ? Rung::kMedium : Rung::kTop;
  } else {
    place.offer.store(0, std::memory_order_relaxed);
    next = static_cast<Rung>(offer - 1);
    if (next >= now) return true;
  }
  ringbuf::Segment segment = runtime.stock.take(next);
  if (segment.capacity == 0 && !fits && next == Rung::kMedium)
    segment = runtime.stock.take(Rung::kTop);
  if (segment.capacity == 0) return fits;
  if (!writer.move_to(segment)) {
    runtime.stock.give(segment);
    return fits;
  }
  // The next growth has to wait until the drainer has followed this link. A
  // system call, but never after thread_init(), which takes the top at once.
  if (next > now) runtime.drainer_wakeup.call();
  return writer.refill(slots, promise);
}

// Claims room, telling first of the records that found none before this one.
bool claim_slow(Runtime& runtime, ThreadState& thread, std::uint32_t slots,
                std::uint32_t promise,
                ringbuf::RingWriter::Claim& claim) noexcept {
  ringbuf::RingWriter& writer = thread.writer;
  // A signal handler may take the room before it is claimed: then once more.
  while (!writer.claim(slots, promise, claim)) {
    if (!writer.enter()) return false;
    const ThreadRegistry::Place& place = runtime.threads.place(thread.slot);
    // Relaxed: the drainer reports at stop, when this thread records no more.
    const std::uint64_t told =
        std::max(thread.refused_noted,
                 place.reported.load(std::memory_order_relaxed));
    const std::uint64_t lost = writer.refused() - told;
    const bool room =
        find_room(runtime, thread, slots + (lost != 0 ? 1 : 0), promise);
    if (!room) writer.refuse(1 + promise);  // a refused begin has no end
    writer.leave();
    if (!room) return false;
    if (lost == 0) continue;
    ringbuf::RingWriter::Claim mark;
    if (!writer.claim(1, 0, mark)) continue;
    writer.put(mark, 0,
               head_word(RecordKind::kLoss, runtime.clock_flag(), runtime.now()),
               pair_word(static_cast<std::uint32_t>(DropReason::kRingFull),
                         static_cast<std::uint32_t>(
                             std::min<std::uint64_t>(lost, ~std::uint32_t{0}))));
    thread.refused_noted = told + lost;
    runtime.threads.note_losses(thread.slot, thread.refused_noted);
    writer.publish(mark, 1);
  }
  return true;
}

void put_record(Runtime& runtime, ThreadState& thread,
                const ringbuf::RingWriter::Claim& claim, const Draft& draft,
                const std::uint32_t* each, std::uint32_t slots) noexcept {
  ringbuf::RingWriter& writer = thread.writer;
  const Ticks tick = draft.ordered ? runtime.now_ordered() : runtime.now();
  writer.put(claim, 0,
             head_word(draft.kind,
                       static_cast<std::uint8_t>(draft.flags |
                                                 runtime.clock_flag()),
                       tick),
             draft.word1);
  put_values(draft, each,
             [&](std::uint32_t at, std::uint64_t w0, std::uint64_t w1) {
               writer.put(claim, at, w0, w1);
             });
  writer.publish(claim, slots);
}

// Where a record went: its thread (0: nowhere) and position.
struct Place {
  std::uint32_t thread = 0;
  std::uint64_t position = 0;
};

Place record(Runtime& runtime, const Draft& draft) noexcept {
  const CurrentThread current = current_thread(runtime);
  if (current.state == nullptr && current.index == 0) {
    runtime.drop(current.without, 1 + draft.promise);
    return {};
  }
  if (current.state == nullptr || current.state->writer.busy()) {
    const std::uint64_t position =
        record_aside(runtime, current.index, draft);
    return {position == 0 ? 0 : current.index, position};
  }
  ThreadState& thread = *current.state;
  // What a thread records belongs to its request from its first record on.
  if (current.fresh && draft.kind != RecordKind::kContext &&
      !(current_request == RequestId{}))
    record_context(current_request);
  std::uint32_t each[kMaxArguments + 1];
  const std::uint32_t slots = slots_of(draft, kMaxRecordSlots, each);
  ringbuf::RingWriter::Claim claim;
  if (!claim_slow(runtime, thread, slots, draft.promise, claim)) return {};
  put_record(runtime, thread, claim, draft, each, slots);
  return {thread.index, claim.position};
}

// The runtime to record into, with the site known to it; null when there is
// none, or when the table of sites is full: then `lost` records are counted.
Runtime* runtime_for(SiteData& site, const Argument* values, std::size_t count,
                     std::uint64_t lost = 1) noexcept {
  Runtime* runtime = Runtime::instance();
  if (runtime == nullptr) return nullptr;
  if (runtime->sites.publish(site, values, count)) return runtime;
  runtime->drop(DropReason::kLimit, lost);
  return nullptr;
}

std::uint32_t id_of(const SiteData& site) noexcept {
  return site.number.load(std::memory_order_relaxed);  // set by publish()
}

// The end of a span on a thread that did not begin it, or in a handler that
// interrupts a record. The promised slot goes back to its owner.
void end_elsewhere(Runtime& runtime, OpenSpan span) noexcept {
  const std::uint32_t owner = span.thread() & ~kSlowClock;
  const Argument id("id", async_id(static_cast<ThreadIndex>(owner),
                                   span.position));
  Draft draft;
  draft.kind = RecordKind::kAsyncEnd;
  draft.word1 = pair_word(0, span.site());
  draft.values = &id;
  draft.count = 1;
  runtime.threads.return_promise(owner);
  record(runtime, draft);
}

void add_late(OpenSpan span, RecordKind kind, StringId key,
              const Argument* value) noexcept {
  Runtime* runtime = Runtime::instance();
  if (runtime == nullptr) return;
  const std::uint32_t owner = span.thread() & ~kSlowClock;
  Draft draft;
  draft.kind = kind;
  draft.word1 = pair_word(static_cast<std::uint32_t>(span.position),
                          static_cast<std::uint32_t>(key));
  Argument values[2];
  if (value != nullptr) values[draft.count++] = *value;
  const bool aside = (span.position & kSidePosition) != 0;
  if (!aside && weft_thread_state->index != owner) {
    draft.flags = kFlagForeign;
    values[draft.count++] = Argument(
        "id", async_id(static_cast<ThreadIndex>(owner), span.position));
  }
  draft.values = values;
  if (aside) {
    record_aside(*runtime, owner, draft);
  } else {
    record(*runtime, draft);
  }
}

void record_number(SiteData& site, RecordKind kind, std::uint8_t flags,
                   const Argument& value) noexcept {
  Runtime* runtime = runtime_for(site, &value, 1);
  if (runtime == nullptr) return;
  Draft draft;
  draft.kind = kind;
  draft.flags = flags;
  draft.ordered = kind == RecordKind::kFlowIn;
  draft.word1 = pair_word(0, id_of(site));
  draft.values = &value;
  draft.count = 1;
  record(*runtime, draft);
}

}  // namespace

std::uint64_t begin_span(std::uint64_t* position, SiteData& site, StringId name,
                         const Argument* arguments,
                         std::size_t count) noexcept {
  Runtime* runtime = runtime_for(site, arguments, count, 2);  // and its end
  if (runtime == nullptr) return 0;
  Draft draft;
  draft.kind = RecordKind::kSpanBegin;
  draft.promise = 1;
  draft.sparse = site.role == SiteRole::kCall;
  draft.word1 = pair_word(static_cast<std::uint32_t>(name), id_of(site));
  draft.values = arguments;
  draft.count = count;
  const Place place = record(*runtime, draft);
  if (place.thread == 0) return 0;
  // Such ends must not take the fast path: another clock, or another ring.
  const bool slow = runtime->clock_flag() != 0 ||
                    (place.position & kSidePosition) != 0;
  *position = place.position;
  return pair_word(place.thread | (slow ? kSlowClock : 0), id_of(site));
}

void end_span(OpenSpan span) noexcept {
  Runtime* runtime = Runtime::instance();
  if (runtime == nullptr) return;
  Draft draft;
  draft.kind = RecordKind::kSpanEnd;
  draft.word1 =
      pair_word(static_cast<std::uint32_t>(span.position), span.site());
  const std::uint32_t owner = span.thread() & ~kSlowClock;
  if ((span.position & kSidePosition) != 0) {
    record_aside(*runtime, owner, draft);
    return;
  }
  ThreadState& thread = *weft_thread_state;
  ringbuf::RingWriter::Claim claim;
  if (thread.index != owner || !thread.writer.claim_promised(claim)) {
    end_elsewhere(*runtime, span);
    return;
  }
  put_record(*runtime, thread, claim, draft, nullptr, 1);
}

void add_argument(OpenSpan span, const Argument& argument) noexcept {
  add_late(span, RecordKind::kArgument, intern(argument.key()), &argument);
}

void add_failure(OpenSpan span, std::string_view reason) noexcept {
  add_late(span, RecordKind::kFailure, intern(reason), nullptr);
}

ThreadIndex thread_index() noexcept {
  Runtime* runtime = Runtime::instance();
  if (runtime == nullptr || !runtime->ready.load(std::memory_order_acquire))
    return ThreadIndex::kNone;
  return static_cast<ThreadIndex>(current_thread(*runtime).index);
}

StringId intern(std::string_view text) noexcept {
  Runtime* runtime = Runtime::instance();
  return runtime == nullptr ? StringId::kNone : runtime->strings.intern(text);
}

void record_instant(SiteData& site, StringId name, const Argument* arguments,
                    std::size_t count) noexcept {
  Runtime* runtime = runtime_for(site, arguments, count);
  if (runtime == nullptr) return;
  Draft draft;
  draft.kind = RecordKind::kInstant;
  draft.word1 = pair_word(static_cast<std::uint32_t>(name), id_of(site));
  draft.values = arguments;
  draft.count = count;
  record(*runtime, draft);
}

void record_counter(SiteData& site, const Argument& value) noexcept {
  record_number(site, RecordKind::kCounter, 0, value);
}

void record_step(SiteData& site, std::uint64_t number) noexcept {
  record_number(site, RecordKind::kStep, 0, Argument("step", number));
}

void record_launch(std::uint64_t correlation, std::uint32_t call) noexcept {
  Runtime* runtime = Runtime::instance();
  if (runtime == nullptr || !runtime->recording.load(std::memory_order_relaxed))
    return;
  const Argument whole("correlation", correlation);
  Draft draft;
  draft.kind = RecordKind::kLaunch;
  draft.word1 = pair_word(call, static_cast<std::uint32_t>(correlation));
  draft.values = &whole;
  draft.count = correlation >> 32 == 0 ? 0 : 1;
  record(*runtime, draft);
}

void record_flow_out(SiteData& site, std::uint64_t id) noexcept {
  record_number(site, RecordKind::kFlowOut, 0, Argument("id", id));
}

void record_flow_in(SiteData& site, std::uint64_t id) noexcept {
  record_number(site, RecordKind::kFlowIn, 0, Argument("id", id));
}

void record_flow_out_global(SiteData& site, std::uint64_t id) noexcept {
  record_number(site, RecordKind::kFlowOut, kFlagGlobal, Argument("id", id));
}

void record_flow_in_global(SiteData& site, std::uint64_t id) noexcept {
  record_number(site, RecordKind::kFlowIn, kFlagGlobal, Argument("id", id));
}

std::uint64_t begin_async(SiteData& site, StringId name,
                          const Argument* arguments,
                          std::size_t count) noexcept {
  Runtime* runtime = runtime_for(site, arguments, count);
  if (runtime == nullptr) return 0;
  Draft draft;
  draft.kind = RecordKind::kAsyncBegin;
  draft.sparse = site.role == SiteRole::kCall;
  draft.word1 = pair_word(static_cast<std::uint32_t>(name), id_of(site));
  draft.values = arguments;
  draft.count = count;
  const Place place = record(*runtime, draft);
  if (place.thread == 0) return 0;
  return async_id(static_cast<ThreadIndex>(place.thread), place.position);
}

void end_async(std::uint64_t id, SiteId site) noexcept {
  Runtime* runtime = Runtime::instance();
  if (runtime == nullptr) return;
  const Argument value("id", id);
  Draft draft;
  draft.kind = RecordKind::kAsyncEnd;
  draft.word1 = pair_word(0, static_cast<std::uint32_t>(site));
  draft.values = &value;
  draft.count = 1;
  record(*runtime, draft);
}

}  // namespace internal

namespace {

constinit internal::SiteData dynamic_async_site(SiteKind::kAsyncSpan, "", "",
                                                __FILE__, __LINE__, nullptr);

void record_context(const RequestId& id) noexcept {
  Runtime* runtime = Runtime::instance();
  if (runtime == nullptr || !runtime->recording.load(std::memory_order_relaxed))
    return;
  const Argument values[] = {Argument("low", id.low), Argument("high", id.high)};
  internal::Draft draft;
  draft.kind = RecordKind::kContext;
  draft.count = id == RequestId{} ? 0 : id.high == 0 ? 1 : 2;
  draft.word1 = draft.count;
  draft.values = values;
  internal::record(*runtime, draft);
}

}  // namespace

AsyncSpan::AsyncSpan(std::string_view name) noexcept {
  if (!dynamic_async_site.on()) return;
  begin(dynamic_async_site, internal::intern(name), nullptr, 0);
}

Request::Request(RequestId id) noexcept : previous_(current_request) {
  current_request = id;
  record_context(id);
}

Request::~Request() {
  current_request = previous_;
  record_context(previous_);
}

RequestId Request::current() noexcept { return current_request; }

std::uint64_t next_flow_id() noexcept {
  // A block of ids at a time, so that threads do not share a line for each.
  constexpr std::uint64_t kBlock = 256;
  static std::atomic<std::uint64_t> next_block{1};
  static __thread std::uint64_t next WEFT_TLS_MODEL = 0;
  if (next % kBlock == 0)
    // Relaxed: only uniqueness matters.
    next = next_block.fetch_add(1, std::memory_order_relaxed) * kBlock;
  return next++;
}

}  // namespace weft
