// SPDX-License-Identifier: Apache-2.0
//
// The SPSC ring under the model checker: a producer with records of one and two
// slots that moves between a ring of eight slots and one of four, a consumer,
// and a third thread that returns a promise.

#include "model/scenario.h"
#include "weft/ringbuf/spsc_ring.h"

namespace weft::model {
namespace {

enum class Edge { kNone, kA, kB, kC, kD };

template <Words kWords, Edge kEdge = Edge::kNone,
          Weakening kWeakening = kNothingWeak>
class SpscRingModel
    : public rl::test_suite<SpscRingModel<kWords, kEdge, kWeakening>, 3> {
 public:
  using P = ModelPlatform<kWords>;

  void before() {
    switch (kEdge) {
      case Edge::kA:
        control_.write_pos.weaken(kWeakening);
        break;
      case Edge::kB:
        control_.read_pos.weaken(kWeakening);
        break;
      case Edge::kC:
        control_.link_pos.weaken(kWeakening);
        break;
      case Edge::kD:
        control_.returned.weaken(kWeakening);
        break;
      case Edge::kNone:
        break;
    }
    writer_.attach(&control_, segment(0), 0);
    reader_.attach(&control_, segment(0), 0);
  }

  void thread(unsigned index) {
    if (index == 0) produce();
    if (index == 1) consume();
    if (index == 2) end_elsewhere();
  }

  void after() {
    RL_ASSERT(read_records_ +
                  control_.refused.load(std::memory_order_relaxed) ==
              calls_);
    RL_ASSERT(writer_.promised() == 0);
    RL_ASSERT(reader_.position() == writer_.position());
  }

 private:
  static constexpr std::uint64_t kCapacity[2] = {8, 4};

  ringbuf::BasicSegment<P> segment(std::uint64_t which) {
    return {which == 0 ? slots0_ : slots1_, kCapacity[which], which};
  }

  using Claim = typename ringbuf::BasicRingWriter<P>::Claim;

  // Slow path of every call: as the runtime's, it refills and tries again.
  bool claim(std::uint32_t slots, std::uint32_t promise, Claim& claim) {
    if (writer_.claim(slots, promise, claim)) return true;
    RL_ASSERT(writer_.enter());
    const bool room = writer_.refill(slots, promise);
    writer_.leave();
    return room && writer_.claim(slots, promise, claim);
  }

  void fill_and_publish(const Claim& claim, std::uint32_t slots) {
    const std::uint64_t position = claim.position;
    for (std::uint32_t i = 0; i < slots; ++i)
      writer_.put(claim, i, position + i + 1, slots << 8 | i);
    writer_.publish(claim, slots);
    RL_ASSERT(writer_.position() == position + slots);
  }

  bool record(std::uint32_t slots, std::uint32_t promise) {
    ++calls_;
    Claim under_way;
    if (!claim(slots, promise, under_way)) {
      writer_.refuse();
      return false;
    }
    fill_and_publish(under_way, slots);
    return true;
  }

  void end() {
    ++calls_;
    Claim under_way;
    RL_ASSERT(writer_.claim_promised(under_way));  // an end always finds room
    fill_and_publish(under_way, 1);
  }

  void move() {
    RL_ASSERT(writer_.enter());
    // No link is pending, so the consumer has left the other segment.
    if (writer_.move_to(segment(1 - in_))) in_ = 1 - in_;
    writer_.leave();
  }

  void produce() {
    const bool open = record(1, 1);  // ended by the third thread
    begun_.store(open ? 1 : 2, std::memory_order_release);
    const bool begun = record(1, 1);
    move();  // to the smaller ring, while the limit still has room
    record(2, 0);
    record(1, 0);
    record(1, 0);
    if (begun) end();
    move();
    record(2, 0);
    record(2, 0);
    move();
    record(1, 0);
    record(2, 0);
    while (writer_.promised() != 0) {
      RL_ASSERT(writer_.enter());
      writer_.refill(1, 0);
      writer_.leave();
      rl::yield(1, RL_INFO);
    }
    // [D]: what the third thread did for the span is complete.
    if (open) RL_ASSERT(ended_elsewhere_(RL_INFO).load() == 1);
    done_.store(1, std::memory_order_release);
  }

  void consume() {
    bool last = false;
    while (!last) {
      last = done_.load(std::memory_order_acquire) == 1;
      while (drain_once()) {
      }
      if (!last) rl::yield(1, RL_INFO);
    }
  }

  bool drain_once() {
    const auto slots = reader_.peek();
    std::uint32_t left_of_record = 0;
    for (std::uint32_t i = 0; i < slots.size(); ++i) {
      const auto& slot = i < slots.first_count
                             ? slots.first[i]
                             : slots.second[i - slots.first_count];
      const std::uint64_t position = reader_.position() + i;
      RL_ASSERT(P::load(slot.word0) == position + 1);
      const std::uint64_t word1 = P::load(slot.word1);
      const auto size = static_cast<std::uint32_t>(word1 >> 8);
      const auto index = static_cast<std::uint32_t>(word1 & 0xff);
      if (left_of_record == 0) {
        RL_ASSERT(index == 0);
        left_of_record = size;
        ++read_records_;
      }
      RL_ASSERT(index == size - left_of_record);
      --left_of_record;
    }
    RL_ASSERT(left_of_record == 0);  // only whole records are visible
    if (slots.size() != 0) {
      reader_.release(slots.size());
      return true;
    }
    std::uint64_t offset = 0;
    std::uint64_t capacity = 0;
    if (!reader_.at_link(&offset, &capacity)) return false;
    RL_ASSERT(offset < 2 && capacity == kCapacity[offset]);
    RL_ASSERT(offset != reader_.segment().offset);
    reader_.follow(segment(offset));
    return true;
  }

  void end_elsewhere() {
    std::uint32_t begun = 0;
    while ((begun = begun_.load(std::memory_order_acquire)) == 0)
      rl::yield(1, RL_INFO);
    if (begun != 1) return;
    ended_elsewhere_(RL_INFO).store(1);
    RL_ASSERT(control_.return_promise());
  }

  ringbuf::BasicRingControl<P> control_;
  typename P::Slot slots0_[kCapacity[0]];
  typename P::Slot slots1_[kCapacity[1]];
  ringbuf::BasicRingWriter<P> writer_;
  ringbuf::BasicRingReader<P> reader_;
  std::uint64_t in_ = 0;  // the producer's segment
  std::uint64_t calls_ = 0;
  std::uint64_t read_records_ = 0;
  typename P::template Atomic<std::uint32_t> begun_;
  typename P::template Atomic<std::uint32_t> done_;
  rl::var<std::uint32_t> ended_elsewhere_{0};
};

constexpr rl::iteration_t kToProve = 200000;
constexpr rl::iteration_t kToFail = 1000000;  // stops at the first failure

template <Edge kEdge, Weakening kWeakening>
bool weak_edge_holds() {
  return holds_at_random<SpscRingModel<Words::kPlain, kEdge, kWeakening>>(
      kToFail);
}

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return run_scenario(
      argc, argv,
      {{"HoldsWithAtomicSlots",
        [] { return holds_at_random<SpscRingModel<Words::kAtomic>>(kToProve); },
        true},
       {"HoldsWithPlainSlots",
        [] { return holds_at_random<SpscRingModel<Words::kPlain>>(kToProve); },
        true},
       {"FailsWithoutReleaseA", weak_edge_holds<Edge::kA, kReleaseWeak>, false},
       {"FailsWithoutAcquireA", weak_edge_holds<Edge::kA, kAcquireWeak>, false},
       {"FailsWithoutReleaseB", weak_edge_holds<Edge::kB, kReleaseWeak>, false},
       {"FailsWithoutAcquireB", weak_edge_holds<Edge::kB, kAcquireWeak>, false},
       {"FailsWithoutReleaseC", weak_edge_holds<Edge::kC, kReleaseWeak>, false},
       {"FailsWithoutAcquireC", weak_edge_holds<Edge::kC, kAcquireWeak>, false},
       {"FailsWithoutReleaseD", weak_edge_holds<Edge::kD, kReleaseWeak>, false},
       {"FailsWithoutAcquireD", weak_edge_holds<Edge::kD, kAcquireWeak>,
        false}});
}
