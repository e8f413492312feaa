// SPDX-License-Identifier: Apache-2.0
//
// Waiting for a record under way, under the model checker. When a subscription
// ends, its thread sees that a producer is in a record, waits until it is not,
// and then counts on the record's being published [H].

#include "model/scenario.h"
#include "weft/ringbuf/spsc_ring.h"

namespace weft::model {
namespace {

// All edges of the ring are weakened at once, which is the same as [H] alone:
// the waiter uses no other.
template <Weakening kWeakening = kNothingWeak>
class WaitingModel : public rl::test_suite<WaitingModel<kWeakening>, 2> {
 public:
  using P = ModelPlatform<Words::kPlain, 2, kWeakening>;

  void before() {
    writer_.attach(&control_, {slots_, kCapacity, 0}, 0);
    RL_ASSERT(writer_.enter());
    RL_ASSERT(writer_.refill(kSlots, 0));
    writer_.leave();
  }

  void thread(unsigned index) {
    if (index == 0)
      record();
    else
      wait();
  }

 private:
  static constexpr std::uint64_t kCapacity = 4;
  static constexpr std::uint32_t kSlots = 2;

  void record() {
    typename ringbuf::BasicRingWriter<P>::Claim claim;
    RL_ASSERT(writer_.claim(kSlots, 0, claim));
    for (std::uint32_t i = 0; i < kSlots; ++i) writer_.put(claim, i, i + 1, 0);
    writer_.publish(claim, kSlots);
  }

  void wait() {
    if (!writer_.busy()) return;  // not begun, or all over: nothing to wait for
    while (writer_.busy()) rl::yield(1, RL_INFO);
    // Relaxed: [A] must not lend [H] its order.
    RL_ASSERT(control_.write_pos.load(std::memory_order_relaxed) == kSlots);
    for (std::uint32_t i = 0; i < kSlots; ++i)
      RL_ASSERT(P::load(slots_[i].word0) == i + 1);
  }

  ringbuf::BasicRingControl<P> control_;
  typename P::Slot slots_[kCapacity];
  ringbuf::BasicRingWriter<P> writer_;
};

constexpr rl::iteration_t kToProve = 300000;
constexpr rl::iteration_t kToFail = 1000000;  // stops at the first failure

template <Weakening kWeakening>
bool weak_edge_holds() {
  return holds_at_random<WaitingModel<kWeakening>>(kToFail);
}

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return run_scenario(
      argc, argv,
      {{"Holds", [] { return holds_at_random<WaitingModel<>>(kToProve); },
        true},
       {"HoldsWithinTwoSwitches",
        [] { return holds_within<WaitingModel<>>(2); }, true},
       {"FailsWithoutReleaseH", weak_edge_holds<kReleaseWeak>, false},
       {"FailsWithoutAcquireH", weak_edge_holds<kAcquireWeak>, false}});
}
