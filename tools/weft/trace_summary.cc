// SPDX-License-Identifier: Apache-2.0
#include "trace_summary.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace weft::tools {
namespace {

using exporters::DecodedRecord;

// The entry of a name, made when it is first met.
template <class Figures>
Figures& entry(std::vector<Figures>* all, std::uint32_t index) {
  if (all->size() <= index) all->resize(index + 1);
  Figures& figures = (*all)[index];
  figures.name = static_cast<StringId>(index);
  return figures;
}

}  // namespace

void SpanFigures::add(const PairedSpan& span) {
  switch (span.fate) {
    case SpanFate::kClipped: ++clipped; break;
    case SpanFate::kBeginLost: ++begin_lost; break;
    case SpanFate::kEndLost: ++end_lost; break;
    case SpanFate::kNotNested:
      ++not_nested;
      durations.add(span.duration_ns());
      break;
    case SpanFate::kComplete:
      self_ns += span.self_ns;
      durations.add(span.duration_ns());
      break;
  }
  failed += span.failed ? 1 : 0;
  with_loss += span.has_loss ? 1 : 0;
}

void CounterFigures::add(long double value, std::int64_t ns) {
  if (samples == 0 || value < min) min = value;
  if (samples == 0 || value > max) max = value;
  if (samples == 0 || ns >= last_ns) {
    last = value;
    last_ns = ns;
  }
  sum += value;
  ++samples;
}

TraceSummary::TraceSummary(const exporters::TraceInfo& info,
                           SummaryFilter filter, std::size_t slowest)
    : info_(info),
      filter_(std::move(filter)),
      slowest_(slowest),
      pairing_(info, requests_, *this),
      async_pairing_(info, [this](const PairedSpan& s) { add_async(s); }),
      roots_(slowest) {}

std::uint32_t TraceSummary::name_index(StringId name) const noexcept {
  const auto index = static_cast<std::uint32_t>(name);
  return index < info_.strings.size() ? index : 0;
}

bool TraceSummary::is_counted(ThreadIndex thread) const {
  return filter_.threads.empty() ||
         filter_.threads.contains(static_cast<std::uint32_t>(thread));
}

bool TraceSummary::is_counted(ThreadIndex thread, SiteId site) const {
  return is_counted(thread) &&
         (filter_.categories.empty() ||
          filter_.categories.contains(
              static_cast<std::uint32_t>(info_.site(site).category)));
}

void TraceSummary::add(const DecodedRecord& record, std::int64_t ns) {
  const LineKey line = line_of(record);
  if (line != last_line_) {
    seen_lines_.insert(line);
    last_line_ = line;
  }
  last_ns_ = std::max(last_ns_, ns);
  switch (record.kind) {
    case RecordKind::kInstant:
      if (is_counted(record.thread, record.site)) {
        const StringId name = record.name != StringId::kNone
                                  ? record.name
                                  : info_.site(record.site).name;
        ++entry(&instants_, name_index(name)).count;
      }
      return;
    case RecordKind::kCounter: return add_counter(record, ns);
    case RecordKind::kAsyncBegin:
      return async_pairing_.add(record, ns, pairing_.request_of(line));
    case RecordKind::kAsyncEnd:
      async_pairing_.add(record, ns, 0);
      return pairing_.add(record, ns);
    default: return pairing_.add(record, ns);
  }
}

void TraceSummary::add_counter(const DecodedRecord& record, std::int64_t ns) {
  if (record.value_count == 0 || !is_counted(record.thread, record.site))
    return;
  const std::uint64_t bits = record.values[0].bits;
  long double value = 0;
  switch (record.values[0].type) {
    case RecordKind::kInt64:
      value = static_cast<long double>(static_cast<std::int64_t>(bits));
      break;
    case RecordKind::kDouble: value = std::bit_cast<double>(bits); break;
    default: value = static_cast<long double>(bits); break;
  }
  const StringId name = record.name != StringId::kNone
                            ? record.name
                            : info_.site(record.site).name;
  entry(&counters_, name_index(name)).add(value, ns);
}

void TraceSummary::span(const PairedSpan& span) {
  if (slowest_ != 0 && span.fate == SpanFate::kComplete &&
      is_counted(thread_of(span.line)))
    roots_.add(span);
  if (is_counted(thread_of(span.line), span.site))
    entry(&spans_, name_index(span.name)).add(span);
}

void TraceSummary::left_stack(LineKey line, std::size_t depth) {
  if (slowest_ != 0) roots_.left_stack(line, depth);
}

void TraceSummary::add_async(const PairedSpan& span) {
  if (span.fate == SpanFate::kNotNested)
    requests_.add_span(span.request, span.begin_ns, span.end_ns);
  if (is_counted(thread_of(span.line), span.site))
    entry(&async_spans_, name_index(span.name)).add(span);
}

void TraceSummary::finish() {
  pairing_.finish();
  async_pairing_.finish();
  if (slowest_ != 0) slowest_roots_ = roots_.take();
  std::erase_if(spans_, [](const auto& s) { return s.seen() == 0; });
  std::erase_if(async_spans_, [](const auto& s) { return s.seen() == 0; });
  std::erase_if(counters_, [](const auto& c) { return c.samples == 0; });
  std::erase_if(instants_, [](const auto& i) { return i.count == 0; });
  for (const LineKey line : seen_lines_)
    if (is_counted(thread_of(line)))
      lines_.push_back({line, pairing_.root_ns(line)});
  std::sort(lines_.begin(), lines_.end(),
            [](const auto& a, const auto& b) { return a.line < b.line; });
}

}  // namespace weft::tools
