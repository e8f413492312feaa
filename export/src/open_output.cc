// SPDX-License-Identifier: Apache-2.0
// The one place where a path becomes an exporter.

#include <memory>
#include <string>
#include <string_view>

#include "weft/exporter.h"

void weft_open_output(const weft::OutputOptions& options,
                      std::unique_ptr<weft::Exporter>* exporter,
                      weft::Error* error) {
  exporter->reset();
  *error = {weft::ErrorCode::kUnsupported,
            options.path + ": this format cannot be written"};
}
