// SPDX-License-Identifier: Apache-2.0
// Every recorded call of PyTorch 2.2.2, one test a file. Failures must be
// failures here too, with the code that stands for their kind.

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>
#include <variant>

#include "golden_expect.h"
#include "golden_input.h"
#include "nvprof_fixture.h"
#include "weft/profile/enforce_unique.h"
#include "weft/profile/nvprof.h"
#include "weft/profile/reference.h"
#include "weft/profile/schedule.h"
#include "weft/profile/scheduled_steps.h"
#include "weft/profile/step_tracker.h"

namespace weft::golden {
namespace {

std::string printed(Json recorded) {
  return std::string(std::string_view(recorded));
}

// Whether the call succeeded as it should; if so its result can be compared.
template <class T>
bool as_recorded(Json call, const Result<T>& result,
                 std::set<ErrorCode> codes = {ErrorCode::kUnsupported,
                                              ErrorCode::kInvalidArgument}) {
  if (member(call, "error")) {
    EXPECT_FALSE(result.ok()) << "recorded: " << text(call, "error");
    if (!result.ok()) {
      EXPECT_EQ(codes.count(result.error().code), 1u) << result.error().message;
    }
    return false;
  }
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result.ok();
}

// Names of the printed rows of a table without stacks, top to bottom.
std::vector<std::string> row_names(const std::string& table) {
  std::vector<std::string> names;
  std::istringstream lines(table);
  std::string line;
  for (int separators = 0; std::getline(lines, line);) {
    if (line.rfind("--", 0) == 0) {
      ++separators;
    } else if (separators == 2) {
      std::string name;
      std::istringstream(line) >> name;
      names.push_back(name);
    }
  }
  return names;
}

// The reference swaps the cells below these two headings; weft does not, so
// only what stands left of them can be compared.
bool has_swapped_columns(const std::string& table) {
  const std::size_t source = table.find("Source Location");
  return source != std::string::npos &&
         table.find("FLOPs", source) != std::string::npos;
}

void expect_equal_left_of_source(const std::string& table,
                                 const std::string& recorded) {
  std::istringstream actual(table);
  std::istringstream expected(recorded);
  const std::size_t heading = recorded.find("Source Location");
  const std::size_t width = heading - recorded.rfind('\n', heading) - 1;
  std::string a;
  std::string e;
  while (std::getline(expected, e)) {
    ASSERT_TRUE(std::getline(actual, a));
    EXPECT_EQ(a.substr(0, width), e.substr(0, width));
  }
  EXPECT_FALSE(std::getline(actual, a));
}

// 999.9996 us cannot be told from 1 ms in whole nanoseconds.
std::string in_whole_nanoseconds(std::string recorded) {
  const std::string fraction = "  1000.000us";
  const std::string whole = "     1.000ms";
  for (std::size_t at = recorded.find(fraction); at != std::string::npos;
       at = recorded.find(fraction, at)) {
    recorded.replace(at, fraction.size(), whole);
  }
  return recorded;
}

void expect_table(Json call, const Result<std::string>& table) {
  if (!as_recorded(call, table)) return;
  if (const auto names = member(call, "row_names")) {
    std::vector<std::string> expected;
    for (Json name : simdjson::dom::array(*names)) {
      expected.push_back(printed(name));
    }
    EXPECT_EQ(row_names(*table), expected);
    return;
  }
  const std::string recorded = printed(call["output"]);
  if (has_swapped_columns(recorded)) {
    expect_equal_left_of_source(*table, recorded);
  } else {
    EXPECT_EQ(*table, in_whole_nanoseconds(recorded));
  }
}

Result<FunctionEventAvg> merged(Json call, const KeyAverages& averages) {
  const Json options = call["options"];
  FunctionEventAvg into = *averages.find(text(options, "into"));
  for (Json name : simdjson::dom::array(options["add"])) {
    // An average may be added to itself, as it has become.
    const bool itself = printed(name) == into.key;
    const Result<void> added =
        into.merge(itself ? into : *averages.find(printed(name)));
    if (!added.ok()) return added.error();
  }
  return into;
}

// Calls on lists of events.
void check_list_call(Json file, Json call) {
  const EventList list = read_list(file, call, Rules::kReference);
  const std::string what = text(call, "call");
  const auto options = read_table_options(call);
  const Error no_such_key{ErrorCode::kInvalidArgument, "sort key"};
  if (what == "events") {
    expect_events(call["output"], list);
  } else if (what == "table") {
    expect_table(call, options ? reference::table(list, *options)
                               : Result<std::string>(no_such_key));
  } else if (what == "key_averages_table") {
    const KeyAverages averages = list.key_averages(read_key_options(call));
    expect_table(call, options ? reference::table(averages, *options)
                               : Result<std::string>(no_such_key));
  } else if (what == "key_averages") {
    const auto averages = reference::key_averages(list, read_key_options(call));
    if (as_recorded(call, averages)) expect_averages(call["output"], *averages);
  } else if (what == "total_average") {
    expect_average(call["output"], list.total_average(), list.options());
  } else if (what == "averages_total_average") {
    expect_average(call["output"], list.key_averages().total_average(),
                   list.options());
  } else if (what == "merge_average") {
    const auto average = merged(call, list.key_averages());
    if (as_recorded(call, average)) {
      expect_average(call["output"], *average, list.options());
    }
  } else if (what == "self_cpu_time_total") {
    EXPECT_NEAR(static_cast<double>(list.self_cpu_time_total_ns()),
                double(call["output"]) * 1000, 0.5);
  } else if (what == "export_stacks") {
    const auto call_options = member(call, "options");
    const auto metric = parse_stack_metric(
        call_options ? text(*call_options, "metric") : "self_cpu_time_total");
    if (!as_recorded(call, metric)) return;
    std::ostringstream out;
    list.write_stacks(out, {.metric = *metric});
    EXPECT_EQ(out.str(), printed(call["output"]));
  } else if (what == "export_chrome_trace") {
    const auto trace = reference::chrome_trace(list);
    if (as_recorded(call, trace)) {
      EXPECT_EQ(*trace, printed(call["output"]));
    }
  } else {
    FAIL() << "no such call: " << what;
  }
}

char letter(ProfilerAction action) {
  return "NWRS"[static_cast<std::size_t>(action)];
}

ScheduleOptions read_schedule(Json options) {
  ScheduleOptions schedule;
  schedule.wait = integer(options, "wait", 0);
  schedule.warmup = integer(options, "warmup", 0);
  schedule.active = integer(options, "active", 1);
  schedule.repeat = integer(options, "repeat", 0);
  schedule.skip_first = integer(options, "skip_first", 0);
  return schedule;
}

void check_schedule_call(Json call) {
  if (text(call, "call") == "schedule_step") {
    // Asked for a negative step, which the type rules out.
    static_assert(std::is_invocable_v<Schedule, std::uint64_t>,
                  "steps are unsigned");
    EXPECT_LT(integer(call["options"], "step", 0), 0);
    return;
  }
  const auto schedule = Schedule::create(read_schedule(call["options"]));
  if (!as_recorded(call, schedule)) return;
  std::string actions;
  for (std::uint64_t step = 0; step < 20; ++step) {
    actions += letter((*schedule)(step));
  }
  EXPECT_EQ(actions, printed(call["output"]));
}

std::string effect_text(const StepEffect& effect) {
  const std::string number = std::to_string(effect.step);
  switch (effect.kind) {
    case StepEffect::Kind::kPrepare:
      return "prepare";
    case StepEffect::Kind::kStart:
      return "start";
    case StepEffect::Kind::kStop:
      return "stop";
    case StepEffect::Kind::kReady:
      return "ready(step_num=" + number + ")";
    case StepEffect::Kind::kSignal:
      return "signal";
    case StepEffect::Kind::kBeginStep:
      return "begin ProfilerStep#" + number;
    case StepEffect::Kind::kEndStep:
      return "end ProfilerStep#" + number;
    case StepEffect::Kind::kWarn:
      return "warning";
  }
  return "?";
}

ScheduledSteps read_steps(Json options) {
  if (const auto actions = member(options, "actions")) {
    return ScheduledSteps(
        [fixed = printed(*actions)](std::uint64_t step) {
          const std::string letters = "NWRS";
          return step < fixed.size()
                     ? static_cast<ProfilerAction>(letters.find(fixed[step]))
                     : ProfilerAction::kNone;
        },
        Rules::kReference);
  }
  const auto schedule = member(options, "schedule");
  if (!schedule) return ScheduledSteps();
  return ScheduledSteps(Schedule::create(read_schedule(*schedule)).value(),
                        Rules::kReference);
}

void check_scheduled_session(Json call) {
  ScheduledSteps steps = read_steps(call["options"]);
  for (Json entry : simdjson::dom::array(call["output"])) {
    const std::string made = printed(entry.at(0));
    const std::vector<StepEffect> effects = made == "start"  ? steps.start()
                                            : made == "step" ? steps.step()
                                                             : steps.stop();
    // Recordings list warnings last, whenever they came.
    std::vector<std::string> actual;
    std::vector<std::string> warnings;
    for (const StepEffect& effect : effects) {
      auto& list = effect.kind == StepEffect::Kind::kWarn ? warnings : actual;
      list.push_back(effect_text(effect));
    }
    actual.insert(actual.end(), warnings.begin(), warnings.end());
    std::vector<std::string> expected;
    for (Json effect : simdjson::dom::array(entry.at(1))) {
      expected.push_back(printed(effect));
    }
    EXPECT_EQ(actual, expected) << made;
  }
}

void check_step_tracker(Json call) {
  StepTracker tracker;
  const simdjson::dom::array outputs = call["output"];
  auto output = outputs.begin();
  for (Json entry : simdjson::dom::array(call["options"]["sequence"])) {
    const std::string operation = printed(entry.at(0));
    const Json recorded = *output;
    StepTracker::Step step{tracker.current(), 0, false};
    if (operation == "current") {
      EXPECT_EQ(tracker.current(), std::int64_t(recorded.at(0)));
    } else if (operation == "init") {
      tracker.init(printed(entry.at(1)));
    } else if (operation == "erase") {
      EXPECT_EQ(tracker.erase(printed(entry.at(1))), bool(recorded.at(0)));
    } else {
      step = tracker.increment(printed(entry.at(1)));
      EXPECT_EQ(step.current, std::int64_t(recorded.at(0)));
    }
    EXPECT_EQ(step.signals, std::uint64_t(recorded.at(1)));
    EXPECT_EQ(step.jumped, std::int64_t(recorded.at(2)) != 0);
    ++output;
  }
}

void write_database(Json database, testing_support::NvprofFile& file) {
  const auto number = [](Json row, std::size_t i) {
    return std::int64_t(row.at(i));
  };
  file.create_tables();
  file.run("BEGIN");
  for (Json row : simdjson::dom::array(database["strings"])) {
    file.add_string(number(row, 0), printed(row.at(1)));
  }
  for (Json row : simdjson::dom::array(database["markers"])) {
    file.add_marker(number(row, 0), number(row, 1), number(row, 2));
  }
  for (Json row : simdjson::dom::array(database["runtime"])) {
    file.add_call(number(row, 0), number(row, 1), number(row, 2),
                  number(row, 3), number(row, 4));
  }
  for (Json row : simdjson::dom::array(database["kernels"])) {
    file.add_kernel(number(row, 0), number(row, 1), number(row, 2),
                    number(row, 3));
  }
  file.run("COMMIT");
  file.close();
}

void expect_imported(Json recorded, const EventList& list) {
  const simdjson::dom::array rows(recorded);
  ASSERT_EQ(list.size(), rows.size());
  std::size_t i = 0;
  for (Json row : rows) {
    const FunctionEvent& event = list[i++];
    EXPECT_EQ(event.id, integer(row, "id", -1));
    EXPECT_EQ(event.name, text(row, "name"));
    EXPECT_EQ(event.node_id, integer(row, "node_id", -1));
    EXPECT_EQ(event.thread, integer(row, "thread", -1));
    EXPECT_EQ(event.start_ns, to_ns(double(row["start"])));
    EXPECT_EQ(event.end_ns, to_ns(double(row["end"])));
    const simdjson::dom::array kernels = row["kernels"];
    ASSERT_EQ(event.kernels.size(), kernels.size());
    std::size_t k = 0;
    for (Json kernel : kernels) {
      EXPECT_EQ(event.kernels[k].name,
                std::to_string(std::int64_t(kernel.at(0))));
      EXPECT_EQ(event.kernels[k].device_index, std::int64_t(kernel.at(1)));
      EXPECT_EQ(event.kernels[k].duration_ns, to_ns(double(kernel.at(2))));
      ++k;
    }
  }
}

void check_nvprof_call(Json file, Json call) {
  const auto index = std::size_t(std::uint64_t(call["database"]));
  testing_support::NvprofFile database("golden.nvprof");
  write_database(simdjson::dom::array(file["input"]).at(index), database);
  const auto list = load_nvprof(database.path(), {.rules = Rules::kReference});
  const std::string what = text(call, "call");
  if (what == "load_nvprof") {
    const std::string error = text(call, "error");
    const ErrorCode code =
        error == "assertion" ? ErrorCode::kUnsupported : ErrorCode::kCorrupt;
    if (as_recorded(call, list, {code})) expect_imported(call["output"], *list);
    return;
  }
  ASSERT_TRUE(list.ok()) << list.error().message;
  if (what == "table") {
    expect_table(call, reference::table(*list));
  } else {
    ASSERT_EQ(what, "key_averages");
    EXPECT_FALSE(as_recorded(call, reference::key_averages(*list)));
  }
}

void check_unique_call(Json call) {
  using Part = std::variant<std::int64_t, std::string>;
  EnforceUnique<std::vector<Part>> unique;
  const simdjson::dom::array outputs = call["output"];
  auto output = outputs.begin();
  for (Json key : simdjson::dom::array(call["options"]["keys"])) {
    std::vector<Part> parts;
    for (Json part : simdjson::dom::array(key)) {
      if (part.is_string()) {
        parts.emplace_back(printed(part));
      } else {
        parts.emplace_back(std::int64_t(part));
      }
    }
    EXPECT_EQ(unique.see(parts), printed(*output) == "ok");
    ++output;
  }
}

void expect_record_event(Json recorded, const FunctionEvent& event) {
  SCOPED_TRACE(event.name);
  EXPECT_EQ(event.id, integer(recorded, "id", -1));
  EXPECT_EQ(event.name, text(recorded, "name"));
  EXPECT_EQ(event.thread, integer(recorded, "thread", -1));
  EXPECT_EQ(event.node_id, integer(recorded, "node_id", -1));
  EXPECT_EQ(event.start_ns, to_ns(double(recorded["start_us"])));
  EXPECT_EQ(event.end_ns, to_ns(double(recorded["end_us"])));
  EXPECT_EQ(event.memory.cpu_bytes, integer(recorded, "cpu_memory_usage", 0));
  EXPECT_EQ(event.memory.device_bytes[DeviceFamily::kCuda],
            integer(recorded, "cuda_memory_usage", 0));
  const auto flag = [&](const char* key, bool missing) {
    const auto value = member(recorded, key);
    return value ? bool(*value) : missing;
  };
  EXPECT_EQ(event.is_legacy, flag("is_legacy", false));
  EXPECT_EQ(event.is_async, flag("async", false));
  EXPECT_EQ(event.is_remote, flag("remote", false));
  EXPECT_EQ(event.trace_name.has_value(), flag("in_trace", true));
  Json flops;
  const bool missing_flops =
      recorded.at_key("flops").get(flops) == simdjson::SUCCESS &&
      flops.is_null();
  EXPECT_EQ(event.flops.has_value(), !missing_flops);
}

void expect_kernels(Json recorded, const FunctionEvent& event, bool as_2017) {
  const simdjson::dom::array kernels = recorded["kernels"];
  ASSERT_EQ(event.kernels.size(), kernels.size());
  std::size_t i = 0;
  for (Json row : kernels) {
    const Kernel& kernel = event.kernels[i++];
    EXPECT_EQ(kernel.name, printed(row.at(0)));
    if (as_2017) {
      ASSERT_TRUE(kernel.start_ns);
      EXPECT_EQ(*kernel.start_ns, to_ns(double(row.at(1))));
      EXPECT_EQ(*kernel.start_ns + kernel.duration_ns,
                to_ns(double(row.at(2))));
    } else {
      EXPECT_EQ(kernel.device_index, std::int64_t(row.at(1)));
      EXPECT_EQ(kernel.duration_ns, to_ns(double(row.at(2))));
    }
  }
}

void check_records_call(Json file, Json call, bool as_2017) {
  const auto index = std::size_t(std::uint64_t(call["case"]));
  const RecordLists lists =
      read_record_lists(simdjson::dom::array(file["input"]).at(index));
  const auto parsed = as_2017
                          ? parse_record_lists_2017(lists, Rules::kReference)
                          : parse_record_lists(lists, Rules::kReference);
  if (!as_recorded(call, parsed, {ErrorCode::kCorrupt})) return;
  if (text(call, "call") == "export_chrome_trace") {
    const EventList list(parsed->events, {.rules = Rules::kReference});
    std::ostringstream out;
    list.write_chrome_trace(out, ChromeForm::kReference2017);
    simdjson::dom::parser parser;
    EXPECT_EQ(simdjson::minify(parser.parse(out.str()).value()),
              simdjson::minify(Json(call["output"])));
    return;
  }
  const simdjson::dom::array rows = call["output"];
  ASSERT_EQ(parsed->events.size(), rows.size());
  std::size_t i = 0;
  for (Json row : rows) {
    const FunctionEvent& event = parsed->events[i++];
    expect_record_event(row, event);
    expect_kernels(row, event, as_2017);
  }
}

void check_call(Json file, Json call) {
  const std::string kind = text(file, "kind");
  if (kind == "events" || kind == "raw") {
    check_list_call(file, call);
  } else if (kind == "schedule") {
    check_schedule_call(call);
  } else if (kind == "scheduled_session") {
    check_scheduled_session(call);
  } else if (kind == "step_tracker") {
    check_step_tracker(call);
  } else if (kind == "nvprof") {
    check_nvprof_call(file, call);
  } else if (kind == "enforce_unique") {
    check_unique_call(call);
  } else if (kind == "records_2017" || kind == "records_legacy") {
    check_records_call(file, call, kind == "records_2017");
  } else {
    FAIL() << "no such kind: " << kind;
  }
}

class ProfileGolden : public testing::TestWithParam<const char*> {};

TEST_P(ProfileGolden, AnswersAsRecorded) {
  const auto path = golden_folder() / (std::string(GetParam()) + ".json");
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << "no " << path << "; set WEFT_TEST_GOLDEN";
  }
  simdjson::dom::parser parser;
  const Json file = parser.load(path.string());
  std::size_t number = 0;
  for (Json call : simdjson::dom::array(file["calls"])) {
    SCOPED_TRACE("call " + std::to_string(number++) + ", " +
                 simdjson::minify(Json(call["call"])) +
                 (member(call, "options")
                      ? simdjson::minify(Json(call["options"]))
                      : ""));
    check_call(file, call);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Pytorch22, ProfileGolden,
    testing::Values(
        "01_empty", "02_one_event", "03_nested", "04_siblings_touching",
        "05_equal_intervals", "06_zero_length", "07_partial_overlap",
        "08_two_threads", "09_node_ids", "10_negative_duration",
        "11_duplicate_removal", "12_async", "13_kernels_linked",
        "14_kernels_with_children", "15_device_rows_only",
        "16_kernels_without_device_rows", "17_legacy_device_time",
        "18_custom_device", "19_memory_records", "20_memory_units",
        "21_device_memory_columns", "22_flops_units", "23_stacks",
        "24_stacks_nested_device", "25_stacks_with_flops", "26_shapes",
        "27_long_names", "28_row_limit", "29_sort_keys", "30_header_top_level",
        "31_time_units", "32_zero_totals", "33_unicode_names",
        "34_backward_stacks", "35_names", "36_order", "37_correlation_clash",
        "38_chrome_list", "39_chrome_list_memory_only", "40_averages",
        "41_service_mix", "42_schedule", "43_scheduled_session",
        "44_step_tracker", "45_nvprof_import", "46_enforce_unique",
        "47_records_2017", "48_records_legacy"),
    [](const testing::TestParamInfo<const char*>& test) {
      return "File" + std::string(test.param);
    });

}  // namespace
}  // namespace weft::golden
