// SPDX-License-Identifier: Apache-2.0
#include "live_figures.h"

#include <algorithm>
#include <utility>

#include "weft/clock.h"

namespace weft {
namespace {

constexpr std::int64_t kExcessPeriodNs = 1'000'000'000;
constexpr std::uint32_t kOtherNames = 0;

std::uint64_t ns_per_tick_scaled() noexcept {
  return internal::frozen_line.load(std::memory_order_acquire)->scale;
}

// A duration in ticks as ns, by the line that live durations go by.
std::int64_t duration_ns(std::uint64_t ticks) noexcept {
  return internal::line_at(ticks, 0, 0, ns_per_tick_scaled());
}

}  // namespace

bool SpanBudgets::set(std::string_view name, std::int64_t limit_ns) {
  const std::uint32_t size = size_.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < size; ++i)
    if (budgets_[i].name == name) {
      budgets_[i].limit_ns.store(limit_ns, std::memory_order_relaxed);
      return true;
    }
  if (size == kMaxBudgets) return false;
  budgets_[size].name = name;
  budgets_[size].limit_ns.store(limit_ns, std::memory_order_relaxed);
  size_.store(size + 1, std::memory_order_release);  // [A]
  return true;
}

const SpanBudgets::Budget* SpanBudgets::find(
    std::string_view name) const noexcept {
  for (std::uint32_t i = 0, end = size(); i < end; ++i)
    if (budgets_[i].name == name) return &budgets_[i];
  return nullptr;
}

std::shared_ptr<LiveFigures> LiveFigures::create(
    const SpanBudgets& budgets,
    std::function<bool(const std::string& what)> on_excess) {
  std::shared_ptr<LiveFigures> figures(
      new LiveFigures(budgets, std::move(on_excess)));
  if (!figures->pages_.reserve(kCounterBytes)) return nullptr;
  figures->excess_.reserve(512);
  figures->add_name(StringId::kNone);
  figures->named(kOtherNames).text = "(other names)";
  return figures;
}

void LiveFigures::define(const Catalog& catalog) {
  catalog_ = &catalog;
  ThreadInfo thread;
  while (catalog.next_thread(&thread_cursor_, &thread))
    if (thread.exit_tick != 0) {
      const auto found = threads_.find(static_cast<std::uint32_t>(thread.index));
      if (found == threads_.end() || found->second.exited) continue;
      found->second.exited = true;
      exited_.push_back(found->first);
    }
}

bool LiveFigures::consume(const Run& run) {
  if ((run.position & kSidePosition) != 0) return true;
  Thread& thread = threads_[static_cast<std::uint32_t>(run.thread)];
  thread.moved = true;
  take(thread, run.first, run.first_count, run.position, run.reference);
  take(thread, run.second, run.second_count, run.position + run.first_count,
       run.reference);
  return true;
}

void LiveFigures::take(Thread& thread, const Slot* slots, std::uint32_t count,
                       std::uint64_t position, Ticks reference) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const Slot& slot = slots[i];
    const RecordKind kind = kind_of(slot);
    if (kind == RecordKind::kSpanBegin) {
      if (thread.open.size() == kMaxDepth) thread.open.erase(thread.open.begin());
      thread.open.push_back({static_cast<std::uint32_t>(position + i),
                             named_for(low_of(slot), high_of(slot)),
                             unwrap_tick(payload_of(slot), reference)});
    } else if (kind == RecordKind::kSpanEnd) {
      end_span(thread, high_of(slot), unwrap_tick(payload_of(slot), reference),
               (flags_of(slot) & kFlagMonotonic) != 0);
    }
  }
}

// What lies above the begin on the stack ended elsewhere, or its end is lost.
void LiveFigures::end_span(Thread& thread, std::uint32_t begin, Ticks tick,
                           bool monotonic) {
  std::vector<Open>& open = thread.open;
  std::size_t at = open.size();
  while (at != 0 && open[at - 1].position != begin) --at;
  if (at == 0) return;
  const Open span = open[at - 1];
  open.resize(at - 1);
  if (tick < span.tick) return;  // across a change of the clock
  std::uint64_t ticks = tick - span.tick;
  if (monotonic)  // ns: the counter was given up, or is not used at all
    ticks = static_cast<std::uint64_t>(static_cast<double>(ticks) *
                                       internal::kOneNsPerTick /
                                       static_cast<double>(ns_per_tick_scaled()));
  Named& of = named(span.named);
  of.histogram.add(ticks, pages_);
  if (of.budget != nullptr) exceed(of, ticks);
}

std::uint32_t LiveFigures::named_for(std::uint32_t site,
                                     std::uint32_t dynamic) {
  if (dynamic != 0) {
    const auto found = by_name_.find(dynamic);
    return found != by_name_.end() ? found->second
                                   : add_name(static_cast<StringId>(dynamic));
  }
  if (site >= by_site_.size()) by_site_.resize(site + 1, 0);
  if (by_site_[site] == 0) {
    SiteInfo info;
    if (!catalog_->site(static_cast<SiteId>(site), &info)) return kOtherNames;
    const auto found = by_name_.find(static_cast<std::uint32_t>(info.name));
    by_site_[site] =
        1 + (found != by_name_.end() ? found->second : add_name(info.name));
  }
  return by_site_[site] - 1;
}

std::uint32_t LiveFigures::add_name(StringId name) {
  const std::uint32_t number = size_.load(std::memory_order_relaxed);
  if (number == kMaxNames) return kOtherNames;
  if (number % kChunk == 0)
    chunks_[number / kChunk] = std::make_unique<Named[]>(kChunk);
  Named& added = named(number);
  added.name = name;
  std::string_view text;
  if (catalog_ != nullptr && catalog_->string(name, &text)) added.text = text;
  added.budget = budgets_->find(added.text);
  by_name_.emplace(static_cast<std::uint32_t>(name), number);
  size_.store(number + 1, std::memory_order_release);  // [A]
  return number;
}

void LiveFigures::look_for_budgets() {
  const std::uint32_t budgets = budgets_->size();
  if (budgets == known_budgets_) return;
  known_budgets_ = budgets;
  for (std::uint32_t i = 1, end = size_.load(std::memory_order_relaxed);
       i < end; ++i)
    named(i).budget = budgets_->find(named(i).text);
}

void LiveFigures::exceed(const Named& of, std::uint64_t ticks) {
  const std::int64_t limit = of.budget->limit_ns.load(std::memory_order_relaxed);
  const std::int64_t took = duration_ns(ticks);
  if (limit == 0 || took <= limit) return;
  over_budget_.fetch_add(1, std::memory_order_relaxed);
  if (due_.load(std::memory_order_acquire) ||  // [B]
      (last_excess_ns_ != 0 && now_ns_ - last_excess_ns_ < kExcessPeriodNs))
    return;
  last_excess_ns_ = now_ns_;
  excess_ = of.text + " took " + std::to_string(took / 1000) + " us, " +
            std::to_string(limit / 1000) + " us allowed";
  due_.store(true, std::memory_order_release);  // [B]
}

void LiveFigures::settle(std::int64_t now_ns) {
  now_ns_ = now_ns;
  look_for_budgets();
  // A thread's last records may come some passes after the news of its exit.
  std::erase_if(exited_, [&](std::uint32_t index) {
    Thread& thread = threads_[index];
    if (std::exchange(thread.moved, false)) return false;
    threads_.erase(index);
    return true;
  });
}

bool LiveFigures::has_work() const noexcept {
  return due_.load(std::memory_order_relaxed);
}

bool LiveFigures::work() {
  if (!due_.load(std::memory_order_acquire)) return false;  // [B]
  if (!on_excess_(excess_)) return false;
  due_.store(false, std::memory_order_release);  // [B]
  return true;
}

Latency LiveFigures::figures(const Named& of) const {
  const LatencyHistogram& histogram = of.histogram;
  Latency latency;
  latency.name = of.text;
  latency.count = histogram.count();
  latency.total_ns = duration_ns(histogram.sum());
  latency.least_ns = duration_ns(histogram.least());
  latency.greatest_ns = duration_ns(histogram.greatest());
  latency.p50_ns = duration_ns(histogram.quantile(0.5, pages_));
  latency.p90_ns = duration_ns(histogram.quantile(0.9, pages_));
  latency.p99_ns = duration_ns(histogram.quantile(0.99, pages_));
  latency.p999_ns = duration_ns(histogram.quantile(0.999, pages_));
  return latency;
}

std::optional<Latency> LiveFigures::latency(std::string_view name) const {
  for (std::uint32_t i = 0, end = size_.load(std::memory_order_acquire);
       i < end; ++i)  // [A]
    if (named(i).text == name && named(i).histogram.count() != 0)
      return figures(named(i));
  return std::nullopt;
}

std::vector<Latency> LiveFigures::latencies() const {
  std::vector<Latency> all;
  for (std::uint32_t i = 0, end = size_.load(std::memory_order_acquire);
       i < end; ++i)  // [A]
    if (named(i).histogram.count() != 0) all.push_back(figures(named(i)));
  return all;
}

}  // namespace weft
