// SPDX-License-Identifier: Apache-2.0
#include "live_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "quantity_text.h"
#include "text_table.h"

namespace weft::tools {
namespace {

// `{name="x",quantile="0.5"}` at the front of `text`: labels into `labels`, and
// what follows stays. False when it is no list of labels.
bool take_labels(std::string_view* text,
                 std::map<std::string, std::string>* labels) {
  if (text->empty() || text->front() != '{') return false;
  std::size_t at = 1;
  while (at < text->size() && (*text)[at] != '}') {
    const std::size_t equals = text->find("=\"", at);
    if (equals == std::string_view::npos) return false;
    const std::string key(text->substr(at, equals - at));
    std::string value;
    at = equals + 2;
    for (; at < text->size() && (*text)[at] != '"'; ++at) {
      char c = (*text)[at];
      if (c == '\\' && at + 1 < text->size()) {
        c = (*text)[++at];
        if (c == 'n') c = '\n';
      }
      value += c;
    }
    if (at == text->size()) return false;
    ++at;
    if (at < text->size() && (*text)[at] == ',') ++at;
    (*labels)[key] = value;
  }
  text->remove_prefix(std::min(at + 1, text->size()));
  return true;
}

void set_quantile(LivePage::Span* span, const std::string& share,
                  double value) {
  if (share == "0.5") span->p50 = value;
  if (share == "0.99") span->p99 = value;
  if (share == "0.999") span->p999 = value;
  if (share == "1") span->greatest = value;
}

void take_line(std::string_view line, LivePage* page) {
  const std::size_t name_end = line.find_first_of("{ ");
  if (name_end == std::string_view::npos) return;
  const std::string_view metric = line.substr(0, name_end);
  line.remove_prefix(name_end);
  std::map<std::string, std::string> labels;
  if (line.front() == '{' && !take_labels(&line, &labels)) return;
  if (line.empty() || line.front() != ' ') return;
  line.remove_prefix(1);
  double value = 0;
  if (std::from_chars(line.data(), line.data() + line.size(), value).ec !=
          std::errc() ||
      !(value >= 0) || value > 1e18)
    return;
  const auto whole = static_cast<std::uint64_t>(value);
  if (metric == "weft_records_delivered_total") page->delivered = whole;
  if (metric == "weft_records_dropped_total") page->dropped = whole;
  if (metric == "weft_spans_over_budget_total") page->over_budget = whole;
  if (labels.count("name") == 0) return;
  LivePage::Span& span = page->spans[labels["name"]];
  if (metric == "weft_span_seconds_count") span.count = whole;
  if (metric == "weft_span_seconds_sum") span.total = value;
  if (metric == "weft_span_seconds") set_quantile(&span, labels["quantile"], value);
}

std::string time_text(double seconds) {
  return duration_text(static_cast<std::uint64_t>(std::llround(seconds * 1e9)));
}

}  // namespace

LivePage parse_live_page(std::string_view text) {
  LivePage page;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    take_line(text.substr(0, end), &page);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return page;
}

std::string live_text(const LivePage& before, const LivePage& now,
                      double seconds, std::size_t rows, std::size_t width) {
  struct Row {
    const std::string* name;
    const LivePage::Span* span;
    double rate;
    double share;
  };
  std::vector<Row> all;
  for (const auto& [name, span] : now.spans) {
    const auto old = before.spans.find(name);
    const LivePage::Span none;
    const LivePage::Span& was = old == before.spans.end() ? none : old->second;
    // A session that began anew counts from 0.
    const std::uint64_t count =
        span.count >= was.count ? span.count - was.count : span.count;
    all.push_back({&name, &span, static_cast<double>(count) / seconds,
                   std::max(0.0, span.total - was.total) / seconds});
  }
  std::sort(all.begin(), all.end(), [](const Row& a, const Row& b) {
    return a.share != b.share ? a.share > b.share : *a.name < *b.name;
  });
  std::string text = fmt::format(
      "records {}   dropped {}   over budget {}   names {}\n",
      count_text(now.delivered), count_text(now.dropped),
      count_text(now.over_budget), count_text(now.spans.size()));
  TextTable table({{"span", Align::kLeft},
                   {"per s"},
                   {"busy"},
                   {"p50"},
                   {"p99"},
                   {"p99.9"},
                   {"max"},
                   {"count"}});
  for (std::size_t i = 0; i < std::min(rows, all.size()); ++i) {
    const Row& row = all[i];
    table.add_row({printable(*row.name), fmt::format("{:.0f}", row.rate),
                   fmt::format("{:.2f}", row.share), time_text(row.span->p50),
                   time_text(row.span->p99), time_text(row.span->p999),
                   time_text(row.span->greatest), count_text(row.span->count)});
  }
  if (table.empty())
    return text + "no spans yet, or live figures are off (WEFT_LIVE=1)\n";
  return text + table.text(width);
}

}  // namespace weft::tools
