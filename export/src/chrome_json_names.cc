// SPDX-License-Identifier: Apache-2.0
#include "chrome_json_names.h"

#include <bit>

#include "json_text.h"

namespace weft::exporters {
namespace {

constexpr std::string_view kNoName = "(no name)";  // DevTools refuses ""
constexpr std::string_view kNoCategory = "default";

// More sites than this are not cached: the number comes out of a file.
constexpr std::size_t kMaxCachedSites = 65'536;

// True if `members`, the inside of an object, has the member `"key":`. Exact,
// because a quote inside a value is always behind a backslash.
bool has_key(std::string_view members, std::string_view quoted_key) {
  for (std::size_t at = members.find(quoted_key); at != std::string_view::npos;
       at = members.find(quoted_key, at + 1))
    if (at == 0 || members[at - 1] == ',') return true;
  return false;
}

}  // namespace

std::string_view EventNames::head(EventName event) {
  const auto site_number = static_cast<std::size_t>(event.site);
  const bool known = site_number < info_.sites.size() &&
                     site_number < kMaxCachedSites;
  if (known && event.name == StringId::kNone) {
    if (heads_.size() <= site_number) heads_.resize(info_.sites.size());
    std::string& cached = heads_[site_number];
    if (cached.empty()) {
      const SiteInfo& site = info_.site(event.site);
      cached = head(info_.text(site.name), info_.text(site.category));
    }
    return cached;
  }
  return head(text(event), info_.text(info_.site(event.site).category));
}

std::string_view EventNames::head(std::string_view name,
                                  std::string_view category) {
  dynamic_.assign(",\n{\"name\":");
  append_text(name.empty() ? kNoName : name, &dynamic_);
  dynamic_.append(",\"cat\":");
  append_text(category.empty() ? kNoCategory : category, &dynamic_);
  dynamic_.append(",\"ph\":\"");
  return dynamic_;
}

std::string_view EventNames::text(EventName event) const {
  const std::string_view name =
      info_.text(event.name != StringId::kNone ? event.name
                                               : info_.site(event.site).name);
  return name.empty() ? kNoName : name;
}

void EventNames::append_text(std::string_view text, std::string* members) {
  invalid_bytes_ += append_string(members, text);
}

void EventNames::append_key(std::string_view key, std::string* members) {
  key_.clear();
  append_text(key, &key_);
  key_.push_back(':');
  for (unsigned copy = 2; has_key(*members, key_); ++copy) {
    key_.clear();
    append_text(std::string(key) + "#" + std::to_string(copy), &key_);
    key_.push_back(':');
  }
  if (!members->empty()) members->push_back(',');
  members->append(key_);
}

std::string_view EventNames::key_of(const DecodedRecord& record,
                                    const DecodedValue& value,
                                    std::string* made) {
  const SiteInfo& site = info_.site(record.site);
  if (value.index < site.argument_count && value.index < kMaxArguments) {
    const std::string_view key = info_.text(site.arguments[value.index].key);
    if (!key.empty()) return key;
  }
  *made = "arg" + std::to_string(value.index);
  return *made;
}

void EventNames::append_values(const DecodedRecord& record,
                               std::string* members) {
  std::string made;
  for (std::uint32_t i = 0; i < record.value_count; ++i) {
    const DecodedValue& value = record.values[i];
    append_key(key_of(record, value, &made), members);
    append_value(value, members);
  }
}

void EventNames::append_value(const DecodedValue& value, std::string* members) {
  switch (value.type) {
    case RecordKind::kInt64:
      return append_signed(members, static_cast<std::int64_t>(value.bits));
    case RecordKind::kUint64:
      return append_unsigned(members, value.bits);
    case RecordKind::kDouble:
      return append_double(members, std::bit_cast<double>(value.bits));
    case RecordKind::kBool:
      members->append(value.bits != 0 ? "true" : "false");
      return;
    case RecordKind::kStringId:
      return append_text(
          info_.text(static_cast<StringId>(static_cast<std::uint32_t>(value.bits))),
          members);
    case RecordKind::kText:
      if (value.text_length <= value.text.size())
        return append_text(value.text, members);
      return append_text(std::string(value.text) + "... (" +
                             std::to_string(value.text_length) + " bytes)",
                         members);
    default:
      members->append("null");
  }
}

}  // namespace weft::exporters
