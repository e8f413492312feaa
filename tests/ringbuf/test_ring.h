// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_RINGBUF_TEST_RING_H_
#define WEFT_TESTS_RINGBUF_TEST_RING_H_

#include <cstdint>
#include <vector>

#include "weft/ringbuf/spsc_ring.h"

namespace weft::ringbuf {

// Both sides of a ring whose segments are vectors, with the slow paths that the
// runtime has. Slots are numbered by their position, and records say how many
// slots they have, so that a reader notices anything lost, torn or repeated.
class TestRing {
 public:
  static constexpr std::uint64_t kCapacity = 2 * kMaxRecordSlots;

  // `spare_capacities`: of the segments that move() can go to, by index - 1.
  explicit TestRing(std::uint64_t capacity = kCapacity,
                    const std::vector<std::uint64_t>& spare_capacities = {}) {
    memory_.emplace_back(capacity);
    for (const std::uint64_t spare : spare_capacities)
      memory_.emplace_back(spare);
    writer_.attach(&control_, segment(0), 0);
    reader_.attach(&control_, segment(0), 0);
  }
  TestRing(const TestRing&) = delete;
  TestRing& operator=(const TestRing&) = delete;

  Segment segment(std::uint64_t index) {
    return {memory_[index].data(), memory_[index].size(), index};
  }

  // Producer. Hot path, slow path, hot path again; a handler may take the room
  // in between.
  bool claim(std::uint32_t slots, std::uint32_t promise,
             RingWriter::Claim& claim) {
    while (!writer_.claim(slots, promise, claim))
      if (!refill(slots, promise)) return false;
    return true;
  }

  // False: no room, or busy.
  bool refill(std::uint32_t slots, std::uint32_t promise) {
    if (!writer_.enter()) return false;
    const bool room = writer_.refill(slots, promise);
    writer_.leave();
    return room;
  }

  void fill(const RingWriter::Claim& claim, std::uint32_t slots) {
    for (std::uint32_t i = 0; i < slots; ++i)
      writer_.put(claim, i, claim.position + i, std::uint64_t{slots} << 32 | i);
  }

  void fill_and_publish(const RingWriter::Claim& claim, std::uint32_t slots) {
    fill(claim, slots);
    writer_.publish(claim, slots);
  }

  bool record(std::uint32_t slots, std::uint32_t promise = 0) {
    RingWriter::Claim under_way;
    if (!claim(slots, promise, under_way)) {
      writer_.refuse();
      return false;
    }
    fill_and_publish(under_way, slots);
    return true;
  }

  // Of a span whose begin was accepted.
  bool end() {
    RingWriter::Claim under_way;
    if (!writer_.claim_promised(under_way)) return false;
    fill_and_publish(under_way, 1);
    return true;
  }

  bool move(std::uint64_t index) {
    if (!writer_.enter()) return false;
    const bool moved = writer_.move_to(segment(index));
    writer_.leave();
    return moved;
  }

  // Consumer. What one pass read; follows links.
  struct Pass {
    std::uint64_t records = 0;
    std::uint64_t slots = 0;
    std::uint64_t links = 0;
    std::uint64_t wrong = 0;  // slots that are not what was written
  };

  Pass drain() {
    Pass pass;
    for (;;) {
      const RingReader::Slots slots = reader_.peek();
      std::uint32_t left = 0;  // slots of the record still to come
      for (std::uint32_t i = 0; i < slots.size(); ++i) {
        const Slot& slot = i < slots.first_count
                               ? slots.first[i]
                               : slots.second[i - slots.first_count];
        const std::uint64_t word1 = Platform::load(slot.word1);
        const auto size = static_cast<std::uint32_t>(word1 >> 32);
        const auto index = static_cast<std::uint32_t>(word1);
        if (left == 0) {
          left = size;
          ++pass.records;
        }
        if (Platform::load(slot.word0) != reader_.position() + i ||
            index != size - left || left == 0) {
          ++pass.wrong;
        }
        if (left != 0) --left;
      }
      if (left != 0) ++pass.wrong;  // half a record was visible
      if (slots.size() != 0) reader_.release(slots.size());
      pass.slots += slots.size();
      if (!follow_link()) return pass;
      ++pass.links;
    }
  }

  bool follow_link() {
    std::uint64_t offset = 0;
    std::uint64_t capacity = 0;
    if (!reader_.at_link(&offset, &capacity)) return false;
    reader_.follow({memory_[offset].data(), capacity, offset});
    return true;
  }

  RingControl& control() { return control_; }
  RingWriter& writer() { return writer_; }
  RingReader& reader() { return reader_; }

 private:
  RingControl control_;
  std::vector<std::vector<Slot>> memory_;
  RingWriter writer_;
  RingReader reader_;
};

}  // namespace weft::ringbuf

#endif  // WEFT_TESTS_RINGBUF_TEST_RING_H_
