// SPDX-License-Identifier: Apache-2.0
// The built command, run on files that the real exporter wrote.

#include <gtest/gtest.h>
#include <simdjson.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "export/weft_file.h"
#include "tools/command_run.h"

namespace weft::tools {
namespace {

using test::Bytes;
using test::OpenSpan;
using test::Recording;
using test::SlotBuilder;
using test::TempPath;

// The words of the line that begins with `first`.
std::vector<std::string> row(const std::string& text,
                             const std::string& first) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<std::string> out;
    for (std::string word; words >> word;) out.push_back(word);
    if (!out.empty() && out[0] == first) return out;
  }
  return {};
}

// 50 spans "outer" of 1, 2, ... 50 us, few enough for exact percentiles, each with
// an "inner" of 200 ns, all on the thread "main"; ticks are ns. `lost` records
// are missing in the end.
class KnownFile {
 public:
  explicit KnownFile(std::uint64_t lost = 0) : path_(".weft") {
    Recording recording(path_.str());
    auto& catalog = recording.catalog();
    const SiteId outer = catalog.add_site(SiteKind::kSpan, "outer", "net");
    const SiteId inner = catalog.add_site(SiteKind::kSpan, "inner, \"x\"", "db");
    SlotBuilder slots(catalog.add_thread("main", 4711));
    recording.exporter().anchor(test::anchor_at(1, 1));
    Ticks tick = 1000;
    for (Ticks us = 1; us <= 50; ++us) {
      const OpenSpan span = slots.begin(tick, outer);
      slots.end(tick + 300, slots.begin(tick + 100, inner));
      slots.end(tick + us * 1000, span);
      tick += us * 1000 + 10;
      recording.add(slots);
      if (us % 10 == 0) recording.flush();
    }
    if (lost != 0)
      recording.lose({ThreadIndex{1}, slots.position(), lost,
                      DropReason::kRingFull});
    recording.exporter().anchor(
        test::anchor_at(tick, static_cast<std::int64_t>(tick)));
    recording.close();
  }

  const std::string& path() const { return path_.str(); }

 private:
  TempPath path_;
};

TEST(WeftCommand, TableHasTheFiguresKnownFromConstruction) {
  const KnownFile file;
  const Outcome outcome = run("summary " + file.path());
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.errors, "");
  // total 1275 us; self 200 ns a span less
  EXPECT_EQ(row(outcome.out, "outer"),
            (std::vector<std::string>{"outer", "50", "1.28ms", "1.27ms",
                                      "25.5µs", "25.0µs", "45.0µs", "50.0µs",
                                      "50.0µs", "50.0µs"}))
      << outcome.out;
}

TEST(WeftCommand, JsonSummaryIsStrictAndExact) {
  const KnownFile file;
  const Outcome outcome = run("summary --format json " + file.path());
  simdjson::dom::parser parser;
  simdjson::dom::element json;
  ASSERT_EQ(parser.parse(outcome.out).get(json), simdjson::SUCCESS)
      << outcome.out;
  const auto outer = json["spans"].at(0);
  EXPECT_EQ(std::string_view(outer["name"]), "outer");
  EXPECT_EQ(std::uint64_t(outer["count"]), 50u);
  EXPECT_EQ(std::uint64_t(outer["total_ns"]), 1'275'000u);
  EXPECT_EQ(std::uint64_t(outer["self_ns"]), 1'265'000u);
  EXPECT_EQ(std::uint64_t(outer["max_ns"]), 50'000u);
  EXPECT_EQ(std::uint64_t(json["threads"].at(0)["root_spans_ns"]), 1'275'000u);
}

TEST(WeftCommand, CsvQuotesNamesAndHasOneRowASpan) {
  const KnownFile file;
  const Outcome outcome = run("summary --format csv " + file.path());
  std::istringstream lines(outcome.out);
  std::vector<std::string> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(line);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1].rfind("span,outer,50,1275000,1265000,25500,1000,", 0), 0u)
      << rows[1];
  EXPECT_EQ(rows[2].rfind("span,\"inner, \"\"x\"\"\",50,10000,10000,200,", 0),
            0u)
      << rows[2];
}

TEST(WeftCommand, OrderLimitAndFilterChooseRows) {
  const KnownFile file;
  const std::string by_name =
      run("summary --sort-by name --format csv " + file.path()).out;
  EXPECT_LT(by_name.find("inner"), by_name.find("outer"));
  const std::string limited =
      run("summary --limit 1 --format csv " + file.path()).out;
  EXPECT_EQ(limited.find("inner"), std::string::npos);
  const std::string filtered =
      run("summary --category db --thread 4711 --format csv " + file.path())
          .out;
  EXPECT_EQ(filtered.find("outer"), std::string::npos);
  EXPECT_NE(filtered.find("inner"), std::string::npos);
}

TEST(WeftCommand, SlowestRootIsShownWithItsChildren) {
  const KnownFile file;
  const std::string out = run("summary --slowest 1 " + file.path()).out;
  EXPECT_NE(out.find("1. outer: 50.0µs, 2 spans"), std::string::npos) << out;
  EXPECT_NE(out.find("+100ns    200ns    200ns    inner"), std::string::npos)
      << out;
}

// Whoever reads figures must know first that they lack something.
TEST(WeftCommand, LossesStandFirst) {
  const KnownFile file(1234);
  EXPECT_EQ(run("summary " + file.path())
                .out.rfind("LOST: 1,234 records: 1,234 ring full\n", 0),
            0u);
  EXPECT_NE(run("summary --format csv " + file.path()).errors.find("1,234"),
            std::string::npos);
  EXPECT_EQ(run("check " + file.path()).code, 0);  // accounted for
}

TEST(WeftCommand, InfoNamesProcessThreadsAndRecords) {
  const KnownFile file;
  const Outcome outcome = run("info " + file.path());
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(row(outcome.out, "program")[1], "/bin/program");
  EXPECT_EQ(row(outcome.out, "1"),
            (std::vector<std::string>{"1", "4711", "main", "200"}));
  EXPECT_EQ(row(outcome.out, "net"), (std::vector<std::string>{"net", "50"}));

  const std::string json = run("info --format json " + file.path()).out;
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  ASSERT_EQ(parser.parse(json).get(root), simdjson::SUCCESS) << json;
  EXPECT_EQ(std::uint64_t(root["records"]), 200u);
  EXPECT_EQ(bool(root["complete"]), true);
}

TEST(WeftCommand, ConvertWritesStrictJsonAndNeverOverwritesUnasked) {
  const KnownFile file;
  const TempPath json(".json");
  const std::string arguments = "convert " + file.path() + " -o " + json.str();
  const Outcome first = run(arguments);
  EXPECT_EQ(first.code, 0) << first.errors;
  EXPECT_NE(first.out.find("events"), std::string::npos);
  const Bytes text = test::read_file(json.str());
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  EXPECT_EQ(parser.parse(reinterpret_cast<const char*>(text.data()),
                         text.size()).get(root),
            simdjson::SUCCESS);

  const Outcome second = run(arguments);
  EXPECT_EQ(second.code, 2);
  EXPECT_NE(second.errors.find("exists; --force"), std::string::npos);
  EXPECT_EQ(test::read_file(json.str()), text);
  EXPECT_EQ(run(arguments + " --force").code, 0);
  EXPECT_EQ(run("repair --force " + file.path() + " -o " + file.path()).code,
            2);
}

TEST(WeftCommand, CheckTellsWholeFromDamagedByExitCode) {
  const KnownFile file;
  EXPECT_EQ(run("check " + file.path()).code, 0);
  Bytes bytes = test::read_file(file.path());
  bytes[bytes.size() / 2] ^= 0x40;
  const TempPath damaged(".weft");
  test::write_file(damaged.str(), bytes);
  const Outcome outcome = run("check " + damaged.str());
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.errors.rfind("weft: " + damaged.str() + ": at byte ", 0),
            0u)
      << outcome.errors;
  const Outcome quiet = run("check --quiet " + damaged.str());
  EXPECT_EQ(quiet.code, 1);
  EXPECT_EQ(quiet.out + quiet.errors, "");
}

TEST(WeftCommand, CutFileIsReadWithANoteAndRepaired) {
  const KnownFile file;
  Bytes bytes = test::read_file(file.path());
  bytes.resize(bytes.size() * 3 / 4);
  const TempPath cut(".weft");
  test::write_file(cut.str(), bytes);
  for (const char* command : {"info ", "summary "}) {
    const Outcome outcome = run(command + cut.str());
    EXPECT_EQ(outcome.code, 0);
    EXPECT_NE(outcome.errors.find("note: the file was not closed"),
              std::string::npos);
    EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'),
              1);
  }
  EXPECT_EQ(run("check " + cut.str()).code, 1);
  const TempPath whole(".weft");
  const Outcome repaired = run("repair " + cut.str() + " -o " + whole.str());
  EXPECT_EQ(repaired.code, 0) << repaired.errors;
  EXPECT_EQ(run("check " + whole.str()).code, 0);
}

TEST(WeftCommand, FilesThatCannotBeReadAreRefusedInWords) {
  const TempPath empty(".weft");
  test::write_file(empty.str(), {});
  const TempPath garbage(".weft");
  test::write_file(garbage.str(), Bytes(5000, 0xa5));
  for (const std::string& path :
       {std::string("/nonexistent/x.weft"), ::testing::TempDir(),
        std::string("/dev/null"), empty.str(), garbage.str()}) {
    for (const char* command : {"info ", "summary ", "check "}) {
      const Outcome outcome = run(command + path);
      EXPECT_EQ(outcome.code, 2) << command << path;
      EXPECT_EQ(outcome.errors.rfind("weft: " + path + ": ", 0), 0u)
          << outcome.errors;
      EXPECT_EQ(outcome.out, "");
    }
  }
}

TEST(WeftCommand, WrongArgumentsAreRefusedInWords) {
  const KnownFile file;
  for (const std::string& arguments :
       {std::string(), std::string("frobnicate"), std::string("summary"),
        "summary --bogus " + file.path(),
        "summary --sort-by colour " + file.path(),
        "summary --slowest -1 " + file.path(),
        "summary --category none " + file.path(),
        "summary --thread none " + file.path(),
        "convert " + file.path() + " -o out.txt",
        "convert " + file.path() + " -o out.json --split-time 7"}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_EQ(outcome.errors.rfind("weft: ", 0), 0u) << outcome.errors;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(WeftCommand, HelpAndVersionGoToStandardOutput) {
  for (const char* arguments : {"--help", "--version", "info --help",
                                "summary --help", "convert --help",
                                "stacks --help", "diff --help",
                                "check --help", "repair --help"}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << arguments;
    EXPECT_NE(outcome.out, "");
    EXPECT_EQ(outcome.errors, "");
  }
}

// `weft summary | head` is everyday use; a full disk is not.
TEST(WeftCommand, ClosedPipeEndsQuietlyAndFullDiskDoesNot) {
  const KnownFile file;
  const Outcome closed =
      run("info " + file.path() + " 2>&1 >&-; true");
  EXPECT_NE(closed.out.find("standard output"), std::string::npos);
  const Outcome full = run("info " + file.path() + " >/dev/full");
  EXPECT_EQ(full.code, 1);
  EXPECT_NE(full.errors.find("standard output"), std::string::npos);

  // A pipe whose reader is gone, on a descriptor that the shell inherits.
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  const Outcome gone =
      run("summary " + file.path() + " >&" + std::to_string(ends[1]));
  close(ends[1]);
  EXPECT_EQ(gone.code, 0);
  EXPECT_EQ(gone.errors, "");
}

}  // namespace
}  // namespace weft::tools
