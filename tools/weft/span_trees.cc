// SPDX-License-Identifier: Apache-2.0
#include "span_trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "quantity_text.h"

namespace weft::tools {
namespace {

using exporters::DecodedRecord;
using exporters::DecodedValue;
using exporters::TraceInfo;

constexpr std::size_t kMaxTextWidth = 60;

std::uint64_t id_of(const PairedSpan& span) noexcept {
  return async_id(thread_of(span.line), span.position);
}

std::string quoted(std::string_view text) {
  return fmt::format("\"{}\"", shortened(printable(text), kMaxTextWidth));
}

std::string value_of(const TraceInfo& info, const DecodedValue& value) {
  switch (value.type) {
    case RecordKind::kInt64:
      return fmt::format("{}", static_cast<std::int64_t>(value.bits));
    case RecordKind::kDouble:
      return fmt::format("{}", std::bit_cast<double>(value.bits));
    case RecordKind::kBool: return value.bits != 0 ? "true" : "false";
    case RecordKind::kStringId:
      return quoted(info.text(static_cast<StringId>(value.bits)));
    case RecordKind::kText: return quoted(value.text);
    default: return fmt::format("{}", value.bits);
  }
}

void append_word(std::string* line, const std::string& word) {
  if (!line->empty()) *line += ' ';
  *line += word;
}

// A parent is as long as its children or longer, and was begun before them.
bool is_kept_before(const PairedSpan& a, const PairedSpan& b) noexcept {
  return std::tuple(b.duration_ns(), a.line, a.position) <
         std::tuple(a.duration_ns(), b.line, b.position);
}

}  // namespace

std::vector<SpanTree> slowest_trees(const TraceSummary& summary,
                                    std::size_t count) {
  std::vector<SpanTree> trees;
  const auto& requests = summary.requests().totals();
  for (RequestNumber i = 1; i < requests.size(); ++i) {
    if (requests[i].spans == 0) continue;
    SpanTree tree;
    tree.request = i;
    tree.id = requests[i].id;
    tree.begin_ns = requests[i].begin_ns;
    tree.end_ns = requests[i].end_ns;
    trees.push_back(tree);
  }
  for (const PairedSpan& root : summary.slowest_roots()) {
    SpanTree tree;
    tree.root = root;
    tree.begin_ns = root.begin_ns;
    tree.end_ns = root.end_ns;
    trees.push_back(tree);
  }
  const auto kept = trees.begin() + static_cast<std::ptrdiff_t>(
                                        std::min(count, trees.size()));
  std::partial_sort(
      trees.begin(), kept, trees.end(),
      [](const SpanTree& a, const SpanTree& b) {
        return std::tuple(b.duration_ns(), a.begin_ns, a.request, a.root.line) <
               std::tuple(a.duration_ns(), b.begin_ns, b.request, b.root.line);
      });
  trees.erase(kept, trees.end());
  return trees;
}

SpanTrees::SpanTrees(const TraceInfo& info, std::vector<SpanTree> trees)
    : info_(info),
      trees_(std::move(trees)),
      pairing_(info, requests_, *this),
      async_pairing_(info, [this](const PairedSpan& s) { span(s); }) {
  for (std::size_t i = 0; i < trees_.size(); ++i) {
    if (trees_[i].request != 0)
      by_request_[trees_[i].request] = i;
    else
      roots_by_line_[trees_[i].root.line].push_back(i);
  }
}

SpanTree* SpanTrees::tree_of(RequestNumber request, LineKey line,
                             std::uint64_t position) {
  if (const auto found = by_request_.find(request);
      request != 0 && found != by_request_.end())
    return &trees_[found->second];
  const auto roots = roots_by_line_.find(line);
  if (roots == roots_by_line_.end()) return nullptr;
  for (const std::size_t i : roots->second) {
    const PairedSpan& root = trees_[i].root;
    if (root.position <= position && position <= root.end_position)
      return &trees_[i];
  }
  return nullptr;
}

void SpanTrees::add(const DecodedRecord& record, std::int64_t ns) {
  const LineKey line = line_of(record);
  if (record.kind == RecordKind::kAsyncBegin ||
      record.kind == RecordKind::kAsyncEnd)
    async_pairing_.add(record, ns, pairing_.request_of(line));
  pairing_.add(record, ns);
  add_arguments(record);
}

void SpanTrees::add_arguments(const DecodedRecord& record) {
  const bool is_late = record.kind == RecordKind::kArgument ||
                       record.kind == RecordKind::kFailure;
  if (!is_late && (record.value_count == 0 ||
                   (record.kind != RecordKind::kSpanBegin &&
                    record.kind != RecordKind::kAsyncBegin)))
    return;
  // A late one may come from a thread that works for somebody else; it is kept
  // if its span already has a tree or might get one.
  const LineKey line = line_of(record);
  const std::uint64_t position = is_late ? record.target : record.position;
  if (tree_of(pairing_.request_of(line), line, position) == nullptr) return;

  std::string& text = arguments_[is_late
                                     ? SpanPairing::span_of(record)
                                     : async_id(record.thread, position)];
  if (record.kind == RecordKind::kFailure)
    return append_word(&text, "FAILED=" + quoted(info_.text(record.key)));
  if (is_late) {
    if (record.value_count != 0)
      append_word(&text, printable(info_.text(record.key)) + "=" +
                             value_of(info_, record.values[0]));
    return;
  }
  const SiteInfo& site = info_.site(record.site);
  for (std::uint32_t i = 0; i < record.value_count; ++i) {
    const DecodedValue& value = record.values[i];
    const std::string_view key =
        value.index < kMaxArguments
            ? info_.text(site.arguments[value.index].key)
            : std::string_view();
    append_word(&text, printable(key) + "=" + value_of(info_, value));
  }
}

void SpanTrees::span(const PairedSpan& span) {
  if (span.fate == SpanFate::kBeginLost) return;
  SpanTree* const tree = tree_of(span.request, span.line, span.position);
  if (tree == nullptr) return;
  ++tree->span_count;
  tree->spans.push_back(span);
  if (tree->spans.size() >= 2 * kMaxSpans) shorten(tree);
}

void SpanTrees::shorten(SpanTree* tree) {
  auto& spans = tree->spans;
  if (spans.size() <= kMaxSpans) return;
  std::nth_element(spans.begin(), spans.begin() + kMaxSpans, spans.end(),
                   is_kept_before);
  for (auto s = spans.begin() + kMaxSpans; s != spans.end(); ++s)
    arguments_.erase(id_of(*s));
  spans.erase(spans.begin() + kMaxSpans, spans.end());
}

void SpanTrees::finish() {
  pairing_.finish();
  async_pairing_.finish();
  for (SpanTree& tree : trees_) {
    shorten(&tree);
    std::sort(tree.spans.begin(), tree.spans.end(),
              [](const PairedSpan& a, const PairedSpan& b) {
                return std::tuple(a.line, a.position) <
                       std::tuple(b.line, b.position);
              });
  }
}

const std::string& SpanTrees::arguments(const PairedSpan& span) const {
  static const std::string kNone;
  const auto found = arguments_.find(id_of(span));
  return found == arguments_.end() ? kNone : found->second;
}

}  // namespace weft::tools
