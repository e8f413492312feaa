// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "chrome_json_output.h"
#include "chrome_json_sink.h"
#include "weft/export/chrome_json.h"
#include "weft_file_exporter.h"

namespace weft::exporters {

std::unique_ptr<Exporter> make_chrome_json_exporter(
    const OutputOptions& options, Error* error) {
  auto output = JsonOutput::create(
      options.path,
      options.overwrite ? ExistingFile::kReplace : ExistingFile::kRefuse);
  if (!output) {
    *error = output.error();
    return nullptr;
  }
  auto exporter = WeftFileExporter::create(
      options, std::make_unique<ChromeJsonSink>(std::move(*output)));
  if (!exporter) {
    *error = exporter.error();
    return nullptr;
  }
  return std::move(*exporter);
}

}  // namespace weft::exporters
