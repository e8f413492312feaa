// SPDX-License-Identifier: Apache-2.0
#include "trace_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "csv_field.h"
#include "json_writer.h"
#include "quantity_text.h"
#include "text_table.h"

namespace weft::tools {
namespace {

std::uint64_t figure_of(const DurationHistogram& durations, DiffFigure figure) {
  switch (figure) {
    case DiffFigure::kCount: return durations.count();
    case DiffFigure::kTotal: return durations.sum();
    case DiffFigure::kP50: return durations.percentile(5000);
    case DiffFigure::kP99: return durations.percentile(9900);
  }
  return 0;
}

void take(const NameFigures& figures, const std::string& name,
          std::uint64_t* out) {
  const auto found = figures.find(name);
  if (found == figures.end()) return;
  for (const DiffFigure figure : kDiffFigures)
    out[static_cast<std::size_t>(figure)] = figure_of(found->second, figure);
}

bool exceeds(const DiffRow& row, const DiffRules& rules) {
  if (row.count_before() < rules.min_count ||
      row.count_after() < rules.min_count)
    return false;
  return std::any_of(
      rules.judged.begin(), rules.judged.end(), [&](DiffFigure figure) {
        const auto i = static_cast<std::size_t>(figure);
        if (row.after[i] <= row.before[i]) return false;
        const std::uint64_t growth = row.after[i] - row.before[i];
        if (figure != DiffFigure::kCount && growth < rules.min_growth_ns)
          return false;
        return static_cast<double>(growth) * 100 >
               static_cast<double>(row.before[i]) * rules.threshold_percent;
      });
}

std::uint64_t change_of_total(const DiffRow& row) {
  const auto i = static_cast<std::size_t>(DiffFigure::kTotal);
  return std::max(row.before[i], row.after[i]) -
         std::min(row.before[i], row.after[i]);
}

std::string change_text(std::uint64_t before, std::uint64_t after) {
  if (before == after) return "=";
  if (before == 0) return "new";
  if (after == 0) return "gone";
  const double percent =
      100 * (static_cast<double>(after) / static_cast<double>(before) - 1);
  return fmt::format("{:+.1f}%", percent);
}

}  // namespace

const char* figure_text(DiffFigure figure) {
  switch (figure) {
    case DiffFigure::kCount: return "count";
    case DiffFigure::kTotal: return "total";
    case DiffFigure::kP50: return "p50";
    case DiffFigure::kP99: break;
  }
  return "p99";
}

std::vector<DiffRow> compare(const NameFigures& before,
                             const NameFigures& after,
                             const DiffRules& rules) {
  std::set<std::string> names;
  for (const auto& [name, durations] : before) names.insert(name);
  for (const auto& [name, durations] : after) names.insert(name);
  std::vector<DiffRow> rows;
  for (const std::string& name : names) {
    DiffRow& row = rows.emplace_back();
    row.name = name;
    take(before, name, row.before);
    take(after, name, row.after);
    row.exceeds = exceeds(row, rules);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const DiffRow& a, const DiffRow& b) {
                     return change_of_total(a) > change_of_total(b);
                   });
  return rows;
}

std::string diff_text(const std::vector<DiffRow>& rows, std::size_t width) {
  if (rows.empty()) return "no spans\n";
  TextTable table({{"span", Align::kLeft}, {"count"}, {"was"}, {"total"},
                   {"was"}, {"change"}, {"p50"}, {"was"}, {"change"}, {"p99"},
                   {"was"}, {"change"}, {"", Align::kLeft}});
  for (const DiffRow& row : rows) {
    std::vector<std::string> cells{printable(row.name),
                                   count_text(row.count_after()),
                                   count_text(row.count_before())};
    for (std::size_t i = 1; i < 4; ++i) {
      cells.push_back(duration_text(row.after[i]));
      cells.push_back(duration_text(row.before[i]));
      cells.push_back(change_text(row.before[i], row.after[i]));
    }
    cells.emplace_back(row.exceeds ? "EXCEEDS" : "");
    table.add_row(std::move(cells));
  }
  return table.text(width);
}

std::string diff_csv(const std::vector<DiffRow>& rows) {
  std::string out =
      "name,count_before,count_after,total_ns_before,total_ns_after,"
      "p50_ns_before,p50_ns_after,p99_ns_before,p99_ns_after,exceeds\r\n";
  for (const DiffRow& row : rows) {
    out += csv_field(row.name);
    for (std::size_t i = 0; i < 4; ++i)
      out += fmt::format(",{},{}", row.before[i], row.after[i]);
    out += row.exceeds ? ",1\r\n" : ",0\r\n";
  }
  return out;
}

std::string diff_json(const std::vector<DiffRow>& rows) {
  JsonWriter json;
  json.open_object();
  json.open_array("names");
  for (const DiffRow& row : rows) {
    json.open_object();
    json.member("name", row.name);
    for (const auto& [key, figures] :
         {std::pair{"before", row.before}, std::pair{"after", row.after}}) {
      json.open_object(key);
      json.member("count", figures[0]);
      json.member("total_ns", figures[1]);
      json.member("p50_ns", figures[2]);
      json.member("p99_ns", figures[3]);
      json.close();
    }
    json.member("exceeds", row.exceeds);
    json.close();
  }
  json.close();
  json.close();
  return json.take();
}

}  // namespace weft::tools
