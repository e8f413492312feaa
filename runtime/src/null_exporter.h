// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_NULL_EXPORTER_H_
#define WEFT_SRC_NULL_EXPORTER_H_

#include <memory>

#include "weft/exporter.h"

namespace weft {

// Accepts everything and keeps nothing: the session of an init without an
// output, which others subscribe beside.
class NullExporter final : public Exporter {
 public:
  void begin(const ProcessInfo&, const SubscriptionInfo&) override {}
  void define(const Catalog&) override {}
  bool consume(const Run&) override { return true; }
  void lose(const Loss&) override {}
  void anchor(const ClockAnchor&) override {}
  void settle(std::int64_t) override {}
  void end(const SubscriptionEnd&) override {}
  bool has_work() const noexcept override { return false; }
  bool work() override { return false; }
  ExporterStatus status() const override { return {}; }
};

inline std::shared_ptr<Exporter> make_null_exporter() {
  return std::make_shared<NullExporter>();
}

}  // namespace weft

#endif  // WEFT_SRC_NULL_EXPORTER_H_
