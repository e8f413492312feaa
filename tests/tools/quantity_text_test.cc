// SPDX-License-Identifier: Apache-2.0
#include "quantity_text.h"

#include <gtest/gtest.h>

#include <chrono>

#include "duration_argument.h"
#include "json_writer.h"
#include "text_table.h"

namespace weft::tools {
namespace {

TEST(QuantityText, DurationsHaveThreeDigitsAndAUnit) {
  EXPECT_EQ(duration_text(0), "0ns");
  EXPECT_EQ(duration_text(999), "999ns");
  EXPECT_EQ(duration_text(1'000), "1.00µs");
  EXPECT_EQ(duration_text(1'234), "1.23µs");
  EXPECT_EQ(duration_text(12'345), "12.3µs");
  EXPECT_EQ(duration_text(123'456), "123µs");
  EXPECT_EQ(duration_text(45'678'901), "45.7ms");
  EXPECT_EQ(duration_text(7'890'123'456), "7.89s");
  EXPECT_EQ(duration_text(998'400'000'000), "998s");
  EXPECT_EQ(duration_text(1'000'000'000'000), "16m40s");
  EXPECT_EQ(duration_text(11'520'000'000'000), "3h12m");
  EXPECT_EQ(duration_text(~std::uint64_t{0}), "213503d23h");
}

// "1000µs" and "10.00ms" would break the columns and the reader's eye.
TEST(QuantityText, RoundingCarriesIntoTheNextUnit) {
  EXPECT_EQ(duration_text(9'996), "10.0µs");
  EXPECT_EQ(duration_text(99'960), "100µs");
  EXPECT_EQ(duration_text(999'499), "999µs");
  EXPECT_EQ(duration_text(999'500), "1.00ms");
  EXPECT_EQ(duration_text(999'499'999), "999ms");
  EXPECT_EQ(duration_text(999'500'000), "1.00s");
}

TEST(QuantityText, CountsHaveThousands) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1'000), "1,000");
  EXPECT_EQ(count_text(1'234'567), "1,234,567");
  EXPECT_EQ(value_text(-1'234'567), "-1,234,567");
  EXPECT_EQ(value_text(0.25L), "0.25");
  EXPECT_EQ(bytes_text(512), "512 bytes");
  EXPECT_EQ(bytes_text(1'234'567), "1.23 MB");
}

TEST(QuantityText, DatesAreUtcBeforeAndAfter1970) {
  EXPECT_EQ(date_text(0), "1970-01-01 00:00:00.000000 UTC");
  EXPECT_EQ(date_text(-1), "1969-12-31 23:59:59.999999 UTC");
  EXPECT_EQ(date_text(1'796'051'045'123'456'789),
            "2026-11-30 15:04:05.123456 UTC");
}

// Names come from files: they must not move the cursor or set its colour.
TEST(QuantityText, TerminalControlIsMadeVisible) {
  EXPECT_EQ(printable("a\x1b[31mb\n"), "a\\x1b[31mb\\x0a");
  EXPECT_EQ(printable("\x7f"), "\\x7f");
  EXPECT_EQ(printable("\xc2\x9b" "31m"), "\\xc2\\x9b31m");  // C1's CSI
  EXPECT_EQ(printable("grün ≤"), "grün ≤");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xe0\x80\x80"), "\\xe0\\x80\\x80");  // overlong
}

TEST(QuantityText, LongNamesLoseTheirMiddle) {
  EXPECT_EQ(shortened("short", 5), "short");
  EXPECT_EQ(shortened("abcdefghij", 5), "ab…ij");
  EXPECT_EQ(shortened("äöüßäöüß", 4), "äö…ß");
  EXPECT_EQ(shortened("abc", 0), "");
  EXPECT_EQ(text_width(shortened("abcdefghij", 1)), 1u);
}

TEST(TextTable, NameColumnGivesWayToTheWidth) {
  TextTable table({{"name", Align::kLeft}, {"n"}});
  table.add_row({std::string(60, 'x'), "1,234"});
  table.add_row({"grün", "5"});
  const std::string text = table.text(40);
  std::size_t at = 0;
  int lines = 0;
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(text_width(text.substr(at, end - at)), 40u);
    at = end + 1;
    ++lines;
  }
  EXPECT_EQ(lines, 3);
}

TEST(TextTable, NumbersStandUnderEachOther) {
  TextTable table({{"name", Align::kLeft}, {"n"}});
  table.add_row({"grün", "5"});
  table.add_row({"a", "1,234"});
  EXPECT_EQ(table.text(100), "name      n\ngrün      5\na     1,234\n");
}

TEST(DurationArgument, TakesNumberAndUnit) {
  using std::chrono::nanoseconds;
  EXPECT_EQ(duration_argument("10ns"), nanoseconds(10));
  EXPECT_EQ(duration_argument("1.5ms"), nanoseconds(1'500'000));
  EXPECT_EQ(duration_argument("5m"), nanoseconds(300'000'000'000));
  for (const char* bad : {"", "5", "s", "0s", "-1s", "5 s", "5sec", "nans",
                          "1e300h", "inf"})
    EXPECT_EQ(duration_argument(bad), std::nullopt) << bad;
}

TEST(JsonWriter, EscapesWhateverAFileMayHold) {
  EXPECT_EQ(json_quoted("a\"b\\c\n\x01"), "\"a\\\"b\\\\c\\u000a\\u0001\"");
  EXPECT_EQ(json_quoted("\xff"), "\"\xef\xbf\xbd\"");
}

TEST(JsonWriter, NestsWithCommasWhereTheyBelong) {
  JsonWriter json;
  json.open_object();
  json.member("a", 1);
  json.open_array("b");
  json.element("x");
  json.element("y");
  json.close();
  json.open_object("c");
  json.close();
  json.close();
  EXPECT_EQ(json.take(),
            "{\n  \"a\": 1,\n  \"b\": [\n    \"x\",\n    \"y\"\n  ],\n"
            "  \"c\": {}\n}\n");
}

}  // namespace
}  // namespace weft::tools
