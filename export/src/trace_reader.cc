// SPDX-License-Identifier: Apache-2.0
#include "weft/export/trace_reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "trace_reader_state.h"

namespace weft::exporters {
namespace {

// Ids are dense, but blocks that defined some may be lost. What a file of this
// size may plausibly use: memory stays in proportion to the file.
std::uint64_t id_limit(std::uint64_t file_bytes, std::size_t entry_bytes) {
  return std::max<std::uint64_t>(1u << 14, 4 * file_bytes / entry_bytes);
}

template <class T>
bool put_at(std::vector<T>* table, std::uint64_t id, std::uint64_t file_bytes,
            T value) {
  if (id > id_limit(file_bytes, sizeof(T))) return false;
  if (id >= table->size()) table->resize(id + 1);
  (*table)[id] = std::move(value);
  return true;
}

}  // namespace

std::string_view TraceInfo::text(StringId id) const noexcept {
  const auto number = static_cast<std::size_t>(id);
  return number < strings.size() ? std::string_view(strings[number])
                                 : std::string_view();
}

const SiteInfo& TraceInfo::site(SiteId id) const noexcept {
  static const SiteInfo kUnknown{};
  const auto number = static_cast<std::size_t>(id);
  if (number < sites.size()) return sites[number];
  return sites.empty() ? kUnknown : sites[0];
}

std::string_view TraceInfo::name_of(
    const DecodedRecord& record) const noexcept {
  return text(record.name != StringId::kNone ? record.name
                                             : site(record.site).name);
}

Result<void> TraceReader::State::read_header() {
  const std::uint8_t* bytes = source.read(0, sizeof(FileHeader));
  if (bytes == nullptr) {
    return Error{ErrorCode::kCorrupt,
                 source.name() + ": has " + std::to_string(source.size()) +
                     " bytes, a .weft file begins with a header of " +
                     std::to_string(sizeof(FileHeader))};
  }
  const auto header = load<FileHeader>(bytes);
  if (header.magic != kFileMagic) {
    return Error{ErrorCode::kCorrupt,
                 source.name() +
                     ": is not a .weft file: it does not begin with its magic "
                     "number (offset 0)"};
  }
  if (header.major != kMajorVersion) {
    return Error{ErrorCode::kUnsupported,
                 source.name() + ": has format version " +
                     std::to_string(header.major) + "." +
                     std::to_string(header.minor) +
                     " (offset 8); this reads versions " +
                     std::to_string(kMajorVersion) + ".x"};
  }
  info.format_version =
      std::uint32_t{header.major} << 16 | std::uint32_t{header.minor};
  info.file_bytes = source.size();
  return {};
}

void TraceReader::State::read_definitions() {
  info.strings.resize(1);
  info.sites.resize(1);
  BlockWalker walker(&source, sizeof(FileHeader));
  BlockView view;
  while (walker.next(&view, &info.problems)) {
    offsets.push_back(view.offset);
    ++info.blocks;
    info.records += view.header.records;
    info.slots += view.header.slots;
    ItemWalker walk(view);
    ItemView item;
    while (walk.next(&item, &info.problems)) read_item(item);
  }
  index_offset = walker.index_offset();
  if (!info.complete) info.end = {};
  for (const auto& [index, thread] : threads) info.threads.push_back(thread);
  rewind();
}

void TraceReader::State::read_item(const ItemView& item) {
  const ByteReader bytes = item.reader();
  bool fine = true;
  switch (item.kind) {
    case ItemKind::kString: {
      StringId id{};
      std::string text;
      fine = read_string(bytes, &id, &text) &&
             put_at(&info.strings, static_cast<std::uint64_t>(id),
                    source.size(), std::move(text));
      break;
    }
    case ItemKind::kSite: {
      SiteInfo site;
      fine = read_site(bytes, &site) &&
             put_at(&info.sites, static_cast<std::uint64_t>(site.number),
                    source.size(), site);
      break;
    }
    case ItemKind::kThread: {
      ThreadInfo thread;
      fine = read_thread(bytes, &thread);
      if (fine) threads[thread.index] = thread;
      break;
    }
    case ItemKind::kMetadata: {
      std::pair<StringId, StringId> pair;
      fine = read_metadata(bytes, &pair);
      if (!fine) break;
      // The newest value of a key, in the place where the key came first.
      const std::string key(info.text(pair.first));
      const auto [at, is_new] =
          metadata_places.emplace(key, info.metadata.size());
      if (is_new) info.metadata.emplace_back(key, "");
      info.metadata[at->second].second = info.text(pair.second);
      break;
    }
    case ItemKind::kAnchor: {
      ClockAnchor anchor;
      fine = read_anchor(bytes, &anchor);
      if (fine) info.anchors.push_back(anchor);
      break;
    }
    case ItemKind::kLoss: {
      Loss loss;
      fine = read_loss(bytes, &loss);
      if (fine) info.losses.push_back(loss);
      break;
    }
    case ItemKind::kProcess:
      fine = read_process(bytes, &info.process);
      break;
    case ItemKind::kSubscription:
      fine = read_subscription(bytes, &info.subscription);
      break;
    case ItemKind::kEnd: {
      LostBlocks lost;
      info.end = {};
      fine = info.complete = read_end(bytes, &info.end, &lost);
      if (!fine) break;
      info.lost_blocks = lost.blocks;
      info.lost_records = lost.records;
      break;
    }
    case ItemKind::kLostBlocks: {
      LostBlocks lost;
      fine = read_lost_blocks(bytes, &lost);
      if (!fine) break;
      info.lost_blocks = std::max(info.lost_blocks, lost.blocks);
      info.lost_records = std::max(info.lost_records, lost.records);
      break;
    }
    case ItemKind::kRun:
    case ItemKind::kIndex:
      break;
    default:
      ++info.unknown_items;
      break;
  }
  if (!fine) {
    add_problem(&info.problems, item.offset,
                "an item of kind " +
                    std::to_string(static_cast<unsigned>(item.kind)) + " and " +
                    std::to_string(item.bytes) +
                    " bytes makes no sense and is left out");
  }
}

void TraceReader::State::rewind() {
  block_number = 0;
  in_run = false;
  items = ItemWalker();
  assembler.forget_threads();
}

bool TraceReader::State::next_block() {
  while (block_number < offsets.size()) {
    const std::uint64_t offset = offsets[block_number++];
    base = 0;
    if (read_block(&source, offset, &block)) {
      items = ItemWalker(block);
      return true;
    }
    items = ItemWalker();
    add_problem(&info.problems, offset, "this block changed while it was read");
  }
  return false;
}

bool TraceReader::State::next_run() {
  for (;;) {
    ItemView item;
    // open() told what is wrong with the items themselves.
    std::vector<TraceProblem> known;
    if (!items.next(&item, &known)) {
      if (!next_block()) return false;
      continue;
    }
    if (item.kind != ItemKind::kRun) continue;
    assembler.start(RunDecoder(item.body, item.bytes, &base));
    in_run = true;
    return true;
  }
}

TraceReader::TraceReader(std::unique_ptr<State> state)
    : state_(std::move(state)) {}
TraceReader::TraceReader(TraceReader&&) noexcept = default;
TraceReader& TraceReader::operator=(TraceReader&&) noexcept = default;
TraceReader::~TraceReader() = default;

Result<TraceReader> TraceReader::open(const std::string& path) {
  auto source = TraceSource::open(path);
  if (!source) return source.error();
  auto state = std::make_unique<State>(std::move(*source));
  if (const auto header = state->read_header(); !header) return header.error();
  state->read_definitions();
  return TraceReader(std::move(state));
}

Result<TraceReader> TraceReader::open_bytes(const std::uint8_t* data,
                                            std::size_t size) {
  auto state = std::make_unique<State>(TraceSource(data, size));
  if (const auto header = state->read_header(); !header) return header.error();
  state->read_definitions();
  return TraceReader(std::move(state));
}

const TraceInfo& TraceReader::info() const noexcept { return state_->info; }

bool TraceReader::next(DecodedRecord* record) {
  State& state = *state_;
  while (state.in_run || state.next_run()) {
    if (state.assembler.next(record)) return true;
    state.in_run = false;
    if (const char* why = state.assembler.run().malformed();
        why != nullptr && state.block_number > state.reported) {
      state.reported = state.block_number;
      add_problem(&state.info.problems, state.block.offset,
                  std::string("a run of this block is left off: ") + why);
    }
  }
  return false;
}

void TraceReader::rewind() { state_->rewind(); }

double TraceReader::progress() const noexcept {
  if (state_->offsets.empty()) return 1;
  return static_cast<double>(state_->block_number) /
         static_cast<double>(state_->offsets.size());
}

}  // namespace weft::exporters
