// SPDX-License-Identifier: Apache-2.0
//
// The overwriting ring under the model checker: a writer laps a ring of four
// slots while a reader takes snapshots of it.

#include "model/scenario.h"
#include "weft/ringbuf/overwrite_ring.h"

namespace weft::model {
namespace {

enum class Edge { kNone, kA, kE };

// `kMargin` is what a snapshot takes for the longest record; the longest that
// is written has two slots.
template <Edge kEdge = Edge::kNone, Weakening kWeakening = kNothingWeak,
          std::uint32_t kMargin = 2>
class OverwriteRingModel
    : public rl::test_suite<OverwriteRingModel<kEdge, kWeakening, kMargin>, 2> {
 public:
  using P = ModelPlatform<Words::kAtomic, kMargin>;

  void before() {
    if (kEdge == Edge::kA) control_.write_pos.weaken(kWeakening);
    if (kEdge == Edge::kE) {
      for (auto& slot : slots_) {
        slot.word0.weaken(kWeakening);
        slot.word1.weaken(kWeakening);
      }
    }
    writer_.attach(&control_, segment(), 0);
    writer_.set_overwrite();
  }

  void thread(unsigned index) {
    if (index == 0) {
      for (const std::uint32_t slots : {2u, 1u, 2u, 2u, 1u, 2u}) record(slots);
    } else {
      // Until the writer has lapped: a snapshot of an unlapped ring proves
      // nothing. Every other one asks only for what is new.
      std::uint64_t end = 0;
      for (int i = 0; end < kLastSnapshotFrom; ++i) {
        end = check_snapshot(i % 2 == 0 ? 0 : end);
        rl::yield(1, RL_INFO);
      }
    }
  }

  void after() {
    RL_ASSERT(check_snapshot(0) == writer_.position());
    RL_ASSERT(control_.refused.load(std::memory_order_relaxed) == 0);
  }

 private:
  static constexpr std::uint64_t kCapacity = 4;
  static constexpr std::uint64_t kLastSnapshotFrom = 8;  // two laps

  ringbuf::BasicSegment<P> segment() { return {slots_, kCapacity, 0}; }

  void record(std::uint32_t slots) {
    typename ringbuf::BasicRingWriter<P>::Claim claim;
    if (!writer_.claim(slots, 0, claim)) {
      RL_ASSERT(writer_.enter());
      RL_ASSERT(writer_.refill(slots, 0));
      writer_.leave();
      RL_ASSERT(writer_.claim(slots, 0, claim));
    }
    for (std::uint32_t i = 0; i < slots; ++i) {
      const std::uint64_t position = claim.position + i;
      writer_.put(claim, i, position + 1, ~(position + 1));
    }
    writer_.publish(claim, slots);
  }

  // Returns the snapshot's end.
  std::uint64_t check_snapshot(std::uint64_t from) {
    ringbuf::Slot copy[kCapacity] = {};
    const ringbuf::SnapshotRange range =
        ringbuf::take_ring_snapshot(control_, segment(), from, copy);
    RL_ASSERT(range.begin >= from);
    RL_ASSERT(range.empty() || range.end - range.begin <= kCapacity);
    for (std::uint64_t p = range.begin; p < range.end; ++p) {
      RL_ASSERT(copy[p % kCapacity].word0 == p + 1);
      RL_ASSERT(copy[p % kCapacity].word1 == ~(p + 1));
    }
    return range.end;
  }

  ringbuf::BasicRingControl<P> control_;
  typename P::Slot slots_[kCapacity];
  ringbuf::BasicRingWriter<P> writer_;
};

constexpr rl::iteration_t kToProve = 300000;
constexpr rl::iteration_t kToFail = 1000000;  // stops at the first failure

template <Edge kEdge, Weakening kWeakening>
bool weak_edge_holds() {
  return holds_at_random<OverwriteRingModel<kEdge, kWeakening>>(kToFail);
}

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return run_scenario(
      argc, argv,
      {{"Holds", [] { return holds_at_random<OverwriteRingModel<>>(kToProve); },
        true},
       {"HoldsWithinTwoSwitches",
        [] { return holds_within<OverwriteRingModel<>>(2); }, true},
       {"FailsWithoutReleaseA", weak_edge_holds<Edge::kA, kReleaseWeak>, false},
       {"FailsWithoutAcquireA", weak_edge_holds<Edge::kA, kAcquireWeak>, false},
       {"FailsWithoutReleaseE", weak_edge_holds<Edge::kE, kReleaseWeak>, false},
       {"FailsWithoutAcquireE", weak_edge_holds<Edge::kE, kAcquireWeak>, false},
       {"FailsWithAMarginShorterThanARecord",
        [] {
          return holds_at_random<
              OverwriteRingModel<Edge::kNone, kNothingWeak, 1>>(kToFail);
        },
        false}});
}
