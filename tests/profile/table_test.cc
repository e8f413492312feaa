// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <sstream>

#include "event_builder.h"
#include "weft/profile/quantity_text.h"
#include "weft/profile/reference.h"

namespace weft {
namespace {

using testing_support::async;
using testing_support::device_row;
using testing_support::range;
using testing_support::reference_rules;
using testing_support::us;
using testing_support::with_kernel;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The line whose first word is `name`.
std::string line_of(const std::string& table, const std::string& name) {
  for (const std::string& line : lines_of(table)) {
    std::string first;
    std::istringstream(line) >> first;
    if (first == name) return line;
  }
  return "";
}

// The sum of the numbers before "%" in the column with this heading.
double share_sum(const std::string& table, const std::string& heading) {
  double sum = 0;
  std::size_t end = std::string::npos;
  for (const std::string& line : lines_of(table)) {
    if (const std::size_t at = line.find(heading); at != std::string::npos) {
      end = at + heading.size();
    } else if (end != std::string::npos && line.size() > end &&
               line[end - 1] == '%') {
      const std::size_t begin = line.rfind(' ', end - 1);
      sum += std::stod(line.substr(begin, end - begin));
    }
  }
  return sum;
}

std::vector<FunctionEvent> worked_example() {
  return {range("step", 0, 1500),
          with_kernel(range("aten::mm", 100, 700), "gemm_k", 900),
          range("cudaLaunchKernel", 300, 350),
          with_kernel(range("aten::add", 800, 1000), "add_k", 120),
          range("cudaLaunchKernel", 850, 870),
          device_row("gemm_k", 400, 1300),
          device_row("add_k", 1350, 1470)};
}

TEST(Table, TV_TBL1_AveragesWithDeviceTime) {
  const EventList list(worked_example(), reference_rules());
  const auto table = reference::table(list.key_averages(),
                                      {.sort_by = SortKey::kSelfCudaTimeTotal});
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(*table,
            // clang-format off
"--------------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
"                Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg     Self CUDA   Self CUDA %    CUDA total  CUDA time avg    # of Calls  \n"
"--------------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
"            aten::mm        36.67%     550.000us        40.00%     600.000us     600.000us     900.000us        88.24%     900.000us     900.000us             1  \n"
"              gemm_k         0.00%       0.000us         0.00%       0.000us       0.000us     900.000us        88.24%     900.000us     900.000us             1  \n"
"           aten::add        12.00%     180.000us        13.33%     200.000us     200.000us     120.000us        11.76%     120.000us     120.000us             1  \n"
"               add_k         0.00%       0.000us         0.00%       0.000us       0.000us     120.000us        11.76%     120.000us     120.000us             1  \n"
"                step        46.67%     700.000us       100.00%       1.500ms       1.500ms       0.000us         0.00%       1.020ms       1.020ms             1  \n"
"    cudaLaunchKernel         4.67%      70.000us         4.67%      70.000us      35.000us       0.000us         0.00%       0.000us       0.000us             2  \n"
"--------------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
"Self CPU time total: 1.500ms\n"
"Self CUDA time total: 1.020ms\n"
            // clang-format on
  );
}

TEST(Table, TV_TBL2_MemoryAndAnAsyncRow) {
  FunctionEvent load = range("load", 0, 10);
  load.memory.cpu_bytes = 2048;
  FunctionEvent decode = range("decode", 2, 8);
  decode.memory.cpu_bytes = 1536;
  EventListOptions options = reference_rules();
  options.profile_memory = true;
  const EventList list({load, decode, async(range("fetch", 20, 50))}, options);
  const std::string expected =
      // clang-format off
"----------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
"      Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg       CPU Mem  Self CPU Mem    # of Calls  \n"
"----------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
"      load        40.00%       4.000us       100.00%      10.000us      10.000us       2.00 Kb         512 b             1  \n"
"    decode        60.00%       6.000us        60.00%       6.000us       6.000us       1.50 Kb       1.50 Kb             1  \n"
"     fetch         0.00%       0.000us             0      30.000us      30.000us           0 b           0 b             1  \n"
"----------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
"Self CPU time total: 10.000us\n";
  // clang-format on
  EXPECT_EQ(reference::table(list).value(), expected);
  EXPECT_EQ(reference::table(list.key_averages()).value(), expected);
}

TEST(QuantityText, TV_2_11_4_Times) {
  EXPECT_EQ(format_time(0), "0.000us");
  EXPECT_EQ(format_time(0.0005), "0.001us");
  EXPECT_EQ(format_time(999.9996), "1000.000us");
  EXPECT_EQ(format_time(1000), "1.000ms");
  EXPECT_EQ(format_time(1234.5), "1.234ms");
  EXPECT_EQ(format_time(999999.9), "1000.000ms");
  EXPECT_EQ(format_time(1.5e6), "1.500s");
  EXPECT_EQ(format_time(-2000), "-2000.000us");
  EXPECT_EQ(format_time(1500, TimeUnit::kSeconds), "0.002s");
  EXPECT_EQ(format_time(1500, TimeUnit::kMicroseconds), "1500.000us");
}

TEST(QuantityText, TV_2_11_4_Shares) {
  EXPECT_EQ(format_time_share(1, 3), "33.33%");
  EXPECT_EQ(format_time_share(-5, 20), "-25.00%");
  EXPECT_EQ(format_time_share(0, 0), "NaN");
  EXPECT_EQ(format_time_share(5, 0), "NaN");
}

TEST(QuantityText, TV_2_11_4_Memory) {
  EXPECT_EQ(format_memory_reference(1023), "1023 b");
  EXPECT_EQ(format_memory_reference(1536), "1.50 Kb");
  EXPECT_EQ(format_memory_reference(-1024), "-1.00 Kb");
  EXPECT_EQ(format_memory_reference(1048575), "1024.00 Kb");
  EXPECT_EQ(format_memory_reference(1073741823), "1024.00 Mb");
  EXPECT_EQ(format_memory(1536), "1.50 KB");
  EXPECT_EQ(format_memory(std::numeric_limits<std::int64_t>::min()),
            "-8589934592.00 GB");
}

TEST(QuantityText, TV_2_11_4_Flops) {
  EXPECT_STREQ(flops_scale(999).unit, "FLOPs");
  EXPECT_STREQ(flops_scale(1000).unit, "KFLOPs");
  EXPECT_EQ(format_flops(2400000000, flops_scale(2400000000)), "   2.400");
  EXPECT_STREQ(flops_scale(1000000000000000000).unit, "PFLOPs");
  EXPECT_EQ(format_flops(1000000000000000000, flops_scale(1000000000000000000)),
            "1000.000");
  // The logarithm rounds up to 15.
  EXPECT_STREQ(flops_scale(999999999999999).unit, "PFLOPs");
  EXPECT_EQ(format_flops(0, flops_scale(500)), "--");
  EXPECT_EQ(format_flops(std::nullopt, flops_scale(500)), "--");
  EXPECT_EQ(format_flops(1000000000, flops_scale(500)), "1000000000.000");
}

TEST(Table, D02_HeadingsAndCellsHaveOneOrder) {
  FunctionEvent matmul = range("matmul", 0, 100);
  matmul.stack = {"nn.cc(4): matmul", "main.cc(3): main"};
  matmul.flops = 2000000;
  EventListOptions options;
  options.with_flops = true;
  const EventList list({matmul}, options);
  for (const std::string& table :
       {list.table(), reference::table(list).value()}) {
    const auto lines = lines_of(table);
    const std::size_t flops = lines[1].find("Total MFLOPs");
    const std::size_t source = lines[1].find("Source Location");
    ASSERT_LT(flops, source);
    EXPECT_EQ(lines[3].substr(flops + 7, 5), "2.000");
    EXPECT_EQ(lines[3].find("nn.cc(4): matmul"), source);
    EXPECT_EQ(lines[4].find("main.cc(3): main"), source);
  }
}

TEST(Table, D03_SharesOfTheDeviceAddUpTo100PercentInEachTable) {
  const EventList list(worked_example());
  const std::string both = list.table();
  const std::size_t second = both.find("\n\n");
  ASSERT_NE(second, std::string::npos);
  EXPECT_NEAR(share_sum(both.substr(0, second), "Self CUDA %"), 100, 0.1);
  EXPECT_NEAR(share_sum(both.substr(second), "Self CUDA %"), 100, 0.1);
  EXPECT_NE(both.find("Self CUDA time total: 1.020ms\n"), std::string::npos);

  const std::string mixed = list.table({.device_rows = DeviceRows::kMixed});
  EXPECT_NEAR(share_sum(mixed, "Self CUDA %"), 100, 0.1);
  const std::string hidden = list.table({.device_rows = DeviceRows::kHidden});
  EXPECT_EQ(line_of(hidden, "gemm_k"), "");
  EXPECT_NEAR(share_sum(reference::table(list).value(), "Self CUDA %"), 200,
              0.1);
}

TEST(Table, D04_AnnotationsOfTheDeviceAreNotWork) {
  FunctionEvent annotation = device_row("step", 0, 1000);
  annotation.is_user_annotation = true;
  const EventList list({annotation, device_row("gemm_k", 100, 900)});
  const std::string table = list.table();
  EXPECT_NE(table.find("Self CUDA time total: 800.000us"), std::string::npos);
  EXPECT_NEAR(share_sum(table, "Self CUDA %"), 100, 0.01);
}

TEST(Table, D17_RowsWithoutFlopsAreShownWithDashes) {
  FunctionEvent mm = range("mm", 0, 5);
  mm.flops = 1000;
  FunctionEvent memory = range("[memory]", 7, 7);
  memory.trace_name.reset();
  memory.flops.reset();
  EventListOptions options;
  options.with_flops = true;
  const EventList list({mm, memory}, options);
  EXPECT_NE(line_of(list.table(), "[memory]").find("--"), std::string::npos);
  EXPECT_EQ(reference::table(list).error().code, ErrorCode::kUnsupported);
}

TEST(Table, D37_ListThatOnlyReleasesMemoryShowsIt) {
  FunctionEvent release = range("free_only", 0, 10);
  release.memory.device_bytes[DeviceFamily::kCuda] = -4096;
  EventListOptions options;
  options.profile_memory = true;
  const EventList list({release}, options);
  EXPECT_NE(list.table().find("CUDA Mem"), std::string::npos);
  EXPECT_NE(list.table().find("-4.00 KB"), std::string::npos);
  EXPECT_EQ(reference::table(list)->find("CUDA Mem"), std::string::npos);
}

TEST(Table, D40_ShareOfNothingIsPrintedNotRefused) {
  const EventList kernels_only({with_kernel(range("render", 0, 50), "k", 5)});
  EXPECT_NE(kernels_only.table().find("100.00%"), std::string::npos);
  EXPECT_FALSE(reference::table(kernels_only).ok());

  const EventList cancels({range("work", 20, 30), range("back", 40, 30)},
                          reference_rules());
  EXPECT_NE(cancels.table().find("NaN"), std::string::npos);
  EXPECT_FALSE(reference::table(cancels).ok());
}

TEST(Table, D41_TwoKindsOfDevicesPrint) {
  EventListOptions options;
  options.device_name = "npu";
  const EventList list({range("step", 0, 9), device_row("cuda_k", 0, 5),
                        device_row("npu_k", 0, 7, DeviceType::kCustom)},
                       options);
  const std::string table = list.table();
  EXPECT_NE(table.find("Self CUDA time total: 5.000us"), std::string::npos);
  EXPECT_NE(table.find("Self NPU time total: 7.000us"), std::string::npos);
  EXPECT_FALSE(reference::table(list).ok());
}

TEST(Table, NameIsCutOnlyWhenItDoesNotFit) {
  const std::string name52(52, 'x');
  const std::string name80(80, 'y');
  const EventList list({range(name52, 0, 1), range(name80, 2, 3)});
  EXPECT_NE(list.table().find(name52 + " "), std::string::npos);
  EXPECT_NE(list.table().find(std::string(52, 'y') + "..."), std::string::npos);
  EXPECT_NE(reference::table(list)->find(name52 + "..."), std::string::npos);
}

TEST(Table, LineBreaksInNamesDoNotBreakTheTable) {
  const EventList list({range("two\nlines", 0, 1)});
  EXPECT_NE(list.table().find("two lines"), std::string::npos);
}

TEST(Table, WidthsCountCodePoints) {
  const EventList list({range("\xc3\xbc\xc3\xbc", 0, 1), range("ab", 2, 3)});
  const auto lines = lines_of(list.table());
  EXPECT_EQ(lines[3].size(), lines[4].size() + 2);
}

TEST(Table, RowLimitAndTopLevelCountPrintedRows) {
  const EventList list({range("a", 0, 10), range("in_a", 1, 2),
                        range("b", 20, 30), range("c", 40, 50)});
  const std::string table =
      list.table({.row_limit = 2, .top_level_events_only = true});
  EXPECT_NE(line_of(table, "a"), "");
  EXPECT_EQ(line_of(table, "in_a"), "");
  EXPECT_NE(line_of(table, "b"), "");
  EXPECT_EQ(line_of(table, "c"), "");
  EXPECT_NE(line_of(list.table({.row_limit = -1}), "c"), "");
  EXPECT_EQ(line_of(list.table({.row_limit = 0}), "a"), "");
}

TEST(SortKey, NamesAreThoseOfTheReference) {
  EXPECT_EQ(parse_sort_key("self_cpu_time_total").value(),
            SortKey::kSelfCpuTimeTotal);
  EXPECT_EQ(parse_sort_key("nonsense").error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_FALSE(parse_sort_key("").ok());
}

TEST(SortKey, ReferenceDoesNotKnowLaterKeys) {
  const EventList list({range("a", 0, 10)}, reference_rules());
  EXPECT_EQ(reference::table(list, {.sort_by = SortKey::kDeviceTimeTotal})
                .error()
                .code,
            ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace weft
