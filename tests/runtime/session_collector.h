// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_RUNTIME_SESSION_COLLECTOR_H_
#define WEFT_TESTS_RUNTIME_SESSION_COLLECTOR_H_

#include <memory>

#include "runtime/collecting_exporter.h"

namespace weft::test {

// The next init() with an output writes into this, instead of a file.
std::shared_ptr<CollectingExporter> open_session_collector();

}  // namespace weft::test

#endif  // WEFT_TESTS_RUNTIME_SESSION_COLLECTOR_H_
