// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/chrome_import.h"

#include <utility>

#include "chrome_event_source.h"
#include "chrome_rows.h"
#include "inflating_reader.h"

namespace weft {

Result<ChromeImport> import_chrome_trace(const std::string& path,
                                         const ChromeImportOptions& options) {
  Result<profile::InflatingReader> reader =
      profile::InflatingReader::open(path);
  if (!reader.ok()) return reader.error();
  profile::ChromeRows rows;
  const Result<profile::ChromeSourceReport> report =
      profile::read_chrome_events(*reader, options, rows);
  if (!report.ok()) {
    return Error{report.error().code, path + ": " + report.error().message};
  }
  if (report->state == profile::ChromeListState::kNone &&
      report->form != profile::ChromeListForm::kEmpty) {
    return profile::no_chrome_list(path);
  }
  ChromeImport import = rows.finish();
  import.skipped.insert(import.skipped.end(), report->skipped.begin(),
                        report->skipped.end());
  return import;
}

}  // namespace weft
