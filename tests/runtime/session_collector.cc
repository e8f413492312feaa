// SPDX-License-Identifier: Apache-2.0
#include "runtime/session_collector.h"

#include <utility>

namespace weft::test {
namespace {

std::shared_ptr<CollectingExporter> next_collector;

// The session owns its exporter; the test keeps what that one collects.
class SessionExporter final : public Exporter {
 public:
  explicit SessionExporter(std::shared_ptr<CollectingExporter> collector)
      : collector_(std::move(collector)) {}

  void begin(const ProcessInfo& process,
             const SubscriptionInfo& subscription) override {
    collector_->begin(process, subscription);
  }
  void define(const Catalog& catalog) override { collector_->define(catalog); }
  bool consume(const Run& run) override { return collector_->consume(run); }
  void lose(const Loss& loss) override { collector_->lose(loss); }
  void anchor(const ClockAnchor& anchor) override {
    collector_->anchor(anchor);
  }
  void settle(std::int64_t now_ns) override { collector_->settle(now_ns); }
  void end(const SubscriptionEnd& end) override { collector_->end(end); }
  bool has_work() const noexcept override { return false; }
  bool work() override { return false; }
  ExporterStatus status() const override { return collector_->status(); }

 private:
  std::shared_ptr<CollectingExporter> collector_;
};

}  // namespace

std::shared_ptr<CollectingExporter> open_session_collector() {
  next_collector = std::make_shared<CollectingExporter>();
  return next_collector;
}

}  // namespace weft::test

// Takes the place of weft::export, which these tests are not linked with.
void weft_open_output(const weft::OutputOptions& options,
                      std::unique_ptr<weft::Exporter>* exporter,
                      weft::Error* error) {
  if (weft::test::next_collector == nullptr) {
    *error = {weft::ErrorCode::kIo, options.path + ": nobody collects"};
    return;
  }
  *exporter = std::make_unique<weft::test::SessionExporter>(
      std::exchange(weft::test::next_collector, nullptr));
}
