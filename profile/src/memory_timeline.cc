// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/memory_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <unordered_map>
#include <utility>

#include "output_file.h"
#include "weft/profile/wrapping_sum.h"

namespace weft {
namespace {

bool is_on(const MemoryRecord& record, MemoryDevice device) {
  if (record.device != device.type) return false;
  return !family_of(device.type) || record.device_index == device.index;
}

bool ends_with(const std::string& text, std::string_view suffix) {
  return text.size() >= suffix.size() &&
         text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

constexpr const char* kCategoryNames[kMemoryCategories] = {
    "parameters", "optimizer state", "inputs",          "temporaries",
    "activations", "gradients",      "autograd detail", "unknown"};
constexpr const char* kColors[kMemoryCategories] = {
    "#2d6a4f", "#e9c46a", "#264653", "#9d4edd",
    "#e76f51", "#2a9d8f", "#457b9d", "#adb5bd"};

}  // namespace

MemoryTimeline::MemoryTimeline(std::vector<MemoryRecord> records)
    : records_(std::move(records)) {
  std::stable_sort(records_.begin(), records_.end(),
                   [](const MemoryRecord& a, const MemoryRecord& b) {
                     return a.at_ns < b.at_ns;
                   });
}

MemoryTimeline MemoryTimeline::of_session(
    const std::vector<MemoryRecord>& records, const CategoryOf& category_of) {
  std::vector<MemoryRecord> all;
  all.reserve(records.size());
  for (const MemoryRecord& record : records) {
    if (record.failed) continue;
    all.push_back(record);
    if (category_of) all.back().category = category_of(record);
  }
  return MemoryTimeline(std::move(all));
}

MemoryDevice MemoryTimeline::default_device() const {
  for (const MemoryRecord& record : records_) {
    if (family_of(record.device)) return {record.device, record.device_index};
  }
  return {};
}

std::vector<MemoryPoint> MemoryTimeline::points(MemoryDevice device) const {
  struct Block {
    std::int64_t bytes;
    MemoryCategory category;
  };
  std::vector<MemoryPoint> before;
  std::vector<MemoryPoint> points;
  std::unordered_map<std::uint64_t, Block> blocks;
  for (const MemoryRecord& record : records_) {
    if (!is_on(record, device)) continue;
    const auto known = blocks.find(record.address);
    if (record.bytes > 0) {
      // Allocated again without a release: the old block is gone.
      if (known != blocks.end()) {
        points.push_back({record.at_ns, MemoryAction::kDestroy,
                          -known->second.bytes, known->second.category});
      }
      blocks.insert_or_assign(record.address,
                              Block{record.bytes, record.category});
      points.push_back({record.at_ns, MemoryAction::kCreate, record.bytes,
                        record.category});
    } else if (record.bytes == 0) {
      if (known == blocks.end() || known->second.category == record.category) {
        continue;
      }
      Block& block = known->second;
      points.push_back({record.at_ns, MemoryAction::kIncrementVersion,
                        -block.bytes, block.category});
      block.category = record.category;
      points.push_back({record.at_ns, MemoryAction::kIncrementVersion,
                        block.bytes, block.category});
    } else if (known != blocks.end()) {
      // As much as came, whatever the release says.
      points.push_back({record.at_ns, MemoryAction::kDestroy,
                        -known->second.bytes, known->second.category});
      blocks.erase(known);
    } else {
      std::int64_t bytes = 0;
      subtract_wrapping(bytes, record.bytes);
      before.push_back(
          {-1, MemoryAction::kPreexisting, bytes, record.category});
      points.push_back({record.at_ns, MemoryAction::kDestroy, record.bytes,
                        record.category});
    }
  }
  before.insert(before.end(), points.begin(), points.end());
  return before;
}

std::vector<MemoryTimeline::Sample> MemoryTimeline::samples(
    MemoryDevice device) const {
  constexpr std::int64_t kNsPerUs = 1000;
  const std::vector<MemoryPoint> all = points(device);
  const auto first =
      std::find_if(all.begin(), all.end(), [](const MemoryPoint& point) {
        return point.action != MemoryAction::kPreexisting;
      });
  const std::int64_t first_us =
      first == all.end() ? 0 : first->at_ns / kNsPerUs;
  std::vector<Sample> samples;
  // What was there before has a sample of its own, although it shows the time
  // of the next.
  std::int64_t last = 0;
  for (const MemoryPoint& point : all) {
    const bool before = point.action == MemoryAction::kPreexisting;
    const std::int64_t us = before ? -1 : point.at_ns / kNsPerUs;
    if (samples.empty() || us != last) {
      Sample sample = samples.empty() ? Sample{} : samples.back();
      sample.at_us = before ? first_us : us;
      samples.push_back(sample);
      last = us;
    }
    add_wrapping(
        samples.back().bytes[static_cast<std::size_t>(point.category)],
        point.bytes);
  }
  return samples;
}

void MemoryTimeline::write_samples(std::ostream& out,
                                   MemoryDevice device) const {
  const std::vector<Sample> all = samples(device);
  out << "[[";
  for (std::size_t i = 0; i < all.size(); ++i) {
    out << (i == 0 ? "" : ", ") << all[i].at_us;
  }
  out << "], [";
  for (std::size_t i = 0; i < all.size(); ++i) {
    out << (i == 0 ? "[0" : ", [0");
    for (const std::int64_t bytes : all[i].bytes) out << ", " << bytes;
    out << ']';
  }
  out << "]]";
}

void MemoryTimeline::write_points(std::ostream& out,
                                  MemoryDevice device) const {
  const char* separator = "[";
  for (const MemoryPoint& point : points(device)) {
    out << separator << '[' << point.at_ns << ", "
        << static_cast<int>(point.action) << ", " << point.bytes << ", "
        << static_cast<int>(point.category) << ']';
    separator = ", ";
  }
  out << (separator[0] == '[' ? "[]" : "]");
}

void MemoryTimeline::write_page(std::ostream& out, MemoryDevice device) const {
  constexpr double kWidth = 1100;
  constexpr double kHeight = 500;
  const std::vector<Sample> all = samples(device);
  std::int64_t peak = 1;
  for (const Sample& sample : all) {
    std::int64_t sum = 0;
    for (const std::int64_t bytes : sample.bytes) add_wrapping(sum, bytes);
    peak = std::max(peak, sum);
  }
  const std::int64_t start_us = all.empty() ? 0 : all.front().at_us;
  const std::int64_t end_us = all.empty() ? 1 : all.back().at_us;
  const double per_us =
      kWidth / std::max(1.0, static_cast<double>(end_us - start_us));
  const double per_byte = kHeight / static_cast<double>(peak);
  out << "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\">"
         "<title>Memory timeline</title></head>\n"
         "<body style=\"font-family:sans-serif\"><h1>Memory timeline</h1>\n"
      << fmt::format("<p>Peak {} bytes, {} us.</p>\n", all.empty() ? 0 : peak,
                     end_us - start_us)
      << fmt::format("<svg width=\"{0}\" height=\"{1}\" "
                     "viewBox=\"0 0 {0} {1}\">\n",
                     kWidth, kHeight);
  // Steps, the categories one on top of the other.
  for (std::size_t category = 0; category < kMemoryCategories; ++category) {
    std::string upper;
    std::string lower;
    for (std::size_t i = 0; i < all.size(); ++i) {
      double below = 0;
      for (std::size_t c = 0; c < category; ++c) {
        below += static_cast<double>(all[i].bytes[c]);
      }
      const double above = below + static_cast<double>(all[i].bytes[category]);
      const double left = static_cast<double>(all[i].at_us - start_us) * per_us;
      const double right =
          i + 1 < all.size()
              ? static_cast<double>(all[i + 1].at_us - start_us) * per_us
              : kWidth;
      upper += fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} ", left,
                           kHeight - above * per_byte, right,
                           kHeight - above * per_byte);
      lower = fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} ", right,
                          kHeight - below * per_byte, left,
                          kHeight - below * per_byte) +
              lower;
    }
    out << "<polygon fill=\"" << kColors[category] << "\" points=\"" << upper
        << lower << "\"><title>" << kCategoryNames[category]
        << "</title></polygon>\n";
  }
  out << "</svg><ul>\n";
  for (std::size_t category = 0; category < kMemoryCategories; ++category) {
    out << "<li style=\"color:" << kColors[category] << "\">"
        << kCategoryNames[category] << "</li>\n";
  }
  out << "</ul></body></html>\n";
}

Result<void> MemoryTimeline::export_memory_timeline(
    const std::string& path, std::optional<MemoryDevice> device) const {
  const MemoryDevice shown = device.value_or(default_device());
  return profile::write_file(path, [&](std::ostream& out) {
    if (ends_with(path, ".html")) {
      write_page(out, shown);
    } else if (ends_with(path, "raw.json.gz")) {
      write_points(out, shown);
    } else {
      write_samples(out, shown);
    }
  });
}

}  // namespace weft
