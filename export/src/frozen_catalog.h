// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_EXPORT_SRC_FROZEN_CATALOG_H_
#define WEFT_EXPORT_SRC_FROZEN_CATALOG_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/catalog.h"

namespace weft::exporters {

// A catalog as it was at one moment, for readers on another thread: copies what
// only the drainer may read, and looks up in the live one what anyone may.
class FrozenCatalog final : public Catalog {
 public:
  // Drainer only.
  FrozenCatalog(const Catalog& live, std::vector<ThreadInfo> threads)
      : live_(&live),
        string_end_(live.string_end()),
        site_end_(live.site_end()),
        threads_(std::move(threads)) {
    for (std::uint32_t i = 0, end = live.metadata_end(); i < end; ++i)
      metadata_.push_back(live.metadata(i));
  }

  std::uint32_t string_end() const noexcept override { return string_end_; }
  bool string(StringId id, std::string_view* text) const noexcept override {
    return live_->string(id, text);
  }
  std::uint32_t site_end() const noexcept override { return site_end_; }
  bool site(SiteId id, SiteInfo* info) const noexcept override {
    return live_->site(id, info);
  }
  bool next_thread(std::uint64_t* cursor,
                   ThreadInfo* info) const noexcept override {
    if (*cursor >= threads_.size()) return false;
    *info = threads_[(*cursor)++];
    return true;
  }
  std::uint32_t metadata_end() const noexcept override {
    return static_cast<std::uint32_t>(metadata_.size());
  }
  std::pair<StringId, StringId> metadata(
      std::uint32_t index) const noexcept override {
    return metadata_[index];
  }

 private:
  const Catalog* live_;
  std::uint32_t string_end_;
  std::uint32_t site_end_;
  std::vector<ThreadInfo> threads_;
  std::vector<std::pair<StringId, StringId>> metadata_;
};

}  // namespace weft::exporters

#endif  // WEFT_EXPORT_SRC_FROZEN_CATALOG_H_
