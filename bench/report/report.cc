// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "weft/weft.h"

namespace weft::bench {
namespace {

struct Line {
  std::string metric;
  double value;
  double budget;
  bool at_least;  // the budget is a lower bound
  std::string note;
  bool ok() const { return at_least ? value >= budget : value <= budget; }
};

std::vector<Line> lines;

}  // namespace

void report(std::string metric, double value, double budget,
            std::string note, bool at_least) {
  lines.push_back({std::move(metric), value, budget, at_least, std::move(note)});
  const Line& line = lines.back();
  std::printf("%s\t%.4g\t%s%.4g\t%s%s%s\n", line.metric.c_str(), line.value,
              at_least ? ">= " : "<= ", line.budget, line.ok() ? "ok" : "OVER",
              line.note.empty() ? "" : "\t", line.note.c_str());
  std::fflush(stdout);
}

void inform(const std::string& metric, double value, const std::string& note) {
  std::printf("%s\t%.4g\t-\t-\t%s\n", metric.c_str(), value, note.c_str());
  std::fflush(stdout);
}

void write_json(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) {
    std::perror(path.c_str());
    std::exit(1);
  }
  std::fputs("[\n", file);
  for (std::size_t i = 0; i < lines.size(); ++i)
    std::fprintf(file,
                 "  {\"metric\": \"%s\", \"value\": %.6g, \"budget\": %.6g, "
                 "\"ok\": %s, \"note\": \"%s\"}%s\n",
                 lines[i].metric.c_str(), lines[i].value, lines[i].budget,
                 lines[i].ok() ? "true" : "false", lines[i].note.c_str(),
                 i + 1 < lines.size() ? "," : "");
  std::fputs("]\n", file);
  std::fclose(file);
}

bool all_within_budget() {
  return std::all_of(lines.begin(), lines.end(),
                     [](const Line& line) { return line.ok(); });
}

void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

std::string path_in(const Options& options, const char* name) {
  return options.directory + "/" + name;
}

__attribute__((noinline)) void spans(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    WEFT_SPAN("span");
    asm volatile("" ::: "memory");
  }
}

__attribute__((noinline)) void spans_with_argument(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    WEFT_SPAN("span_with_argument", {"i", i});
    asm volatile("" ::: "memory");
  }
}

double clean(const std::vector<double>& values) {
  return quantile(values, 0.05);
}

double ratio(const std::vector<double>& values,
             const std::vector<double>& floor) {
  return clean(values) / clean(floor);
}

std::string beside(const std::vector<double>& values,
                   const std::vector<double>& floor) {
  char text[128];
  std::snprintf(text, sizeof text, "%.1f ns, floor %.1f ns; medians %.1f, %.1f",
                clean(values), clean(floor), median(values), median(floor));
  return text;
}

}  // namespace weft::bench
