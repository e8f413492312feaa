// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "folded_spans.h"
#include "quantity_text.h"

namespace weft::tools {
namespace {

constexpr double kWidth = 1200;
constexpr double kRow = 17;
constexpr double kMargin = 30;
constexpr double kNarrowest = 0.3;   // boxes below are not drawn
constexpr double kLetterWidth = 7;

std::int64_t total_ns(const StackNode& node) {
  std::int64_t total = node.self_ns;
  for (const auto& [name, child] : node.children)
    add_wrapping(total, total_ns(*child));
  return total;
}

std::size_t depth_of(const StackNode& node) {
  std::size_t depth = 0;
  for (const auto& [name, child] : node.children)
    depth = std::max(depth, depth_of(*child) + 1);
  return depth;
}

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

// A warm color that a name keeps in every picture.
std::string color_of(std::string_view name) {
  std::uint32_t hash = 2166136261u;
  for (const char c : name)
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return fmt::format("rgb({},{},{})", 205 + hash % 50, 80 + (hash >> 8) % 130,
                     (hash >> 16) % 60);
}

struct Picture {
  double ns_width;  // of one nanosecond
  double height;
  std::int64_t all_ns;
  std::string out;

  void draw(const StackNode& node, double left, std::size_t level) {
    for (const auto& [name, child] : node.children) {
      const std::int64_t ns = total_ns(*child);
      const double width = static_cast<double>(ns) * ns_width;
      if (width >= kNarrowest) {
        box(name, ns, left, width, level);
        draw(*child, left, level + 1);
      }
      left += width;
    }
  }

  void box(const std::string& name, std::int64_t ns, double left, double width,
           std::size_t level) {
    const double top =
        height - kMargin - static_cast<double>(level + 1) * kRow;
    const double share =
        100 * static_cast<double>(ns) / static_cast<double>(all_ns);
    out += fmt::format(
        "<g><title>{} ({}, {:.2f}%)</title>"
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "fill=\"{}\"/>",
        xml_text(name), duration_text(static_cast<std::uint64_t>(ns)), share,
        left, top, width, kRow - 1, color_of(name));
    const auto letters = static_cast<std::size_t>((width - 4) / kLetterWidth);
    if (width > 4 && letters >= 3)
      out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", left + 2,
                         top + kRow - 5,
                         xml_text(shortened(printable(name), letters)));
    out += "</g>\n";
  }
};

}  // namespace

std::string flame_graph_svg(const StackNode& root, const std::string& title) {
  const std::int64_t all_ns = std::max<std::int64_t>(1, total_ns(root));
  Picture picture;
  picture.height =
      2 * kMargin + kRow * static_cast<double>(depth_of(root) + 1);
  picture.ns_width = (kWidth - 2 * kMargin) / static_cast<double>(all_ns);
  picture.all_ns = all_ns;
  picture.out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"monospace\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff8f0\"/>\n"
      "<text x=\"{2:.0f}\" y=\"20\">{3}, {4}</text>\n",
      kWidth, picture.height, kMargin, xml_text(title),
      duration_text(static_cast<std::uint64_t>(all_ns)));
  picture.draw(root, kMargin, 0);
  return picture.out + "</svg>\n";
}

}  // namespace weft::tools
