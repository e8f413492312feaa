// SPDX-License-Identifier: Apache-2.0
// The one place where a path becomes an exporter.

#include <memory>
#include <string_view>
#include <utility>

#include "flight_recorder.h"
#include "weft/export/chrome_json.h"
#include "weft/exporter.h"
#include "weft_file_exporter.h"

namespace weft::exporters {
namespace {

bool ends_with(std::string_view path, std::string_view suffix) {
  return path.size() >= suffix.size() &&
         path.substr(path.size() - suffix.size()) == suffix;
}

Result<std::unique_ptr<Exporter>> open_output(const OutputOptions& options) {
  if (options.flight_recorder) return FlightRecorder::create(options);
  if (ends_with(options.path, ".json") || ends_with(options.path, ".json.gz")) {
    Error error;
    auto exporter = make_chrome_json_exporter(options, &error);
    if (exporter == nullptr) return error;
    return exporter;
  }
  return WeftFileExporter::create(options);
}

}  // namespace
}  // namespace weft::exporters

void weft_open_output(const weft::OutputOptions& options,
                      std::unique_ptr<weft::Exporter>* exporter,
                      weft::Error* error) {
  auto opened = weft::exporters::open_output(options);
  if (opened) {
    *exporter = std::move(*opened);
  } else {
    exporter->reset();
    *error = opened.error();
  }
}
