// SPDX-License-Identifier: Apache-2.0

// Prints the budgets of weft and what this machine makes of them, a line each:
//
//   metric <tab> value <tab> budget <tab> ok|OVER <tab> note
//
// A figure without a budget has "-" for both.
//
// Everything is compared with the floor (floor.h) measured in the same run.
// bench/README.md tells how to read it.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "report.h"
#include "weft/weft.h"

namespace {

using namespace weft;
using namespace weft::bench;

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--quick") {
      options.quick = true;
    } else if (word == "--json" && i + 1 < argc) {
      options.json = argv[++i];
    } else if (word == "--directory" && i + 1 < argc) {
      options.directory = argv[++i];
    } else {
      std::fprintf(stderr,
                   "usage: weft_report [--quick] [--json FILE] "
                   "[--directory DIR]\n");
      std::exit(2);
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  report_reading_json(options);  // first: it measures memory
  const std::string paced = path_in(options, "weft_report_paced.weft");
  InitOptions init_options;
  init_options.output = paced;
  init_options.categories = "-never";
  const Result<void> started = init(init_options);
  if (!started.ok() || !thread_init().ok()) return 1;
  report_paced(options);
  report_threads(options);
  report_tail(options);
  report_cold(options);
  report_disabled(options);
  (void)shutdown();
  std::filesystem::remove(paced);
  // Before sessions with other filters: after those, one with a filter is
  // looked through record by record.
  report_flat_out(options);
  report_polling(options);
  report_refused(options);
  report_registration(options);
  report_calls(options);
  report_export(options);
  report_reading_weft(options);
  report_idle(options);
  if (!options.json.empty()) write_json(options.json);
  return all_within_budget() ? 0 : 3;
}
