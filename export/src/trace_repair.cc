// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "file_tail.h"
#include "output_file.h"
#include "trace_reader_state.h"

namespace weft::exporters {
namespace {

bool same_file(const std::string& a, const std::string& b) {
  struct stat first {};
  struct stat second {};
  return stat(a.c_str(), &first) == 0 && stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// Blocks of a file's tail are not copied: the tail is written anew.
bool belongs_to_tail(const BlockView& block) {
  ItemWalker walk(block);
  ItemView item;
  std::vector<TraceProblem> ignored;
  while (walk.next(&item, &ignored)) {
    if (item.kind == ItemKind::kEnd || item.kind == ItemKind::kIndex)
      return true;
  }
  return false;
}

// The accounts of what could be kept. What the old end told stays true; the
// difference is what is lost now.
SubscriptionEnd new_end(const TraceInfo& info, Ticks last_tick,
                        std::uint64_t records) {
  SubscriptionEnd end = info.end;
  if (!info.complete) {
    end.stop_tick = last_tick;
    end.delivered = records + info.lost_records;
    for (const Loss& loss : info.losses) {
      const auto reason = static_cast<std::size_t>(loss.reason);
      end.dropped[reason < kDropReasons ? reason : 0] += loss.records;
    }
    end.reason = "repaired: the file was cut";
  }
  return end;
}

class RepairedFile {
 public:
  explicit RepairedFile(OutputFile file)
      : file_(std::move(file)), memory_(kMaxBlockBytes) {}

  bool write(const std::uint8_t* bytes, std::size_t size) {
    return file_.write(bytes, size, 0) == OutputFile::Outcome::kDone;
  }

  bool write_header() {
    const FileHeader header{kFileMagic, kMajorVersion, kMinorVersion, 0};
    std::uint8_t bytes[sizeof header];
    store(bytes, header);
    return write(bytes, sizeof bytes);
  }

  bool copy(const BlockView& block) {
    const std::uint64_t sequence = block.header.sequence;
    missing_ += sequence - std::min(next_sequence_, sequence);
    next_sequence_ = sequence + 1;
    index_.push_back({file_.offset(), block.header.first_tick,
                      block.header.last_tick, block.header.records});
    records_ += block.header.records;
    last_tick_ = std::max(last_tick_, block.header.last_tick);
    return write(block.content - sizeof block.header, block.size());
  }

  // All of a block's items but those of the tail.
  void keep_items(const BlockView& block) {
    if (!tail_.started()) tail_.start(memory_.data(), memory_.size());
    ItemWalker walk(block);
    ItemView item;
    std::vector<TraceProblem> ignored;
    while (walk.next(&item, &ignored)) {
      if (item.kind == ItemKind::kEnd || item.kind == ItemKind::kIndex ||
          item.kind == ItemKind::kRun)
        continue;
      std::uint8_t* to = tail_.begin_item(item.kind, item.bytes);
      if (to == nullptr) return;
      std::memcpy(to, item.body, item.bytes);
      tail_.end_item(to + item.bytes);
    }
  }

  bool finish(const TraceInfo& info) {
    if (!tail_.started()) tail_.start(memory_.data(), memory_.size());
    const SubscriptionEnd end = new_end(info, last_tick_, records_);
    const std::uint64_t lost =
        end.delivered - std::min(records_, end.delivered);
    put_end(tail_, end, {std::max(missing_, info.lost_blocks), lost});
    const auto put = [&](const std::uint8_t* bytes, std::size_t size) {
      return write(bytes, size);
    };
    if (!write(memory_.data(), tail_.finish(next_sequence_++))) return false;
    return write_index(index_, file_.offset(), memory_.data(), &next_sequence_,
                       put) &&
           file_.close();
  }

  std::uint64_t records() const { return records_; }
  std::string error() const { return file_.error(); }

 private:
  OutputFile file_;
  std::vector<std::uint8_t> memory_;
  BlockEncoder tail_;
  std::vector<IndexEntry> index_;
  std::uint64_t next_sequence_ = 0;
  std::uint64_t missing_ = 0;
  std::uint64_t records_ = 0;
  Ticks last_tick_ = 0;
};

}  // namespace

Result<std::uint64_t> repair_trace(const std::string& from,
                                   const std::string& to) {
  auto reader = TraceReader::open(from);
  if (!reader) return reader.error();
  if (same_file(from, to)) {
    return Error{ErrorCode::kInvalidArgument,
                 from + ": cannot be repaired into itself"};
  }
  TraceReader::State& state = *reader->state_;
  if (state.offsets.empty()) {
    return Error{ErrorCode::kCorrupt,
                 from + ": has no whole block in its " +
                     std::to_string(state.info.file_bytes) + " bytes"};
  }
  OutputOptions options;
  options.path = to;
  auto opened = OutputFile::open(options);
  if (!opened) return opened.error();
  RepairedFile file(std::move(*opened));

  bool fine = file.write_header();
  for (std::size_t i = 0; i < state.offsets.size() && fine; ++i) {
    BlockView block;
    if (!read_block(&state.source, state.offsets[i], &block)) continue;
    if (belongs_to_tail(block)) {
      file.keep_items(block);
    } else {
      fine = file.copy(block);
    }
  }
  if (!fine || !file.finish(state.info))
    return Error{ErrorCode::kIo, file.error()};
  return file.records();
}

}  // namespace weft::exporters
