// SPDX-License-Identifier: Apache-2.0
// What Kineto's own tests say of its traces, found again in weft's rows.
//
// expected.json has those assertions as text: an expression of Kineto's
// TensorBoard plug-in and its value. Every one is answered from imported rows
// and averages, or has a rule below that says why it cannot be.

#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "corpus_files.h"
#include "plugin_profile.h"

namespace weft {
namespace {

using Json = simdjson::dom::element;
using testing_support::Costs;
using testing_support::data_folder;
using testing_support::kDataLoader;
using testing_support::KernelGroup;
using testing_support::kKernel;
using testing_support::kMemcpy;
using testing_support::kMemset;
using testing_support::kRuntime;
using testing_support::PluginProfile;
using testing_support::starts_with;
using testing_support::sum_of;
using testing_support::us;
using Answer = std::variant<double, std::string>;

// Why an assertion is not compared.
const char* rule_for(std::string_view expression,
                     const std::optional<Json>& value) {
  for (const char* part : {"occupancy", "blocks_per_sm", "sm_efficiency"}) {
    if (expression.find(part) != expression.npos) {
      return "from arguments of kernels that weft's tables have no column for";
    }
  }
  std::string_view text;
  if (value && value->get(text) == simdjson::SUCCESS &&
      text.find("expected") != text.npos) {
    return "the value stands in the plug-in's test, not in the file";
  }
  return nullptr;
}

// The text between two others, or all behind the first.
std::string between(std::string_view text, std::string_view before,
                    std::string_view after) {
  const std::size_t found = text.find(before);
  if (found == text.npos) return "";
  text.remove_prefix(found + before.size());
  return std::string(text.substr(0, text.find(after)));
}

double figure_of(const FunctionEventAvg& row, std::string_view figure) {
  if (figure == "calls") return static_cast<double>(row.count);
  if (figure == "host_duration") return us(row.cpu_time_total_ns);
  if (figure == "self_host_duration") return us(row.self_cpu_time_total_ns);
  if (figure == "device_duration") return us(row.device_time_total_ns.sum());
  if (figure == "self_device_duration") {
    return us(row.self_device_time_total_ns.sum());
  }
  return std::nan("");
}

double figure_of(const std::vector<double>& values, std::string_view figure) {
  if (figure == "count" || figure == "calls") {
    return static_cast<double>(values.size());
  }
  if (figure == "sum" || figure == "total_duration") return sum_of(values);
  if (figure == "mean") {
    return sum_of(values) / static_cast<double>(values.size());
  }
  if (starts_with(figure, "min")) {
    return *std::min_element(values.begin(), values.end());
  }
  return starts_with(figure, "max")
             ? *std::max_element(values.begin(), values.end())
             : std::nan("");
}

double yes(bool is) {
  return is ? 1 : 0;
}
template <class Container>
double size_of(const Container& container) {
  return static_cast<double>(container.size());
}

// Answers the assertions of one file, which come in the order of its steps.
class Answers {
 public:
  explicit Answers(const ChromeImport& import) : profile_(import) {}

  // None: nobody knows the expression.
  std::optional<Answer> of(std::string_view expression, std::string_view when) {
    const std::map<std::string_view, Answer> fixed = fixed_answers();
    const auto found = fixed.find(expression);
    if (found != fixed.end()) return found->second;
    if (starts_with(expression, "step.costs[")) return step_cost(expression);
    // Two loops end in this word, over kernels and then over their names.
    if (expression == "count") {
      return counted_++ == 0 ? size_of(profile_.kernel_groups())
                             : size_of(profile_.kernels());
    }
    if (starts_with(expression, "op_agg.")) {
      return operation(between(when, "op_agg.name == '", "'"),
                       expression.substr(7));
    }
    if (starts_with(expression, "profile.op_list_groupby_name[0].")) {
      return figure_of(profile_.operations().at(0),
                       between(expression, "[0].", " "));
    }
    if (starts_with(expression, "profile.kernel_stat.iloc[0]")) {
      return figure_of(profile_.kernels().begin()->second,
                       between(expression, "['", "'"));
    }
    if (starts_with(expression, "profile.kernel_list_groupby_name_op[0].")) {
      const KernelGroup& first = profile_.kernel_groups().at(0);
      const std::string field = between(expression, "[0].", " ");
      if (field == "name") return first.name;
      if (field == "op_name") return first.operation;
      return figure_of(first.us, field);
    }
    return std::nullopt;
  }

 private:
  std::map<std::string_view, Answer> fixed_answers() const {
    double total = 0;
    for (const Costs& step : profile_.steps()) total += step.at("Total");
    const double operations = size_of(profile_.operations());
    const bool moves = profile_.has(kMemcpy) || profile_.has(kMemset);
    return {
        {"profile.has_runtime", yes(profile_.has(kRuntime))},
        {"profile.has_kernel", yes(profile_.has(kKernel))},
        {"profile.has_memcpy_or_memset", yes(moves)},
        {"not profile.has_memcpy_or_memset", yes(!moves)},
        {"profile0.has_communication", yes(profile_.has_named("nccl:"))},
        {"datapipe_range is not None", yes(profile_.has(kDataLoader))},
        {"datapipe_op is None", yes(operations == 0)},
        {"len(profile.steps_costs)", size_of(profile_.steps())},
        {"profile.avg_costs.costs[ProfileRole.Total]",
         total / size_of(profile_.steps())},
        {"len(profile.op_list_groupby_name)", operations},
        {"len(profile.op_list_groupby_name_input)",
         size_of(profile_.operations(true))},
        {"op_count", operations},
        {"len(profile.kernel_list_groupby_name_op)",
         size_of(profile_.kernel_groups())},
        {"profile.kernel_stat.shape[0]", size_of(profile_.kernels())},
        {"len(profile.gpu_metrics_parser.gpu_ids)",
         size_of(profile_.devices())},
        {"profile.gpu_metrics_parser.gpu_utilization[1]",
         yes(profile_.devices() == std::set<int>{1}) * profile_.utilization()},
    };
  }

  // A role that comes again is of the next step.
  std::optional<Answer> step_cost(std::string_view expression) {
    const std::string role = between(expression, "ProfileRole.", "]");
    if (!asked_.insert(role).second) {
      asked_ = {role};
      ++step_;
    }
    if (step_ >= profile_.steps().size()) return std::nullopt;
    return profile_.steps()[step_].at(role);
  }

  std::optional<Answer> operation(const std::string& name,
                                  std::string_view figure) const {
    for (const FunctionEventAvg& row : profile_.operations()) {
      if (row.key == name) return figure_of(row, figure);
    }
    return std::nullopt;
  }

  PluginProfile profile_;
  std::size_t step_ = 0;
  std::set<std::string> asked_;
  int counted_ = 0;
};

// An assertion without a value is one of truth.
void expect_answer(const Answer& answer, const std::optional<Json>& published) {
  if (!published) {
    EXPECT_EQ(std::get<double>(answer), 1);
    return;
  }
  std::string_view text;
  if (published->get(text) == simdjson::SUCCESS) {
    EXPECT_EQ(std::get<std::string>(answer), text);
    return;
  }
  double number = 0;
  ASSERT_EQ(published->get(number), simdjson::SUCCESS);
  EXPECT_DOUBLE_EQ(std::get<double>(answer), number);
}

TEST(PublishedFigures, KinetosAssertionsHoldOfWeftsRows) {
  WEFT_NEED_CORPUS();
  simdjson::dom::parser parser;
  const Json file = parser.load((data_folder() / "expected.json").string());
  std::size_t compared = 0;
  std::size_t excused = 0;
  for (auto [name, expected] : simdjson::dom::object(file["files"])) {
    simdjson::dom::array checks;
    if (expected["published_checks"].get(checks) != simdjson::SUCCESS) continue;
    SCOPED_TRACE(std::string(name));
    const auto import =
        import_chrome_trace((data_folder() / std::string(name)).string());
    ASSERT_TRUE(import.ok()) << import.error().message;
    Answers answers(*import);
    for (const Json check : checks) {
      const std::string expression{std::string_view(check["expr"])};
      SCOPED_TRACE(expression);
      std::optional<Json> value;
      if (Json found; check["value"].get(found) == simdjson::SUCCESS) {
        value = found;
      }
      if (rule_for(expression, value) != nullptr) {
        ++excused;
        continue;
      }
      std::string_view when;
      if (check["when"].get(when) != simdjson::SUCCESS) when = {};
      const auto answer = answers.of(expression, when);
      ASSERT_TRUE(answer) << "nothing answers this";
      expect_answer(*answer, value);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 183u);
  EXPECT_EQ(excused, 16u);
}

}  // namespace
}  // namespace weft
