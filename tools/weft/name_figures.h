// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_NAME_FIGURES_H_
#define WEFT_TOOLS_WEFT_NAME_FIGURES_H_

#include <map>
#include <optional>
#include <string>

#include "duration_histogram.h"

namespace weft::tools {

// How long the spans of each name took. Device work counts under its name with
// " [device]" behind it.
using NameFigures = std::map<std::string, DurationHistogram>;

// Of any trace that weft reads. Empty if the file cannot be read, which it then
// has said why.
std::optional<NameFigures> name_figures(const std::string& path);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_NAME_FIGURES_H_
