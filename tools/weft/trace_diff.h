// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_TRACE_DIFF_H_
#define WEFT_TOOLS_WEFT_TRACE_DIFF_H_

// Two traces side by side, name by name.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "name_figures.h"

namespace weft::tools {

// The figures that are compared.
enum class DiffFigure : std::uint8_t { kCount, kTotal, kP50, kP99 };
inline constexpr DiffFigure kDiffFigures[] = {
    DiffFigure::kCount, DiffFigure::kTotal, DiffFigure::kP50, DiffFigure::kP99};
const char* figure_text(DiffFigure figure);

struct DiffRow {
  std::string name;
  std::uint64_t before[4] = {};  // by DiffFigure; 0 without spans
  std::uint64_t after[4] = {};
  bool exceeds = false;

  std::uint64_t count_before() const noexcept { return before[0]; }
  std::uint64_t count_after() const noexcept { return after[0]; }
};

struct DiffRules {
  std::vector<DiffFigure> judged;  // none: nothing exceeds
  double threshold_percent = 0;    // growth above it exceeds
  std::uint64_t min_count = 1;     // in both traces, or nothing is judged
  std::uint64_t min_growth_ns = 0;  // smaller growth of a time never exceeds
};

// Largest change of the total first.
std::vector<DiffRow> compare(const NameFigures& before,
                             const NameFigures& after, const DiffRules& rules);

std::string diff_text(const std::vector<DiffRow>& rows, std::size_t width);
std::string diff_csv(const std::vector<DiffRow>& rows);
std::string diff_json(const std::vector<DiffRow>& rows);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_TRACE_DIFF_H_
