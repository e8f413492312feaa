// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SRC_RUNTIME_CATALOG_H_
#define WEFT_SRC_RUNTIME_CATALOG_H_

#include <cstdint>
#include <vector>

#include "metadata_list.h"
#include "site_registry.h"
#include "string_table.h"
#include "weft/catalog.h"

namespace weft {

// The tables as exporters see them, and the news of threads.
//
// Every exporter reads all news in each define(), so what a pass has announced
// can be forgotten after it: memory does not grow with threads long dead.
class RuntimeCatalog final : public Catalog {
 public:
  RuntimeCatalog(const StringTable& strings, const SiteTable& sites,
                 const MetadataList& metadata)
      : strings_(&strings), sites_(&sites), metadata_(&metadata) {}

  std::uint32_t string_end() const noexcept override { return strings_->end(); }
  bool string(StringId id, std::string_view* text) const noexcept override {
    return strings_->text(id, text);
  }
  std::uint32_t site_end() const noexcept override { return sites_->end(); }
  bool site(SiteId id, SiteInfo* info) const noexcept override {
    return sites_->info(id, info);
  }
  bool next_thread(std::uint64_t* cursor,
                   ThreadInfo* info) const noexcept override {
    if (*cursor < first_news_) *cursor = first_news_;
    if (*cursor - first_news_ >= news_.size()) return false;
    *info = news_[*cursor - first_news_];
    ++*cursor;
    return true;
  }
  std::uint32_t metadata_end() const noexcept override {
    return metadata_->end();
  }
  std::pair<StringId, StringId> metadata(
      std::uint32_t index) const noexcept override {
    return metadata_->pair(index);
  }

  void announce(const ThreadInfo& info) { news_.push_back(info); }
  bool has_news() const noexcept { return !news_.empty(); }
  void forget_news() noexcept {
    first_news_ += news_.size();
    news_.clear();
  }

 private:
  const StringTable* strings_;
  const SiteTable* sites_;
  const MetadataList* metadata_;
  std::uint64_t first_news_ = 0;
  std::vector<ThreadInfo> news_;
};

}  // namespace weft

#endif  // WEFT_SRC_RUNTIME_CATALOG_H_
