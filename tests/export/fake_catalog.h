// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_EXPORT_FAKE_CATALOG_H_
#define WEFT_TESTS_EXPORT_FAKE_CATALOG_H_

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/catalog.h"

namespace weft::test {

// A Catalog that tests fill by hand.
class FakeCatalog : public Catalog {
 public:
  StringId add_string(std::string_view text) {
    for (std::size_t i = 0; i < strings_.size(); ++i)
      if (strings_[i] == text) return static_cast<StringId>(i + 1);
    strings_.emplace_back(text);
    return static_cast<StringId>(strings_.size());
  }
  SiteId add_site(SiteKind kind, std::string_view name,
                  std::string_view category = "test",
                  const std::vector<std::pair<std::string, RecordKind>>&
                      arguments = {}) {
    SiteInfo info;
    info.number = static_cast<SiteId>(sites_.size() + 1);
    info.kind = kind;
    info.name = add_string(name);
    info.category = add_string(category);
    info.file = add_string("file.cc");
    info.line = static_cast<std::uint32_t>(sites_.size() + 10);
    for (const auto& [key, type] : arguments)
      info.arguments[info.argument_count++] = {add_string(key), type};
    sites_.push_back(info);
    return info.number;
  }
  // Adds the thread or changes what is known of it.
  void set_thread(ThreadInfo info) {
    for (const ThreadInfo& known : changes_)
      if (known.index == info.index) info.revision = known.revision + 1;
    changes_.push_back(info);
  }
  ThreadIndex add_thread(std::string_view name, std::uint32_t tid) {
    ThreadInfo info;
    info.index = static_cast<ThreadIndex>(++threads_);
    info.tid = tid;
    info.tid_is_unique = true;
    info.name = add_string(name);
    info.start_tick = 1;
    set_thread(info);
    return info.index;
  }
  void add_metadata(std::string_view key, std::string_view value) {
    metadata_.emplace_back(add_string(key), add_string(value));
  }
  // As the runtime's after each pass: news of threads are told once.
  void forget_news() { first_news_ = changes_.size(); }
  // As if its owner were still writing it.
  void hide_string(StringId id) { hidden_ = id; }

  std::uint32_t string_end() const noexcept override {
    return static_cast<std::uint32_t>(strings_.size() + 1);
  }
  bool string(StringId id, std::string_view* text) const noexcept override {
    const auto number = static_cast<std::size_t>(id);
    if (number == 0 || number > strings_.size() || id == hidden_) return false;
    *text = strings_[number - 1];
    return true;
  }
  std::uint32_t site_end() const noexcept override {
    return static_cast<std::uint32_t>(sites_.size() + 1);
  }
  bool site(SiteId id, SiteInfo* info) const noexcept override {
    const auto number = static_cast<std::size_t>(id);
    if (number == 0 || number > sites_.size()) return false;
    *info = sites_[number - 1];
    return true;
  }
  bool next_thread(std::uint64_t* cursor,
                   ThreadInfo* info) const noexcept override {
    if (*cursor < first_news_) *cursor = first_news_;
    if (*cursor >= changes_.size()) return false;
    *info = changes_[(*cursor)++];
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
  std::deque<std::string> strings_;
  std::vector<SiteInfo> sites_;
  std::vector<ThreadInfo> changes_;
  std::vector<std::pair<StringId, StringId>> metadata_;
  std::uint64_t first_news_ = 0;
  std::uint32_t threads_ = 0;
  StringId hidden_ = StringId::kNone;
};

}  // namespace weft::test

#endif  // WEFT_TESTS_EXPORT_FAKE_CATALOG_H_
