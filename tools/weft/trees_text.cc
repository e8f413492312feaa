// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "quantity_text.h"
#include "summary_report.h"
#include "trace_file.h"

namespace weft::tools {
namespace {

constexpr std::size_t kMostLines = 40;  // of one tree: a screen

// The longest of a tree, in its order. A parent is never shorter than its
// children, so whoever is shown has its parents shown.
std::vector<const PairedSpan*> shown_spans(const SpanTree& tree) {
  std::vector<const PairedSpan*> spans;
  for (const PairedSpan& span : tree.spans) spans.push_back(&span);
  if (spans.size() <= kMostLines) return spans;
  std::nth_element(
      spans.begin(), spans.begin() + kMostLines, spans.end(),
      [](const PairedSpan* a, const PairedSpan* b) {
        return std::tuple(b->duration_ns(), a->line, a->position) <
               std::tuple(a->duration_ns(), b->line, b->position);
      });
  spans.resize(kMostLines);
  std::sort(spans.begin(), spans.end(), [](const auto* a, const auto* b) {
    return std::tuple(a->line, a->position) < std::tuple(b->line, b->position);
  });
  return spans;
}

std::string time_of(const PairedSpan& span) {
  if (span.fate == SpanFate::kEndLost) return "no end";
  return duration_text(span.duration_ns());
}

std::string remark_on(const PairedSpan& span) {
  if (span.fate == SpanFate::kClipped) return " (clipped)";
  if (span.fate == SpanFate::kNotNested) return " (async)";
  return span.has_loss ? " (records lost inside)" : "";
}

std::string span_line(const SummaryReport& report, const SpanTree& tree,
                      const PairedSpan& span, std::size_t depth,
                      std::size_t width) {
  const std::uint64_t at = static_cast<std::uint64_t>(span.begin_ns) -
                           static_cast<std::uint64_t>(tree.begin_ns);
  // A signal handler's or a late thread's span may begin before its tree.
  const std::string offset =
      span.begin_ns < tree.begin_ns ? "before" : "+" + duration_text(at);
  const std::string self = span.fate == SpanFate::kComplete
                               ? duration_text(span.self_ns)
                               : std::string("-");
  constexpr std::size_t kDeepest = 24;  // beyond, only the number grows
  const std::string indent(2 * std::min(depth, kDeepest), ' ');
  std::string line =
      fmt::format("  {:>8}  {:>7}  {:>7}  {}{}{}", offset, time_of(span), self,
                  indent, span_name(*report.info, span.name),
                  remark_on(span));
  const std::string& arguments = report.trees->arguments(span);
  const std::size_t used = text_width(line) + 2;
  constexpr std::size_t kLeastRoom = 20;
  if (!arguments.empty())
    line += "  " + shortened(arguments, used + kLeastRoom < width
                                            ? width - used
                                            : kLeastRoom);
  return line + "\n";
}

std::string tree_text(const SummaryReport& report, const SpanTree& tree,
                      std::size_t number, std::size_t width) {
  std::string out = fmt::format(
      "\n{}. {}: {}, {}, began {} after the start\n", number,
      tree.request == 0 ? span_name(*report.info, tree.root.name)
                        : "request " + request_text(tree.id),
      duration_text(tree.duration_ns()), plural(tree.span_count, "span"),
      tree.begin_ns < report.start_ns
          ? std::string("0ns")
          : duration_text(static_cast<std::uint64_t>(tree.begin_ns) -
                          static_cast<std::uint64_t>(report.start_ns)));
  const auto spans = shown_spans(tree);
  const PairedSpan* before = nullptr;
  std::vector<std::uint64_t> open_ends;  // positions where open spans end
  for (const PairedSpan* span : spans) {
    if (before == nullptr || before->line != span->line) {
      open_ends.clear();
      out += fmt::format(
          "  on {}{}\n  {:>8}  {:>7}  {:>7}  span\n",
          thread_text(*report.info, thread_of(span->line)),
          is_side_line(span->line) ? ", in signal handlers" : "", "at", "time",
          "self");
    }
    before = span;
    while (!open_ends.empty() && open_ends.back() < span->position)
      open_ends.pop_back();
    out += span_line(report, tree, *span, open_ends.size(), width);
    if (span->end_position != 0) open_ends.push_back(span->end_position);
  }
  if (spans.size() < tree.span_count)
    out += fmt::format("  ... and {}\n",
                       plural(tree.span_count - spans.size(), "shorter span"));
  return out;
}

}  // namespace

std::string trees_text(const SummaryReport& report, std::size_t width) {
  const auto& trees = report.trees->trees();
  if (trees.empty()) return "\nno complete root spans or requests\n";
  std::string out = fmt::format("\nslowest {}\n",
                                trees.size() == 1 ? "request or root span"
                                                  : "requests and root spans");
  for (std::size_t i = 0; i < trees.size(); ++i)
    out += tree_text(report, trees[i], i + 1, width);
  return out;
}

}  // namespace weft::tools
