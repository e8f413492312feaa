// SPDX-License-Identifier: Apache-2.0
//
// The side ring under the model checker: two producers with two records each
// and a consumer, on two cells.

#include "model/scenario.h"
#include "weft/ringbuf/side_ring.h"

namespace weft::model {
namespace {

constexpr std::uint32_t kProducers = 2;
constexpr std::uint32_t kRecords = 2;  // of each producer
constexpr std::uint32_t kConsumerBit = 1u << kProducers;
constexpr std::uint32_t kProducerBits = kConsumerBit - 1;

template <Weakening kWeakening = kNothingWeak>
class SideRingModel
    : public rl::test_suite<SideRingModel<kWeakening>, kProducers + 1> {
 public:
  using P = ModelPlatform<Words::kPlain, 2, kWeakening>;

  void thread(unsigned index) {
    if (index < kProducers)
      produce(index);
    else
      consume();
  }

  void after() {
    while (read_one()) {
    }
    for (std::uint32_t i = 0; i < kProducers; ++i)
      RL_ASSERT(read_[i] + full_[i] == kRecords);
  }

 private:
  void produce(std::uint32_t self) {
    for (std::uint32_t i = 1; i <= kRecords; ++i) {
      std::uint64_t number = 0;
      auto* cell = ring_.claim(&number);
      if (cell == nullptr) {
        ++full_[self];
        continue;
      }
      cell->owner = self;
      cell->count = 1;
      P::store(cell->slots[0].word0, self);
      P::store(cell->slots[0].word1, i);
      ring_.publish(cell, number);
    }
    finished_.fetch_add(1, std::memory_order_relaxed);
  }

  void consume() {
    bool last = false;
    while (!last) {
      // Relaxed: it must not lend the cells its order.
      last = finished_.load(std::memory_order_relaxed) == kProducers;
      while (read_one()) {
      }
      if (!last) rl::yield(1, RL_INFO);
    }
  }

  bool read_one() {
    const auto* cell = ring_.front();
    if (cell == nullptr) return false;
    const std::uint64_t owner = P::load(cell->slots[0].word0);
    const std::uint64_t value = P::load(cell->slots[0].word1);
    RL_ASSERT(owner < kProducers && cell->owner == owner);
    RL_ASSERT(value > newest_[owner] &&
              value <= kRecords);  // each once, in order
    newest_[owner] = value;
    ++read_[owner];
    ring_.pop();
    return true;
  }

  ringbuf::BasicSideRing<P, 2> ring_;
  ModelAtomic<std::uint32_t, kNothingWeak> finished_;
  std::uint32_t full_[kProducers] = {};
  std::uint32_t read_[kProducers] = {};
  std::uint64_t newest_[kProducers] = {};
};

constexpr rl::iteration_t kToProve = 500000;
constexpr rl::iteration_t kToFail = 1000000;  // stops at the first failure

template <Weakening kWeakening>
bool weak_edge_holds() {
  return holds_at_random<SideRingModel<kWeakening>>(kToFail);
}

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  // Both edges run over `turn`: [F] from producers to the consumer, [G] back.
  return run_scenario(
      argc, argv,
      {{"Holds", [] { return holds_at_random<SideRingModel<>>(kToProve); },
        true},
       {"HoldsWithinTwoSwitches",
        [] { return holds_within<SideRingModel<>>(2); }, true},
       {"FailsWithoutReleaseF", weak_edge_holds<Weakening{kProducerBits, 0}>,
        false},
       {"FailsWithoutAcquireF", weak_edge_holds<Weakening{0, kConsumerBit}>,
        false},
       {"FailsWithoutReleaseG", weak_edge_holds<Weakening{kConsumerBit, 0}>,
        false},
       {"FailsWithoutAcquireG", weak_edge_holds<Weakening{0, kProducerBits}>,
        false}});
}
