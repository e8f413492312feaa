// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_COMPACT_ROWS_H_
#define WEFT_PROFILE_SRC_COMPACT_ROWS_H_

// Rows of an imported trace, each in a few bytes, and the averages over them:
// the same figures as those of an EventList of such rows, which the tests hold
// against each other.

#include <cstdint>
#include <string>
#include <vector>

#include "name_table.h"
#include "weft/profile/key_averages.h"

namespace weft::profile {

struct CompactRow {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint32_t name;
  std::uint32_t thread;
  std::uint32_t parent = kNone;
  bool is_device = false;
  bool is_annotation = false;  // on a device
  bool is_async = false;
  bool is_user_scope = false;
  bool is_loose = false;  // memory that no row is charged with

  bool nests() const noexcept { return !is_device && !is_async && !is_loose; }
};

// Bytes that one row used.
struct CompactUsage {
  std::int64_t host = 0;
  std::int64_t device = 0;
};

class CompactRows {
 public:
  // Rows are known by the order in which they were added.
  std::uint32_t add(const CompactRow& row) {
    rows_.push_back(row);
    return static_cast<std::uint32_t>(rows_.size() - 1);
  }
  NameTable& names() noexcept { return names_; }
  const CompactRow& operator[](std::uint32_t row) const { return rows_[row]; }
  std::size_t size() const noexcept { return rows_.size(); }

  // After the last row: finds who is inside whom.
  void link();
  // The innermost row of a thread that holds [start_ns, end_ns], or kNone.
  std::uint32_t innermost(std::uint32_t thread, std::int64_t start_ns,
                          std::int64_t end_ns) const;
  // After link(): device time of a row's own kernels.
  void own(std::uint32_t row, std::int64_t device_ns);
  // The same of memory, whose records must come in the order of time. False:
  // no row of the thread was open then.
  bool charge(std::uint32_t thread, std::int64_t at_ns, CompactUsage usage);

  // After link(): a row for memory that no other is charged with.
  void add_loose(CompactRow row, CompactUsage usage);

  // Ends the object's use.
  std::vector<FunctionEventAvg> averages();

 private:
  struct Totals {
    std::int64_t children_ns = 0;
    std::int64_t device_ns = 0;        // own and below
    std::int64_t below_device_ns = 0;  // of the children
  };
  // Rows of a thread that are open at a moment that only moves on.
  struct Open {
    std::size_t next = 0;
    std::vector<std::uint32_t> rows;
  };

  std::vector<std::uint32_t> ordered_rows() const;
  void add_up();
  // The averages' row for `row`, made when it is first met.
  std::uint32_t group_of(const CompactRow& row,
                         std::vector<FunctionEventAvg>& averages);
  void add_host_row(std::uint32_t row, bool nested, FunctionEventAvg& average);

  NameTable names_;
  std::vector<CompactRow> rows_;
  std::vector<std::uint32_t> order_;  // by start, longest first
  std::vector<std::vector<std::uint32_t>> of_thread_;  // in that order
  std::vector<Totals> totals_;
  std::vector<CompactUsage> usage_;  // own, then all; empty: none
  std::vector<CompactUsage> below_;
  std::vector<Open> open_;
  std::vector<std::uint32_t> groups_;  // by name and what else separates rows
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_COMPACT_ROWS_H_
