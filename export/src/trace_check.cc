// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace_reader_state.h"

namespace weft::exporters {
namespace {

// "123", or "123 of the side ring".
std::string words(std::uint64_t position) {
  std::string text = std::to_string(position & ~kSidePosition);
  if ((position & kSidePosition) != 0) text += " of the side ring";
  return text;
}

std::string words(ThreadIndex thread) {
  return "thread " + std::to_string(static_cast<std::uint32_t>(thread));
}

// What is wrong with the records and accounts of a file.
class Checker {
 public:
  Checker(const TraceInfo& info, std::vector<TraceProblem>* problems)
      : info_(info), problems_(problems) {
    for (const Loss& loss : info.losses) {
      if (loss.thread == ThreadIndex::kNone) nameless_loss_ = true;
      losses_[loss.thread].push_back(loss.position);
    }
    for (auto& [thread, positions] : losses_)
      std::sort(positions.begin(), positions.end());
    for (const ThreadInfo& thread : info.threads)
      threads_[thread.index].defined = true;
    // Each may have made a thread's ticks go back, once. A cut file may lack the
    // anchor that tells of the last.
    breaks_ = info.complete ? 0 : 1;
    for (std::size_t i = 1; i < info.anchors.size(); ++i)
      breaks_ += info.anchors[i].epoch != info.anchors[i - 1].epoch;
  }

  void begin_block(const BlockView& block) {
    block_ = block;
    block_records_ = 0;
    block_slots_ = 0;
    if (block.header.sequence > next_sequence_ || is_first_block_) {
      const std::uint64_t missing = block.header.sequence - next_sequence_;
      missing_blocks_ += missing;
      if (missing_blocks_ > info_.lost_blocks) {
        add(block.offset, "blocks " + std::to_string(next_sequence_) + " to " +
                              std::to_string(block.header.sequence - 1) +
                              " are missing");
      }
    } else if (block.header.sequence < next_sequence_) {
      add(block.offset,
          "block " + std::to_string(block.header.sequence) + " comes after " +
              std::to_string(next_sequence_ - 1));
    }
    is_first_block_ = false;
    next_sequence_ = block.header.sequence + 1;
  }

  void end_block() {
    records_ += block_records_;
    if (block_records_ != block_.header.records ||
        block_slots_ != block_.header.slots) {
      add(block_.offset,
          "the block claims " + std::to_string(block_.header.records) +
              " records in " + std::to_string(block_.header.slots) +
              " slots and has " + std::to_string(block_records_) + " in " +
              std::to_string(block_slots_));
    }
  }

  // Positions of a thread go on without gaps, but for what losses explain.
  void begin_run(std::uint64_t offset, const RunDecoder& run) {
    offset_ = offset;
    thread_ = &threads_[run.thread()];
    is_side_ = (run.position() & kSidePosition) != 0;
    if (!thread_->defined) {
      thread_->defined = true;  // said once
      add(offset, words(run.thread()) + " is never defined");
    }
    // The side ring is shared, so a thread's part of it has gaps.
    if (is_side_) return;
    const std::uint64_t start =
        run.position() - std::min(run.skipped(), run.position());
    if (!thread_->seen) {
      thread_->seen = true;
    } else if (start < thread_->next) {
      add(offset, words(run.thread()) + " goes back from position " +
                      words(thread_->next) + " to " + words(start));
    } else if (start > thread_->next &&
               !explained(run.thread(), thread_->next, run.position())) {
      add(offset, words(run.thread()) + ": positions " + words(thread_->next) +
                      " to " + words(start - 1) +
                      " are missing, and no loss says why");
    }
  }

  void end_run(const RunDecoder& run) {
    if (run.malformed() != nullptr)
      add(offset_, std::string("a run is malformed: ") + run.malformed());
    if (!is_side_) thread_->next = run.position();
  }

  void slots(std::uint64_t count) { block_slots_ += count; }

  void record(const DecodedRecord& record) {
    ++block_records_;
    if (record.tick < block_.header.first_tick ||
        record.tick > block_.header.last_tick) {
      add(offset_, "tick " + std::to_string(record.tick) +
                       " lies outside its block's " +
                       std::to_string(block_.header.first_tick) + " to " +
                       std::to_string(block_.header.last_tick));
    }
    // Another clock's ticks are not to be compared.
    const bool monotonic = (record.flags & kFlagMonotonic) != 0;
    if (!is_side_) {
      if (record.tick < thread_->tick && monotonic == thread_->monotonic &&
          ++thread_->falls > breaks_) {
        add(offset_, words(record.thread) + " goes back from tick " +
                         std::to_string(thread_->tick) + " to " +
                         std::to_string(record.tick) + " at position " +
                         words(record.position));
      }
      thread_->tick = record.tick;
      thread_->monotonic = monotonic;
    }
    check_site(record.site);
    check_string(record.name);
    check_string(record.key);
    for (std::uint32_t i = 0; i < record.value_count; ++i) {
      if (record.values[i].type == RecordKind::kStringId)
        check_string(static_cast<StringId>(record.values[i].bits));
    }
    if (record.kind == RecordKind::kLoss) ring_losses_ += record.target;
    // Marks of weft's own are no calls, so the accounts leave them out.
    if (record.kind == RecordKind::kLoss ||
        record.kind == RecordKind::kClockChange)
      ++marks_;
  }

  void anchors() {
    for (std::size_t i = 1; i < info_.anchors.size(); ++i) {
      const ClockAnchor& before = info_.anchors[i - 1];
      const ClockAnchor& anchor = info_.anchors[i];
      if (anchor.epoch == before.epoch && anchor.tick[0] < before.tick[0]) {
        add(0, "anchor " + std::to_string(i) + " goes back from tick " +
                   std::to_string(before.tick[0]) + " to " +
                   std::to_string(anchor.tick[0]) + " within one epoch");
      }
    }
  }

  // Calls made = records delivered + drops counted.
  void accounts() {
    if (!info_.complete) {
      add(info_.file_bytes, "the file was not closed: it has no end block");
      return;
    }
    // Blocks that were not written may have held marks as well.
    const std::uint64_t here = records_ - marks_;
    if (here > info_.end.delivered ||
        here + info_.lost_records < info_.end.delivered ||
        (info_.lost_blocks == 0 && here != info_.end.delivered)) {
      add(info_.file_bytes,
          "the end tells of " + std::to_string(info_.end.delivered) +
              " records; " + std::to_string(here) + " are here and " +
              std::to_string(info_.lost_records) + " were not written");
    }
    // Losses in blocks that were not written are gone with them.
    if (info_.lost_blocks != 0) return;
    std::array<std::uint64_t, kDropReasons> told{};
    told[static_cast<std::size_t>(DropReason::kRingFull)] = ring_losses_;
    for (const Loss& loss : info_.losses)
      if (static_cast<std::size_t>(loss.reason) < kDropReasons)
        told[static_cast<std::size_t>(loss.reason)] += loss.records;
    // These have a place in the stream, where a loss tells of them, unless a
    // limit left that out as well. The others may only be counted.
    const bool limited =
        info_.end.dropped[static_cast<std::size_t>(DropReason::kLimit)] != 0;
    for (std::size_t reason = 0; reason < kDropReasons; ++reason) {
      const bool placed =
          reason == static_cast<std::size_t>(DropReason::kRingFull) ||
          reason == static_cast<std::size_t>(DropReason::kSlowSink);
      const std::uint64_t dropped = info_.end.dropped[reason];
      if (told[reason] <= dropped &&
          (told[reason] == dropped || !placed || limited))
        continue;
      add(info_.file_bytes, "the end tells of " + std::to_string(dropped) +
                                " drops for reason " + std::to_string(reason) +
                                ", the losses of " +
                                std::to_string(told[reason]));
    }
  }

 private:
  struct Thread {
    bool defined = false;
    bool seen = false;
    bool monotonic = false;
    std::uint64_t next = 0;
    Ticks tick = 0;
    std::uint64_t falls = 0;  // of its ticks
  };

  void add(std::uint64_t offset, std::string what) {
    add_problem(problems_, offset, std::move(what));
  }

  bool explained(ThreadIndex thread, std::uint64_t from,
                 std::uint64_t to) const {
    if (nameless_loss_ || info_.lost_blocks != 0) return true;
    const auto losses = losses_.find(thread);
    if (losses == losses_.end()) return false;
    const auto first = std::lower_bound(losses->second.begin(),
                                        losses->second.end(), from);
    return first != losses->second.end() && *first <= to;
  }

  void check_site(SiteId id) {
    const auto number = static_cast<std::size_t>(id);
    if (id == SiteId::kNone || (number < info_.sites.size() &&
                                info_.sites[number].number == id))
      return;
    add(offset_, "site " + std::to_string(number) + " is never defined");
  }

  void check_string(StringId id) {
    const auto number = static_cast<std::size_t>(id);
    if (number < info_.strings.size()) return;
    add(offset_, "string " + std::to_string(number) + " is never defined");
  }

  const TraceInfo& info_;
  std::vector<TraceProblem>* problems_;
  std::unordered_map<ThreadIndex, std::vector<std::uint64_t>> losses_;
  bool nameless_loss_ = false;
  std::unordered_map<ThreadIndex, Thread> threads_;

  std::uint64_t breaks_ = 0;  // of the counter's line

  BlockView block_;
  bool is_first_block_ = true;
  std::uint64_t next_sequence_ = 0;
  std::uint64_t missing_blocks_ = 0;
  std::uint64_t block_records_ = 0;
  std::uint64_t block_slots_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t marks_ = 0;
  std::uint64_t ring_losses_ = 0;

  std::uint64_t offset_ = 0;  // of the present run
  Thread* thread_ = nullptr;
  bool is_side_ = false;
};

}  // namespace

std::vector<TraceProblem> check_trace(TraceReader& reader) {
  TraceReader::State& state = *reader.state_;
  std::vector<TraceProblem> problems = state.info.problems;
  Checker checker(state.info, &problems);
  RecordAssembler assembler;
  std::vector<IndexEntry> index;

  for (const std::uint64_t offset : state.offsets) {
    BlockView block;
    if (!read_block(&state.source, offset, &block)) continue;
    checker.begin_block(block);
    Ticks base = 0;
    ItemWalker walk(block);
    ItemView item;
    std::vector<TraceProblem> known;  // open() told them
    while (walk.next(&item, &known)) {
      if (item.kind == ItemKind::kIndex && !read_index(item.reader(), &index))
        add_problem(&problems, item.offset, "the index makes no sense");
      if (item.kind != ItemKind::kRun) continue;
      assembler.start(RunDecoder(item.body, item.bytes, &base));
      checker.begin_run(item.offset, assembler.run());
      const std::uint64_t left_out = assembler.left_out();
      DecodedRecord record;
      while (assembler.next(&record)) {
        checker.record(record);
        checker.slots(record.slots);
      }
      if (assembler.left_out() != left_out) {
        checker.slots(assembler.left_out() - left_out);
        add_problem(&problems, item.offset,
                    "a run has slots that belong to no record, or records that "
                    "lack their value");
      }
      checker.end_run(assembler.run());
    }
    checker.end_block();
  }

  for (const IndexEntry& entry : index) {
    if (!std::binary_search(state.offsets.begin(), state.offsets.end(),
                            entry.offset))
      add_problem(&problems, entry.offset,
                  "the index names a block here, and there is none");
  }
  checker.anchors();
  checker.accounts();
  return problems;
}

}  // namespace weft::exporters
