// SPDX-License-Identifier: Apache-2.0
#include "weft/profile/record_list.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "event_name.h"
#include "weft/profile/raw_event.h"

namespace weft {
namespace {

using Kind = ListRecord::Kind;

const ListRecord* find_start(const RecordLists& lists) {
  for (const auto& list : lists) {
    for (const ListRecord& record : list) {
      if (record.name == kStartMark) return &record;
    }
  }
  return nullptr;
}

Error no_start_mark() {
  return {ErrorCode::kCorrupt, "record lists without the mark \"" +
                                   std::string(kStartMark) +
                                   "\": their times have no origin"};
}

Error end_without_begin(const ListRecord& record) {
  return {ErrorCode::kCorrupt,
          "an end without a begin: handle " + std::to_string(record.handle) +
              " of thread " + std::to_string(record.thread)};
}

std::int64_t last_time(const RecordLists& lists) {
  std::int64_t last = 0;
  for (const auto& list : lists) {
    for (const ListRecord& record : list) last = std::max(last, record.cpu_ns);
  }
  return last;
}

FunctionEvent event_of(const ListRecord& push, Rules rules) {
  FunctionEvent event;
  event.trace_name = profile::trace_name_of(push.name, rules);
  event.name = profile::row_name_of(*event.trace_name);
  event.thread = push.thread;
  event.input_shapes = push.shapes;
  return event;
}

class Lists2017Parser {
 public:
  Lists2017Parser(const RecordLists& lists, const ListRecord& start,
                  Rules rules)
      : lists_(lists), start_(start), rules_(rules) {}

  Result<ParsedRecords> parse() {
    for (const auto& list : lists_) {
      for (const ListRecord& record : list) {
        if (record.kind == Kind::kPush) {
          open_.push_back({&record, next_id_++});
        } else if (record.kind == Kind::kPop && !close(record)) {
          if (rules_ == Rules::kReference) return end_without_begin(record);
          ++parsed_.ends_without_begin;
        }
      }
      // The reference has one stack for all threads.
      if (rules_ == Rules::kWeft) close_rest();
    }
    std::stable_sort(parsed_.events.begin(), parsed_.events.end(),
                     [](const FunctionEvent& a, const FunctionEvent& b) {
                       return a.start_ns < b.start_ns;
                     });
    return std::move(parsed_);
  }

 private:
  struct Open {
    const ListRecord* push;
    std::int64_t id;
  };

  bool close(const ListRecord& pop) {
    if (open_.empty()) return false;
    FunctionEvent event = begun(open_.back());
    const ListRecord& push = *open_.back().push;
    open_.pop_back();
    event.end_ns = pop.cpu_ns - start_.cpu_ns;
    if (start_.device_ns && push.device_ns && pop.device_ns) {
      event.kernels.push_back({event.name, DeviceType::kCuda, push.device_index,
                               0, *pop.device_ns - *push.device_ns,
                               *push.device_ns - *start_.device_ns});
    }
    parsed_.events.push_back(std::move(event));
    return true;
  }

  void close_rest() {
    for (const Open& open : open_) {
      FunctionEvent event = begun(open);
      event.end_ns = last_time(lists_) - start_.cpu_ns;
      event.finished = false;
      parsed_.events.push_back(std::move(event));
      ++parsed_.begins_without_end;
    }
    open_.clear();
  }

  FunctionEvent begun(const Open& open) const {
    FunctionEvent event = event_of(*open.push, rules_);
    event.id = open.id;
    event.start_ns = open.push->cpu_ns - start_.cpu_ns;
    return event;
  }

  const RecordLists& lists_;
  const ListRecord& start_;
  const Rules rules_;
  std::vector<Open> open_;
  std::int64_t next_id_ = 0;
  ParsedRecords parsed_;
};

class ListsParser {
 public:
  ListsParser(const RecordLists& lists, const ListRecord& start, Rules rules)
      : lists_(lists), start_(start), rules_(rules) {
    const RawEventOptions reference = reference_raw_event_options();
    hidden_names_.insert(reference.hidden_names.begin(),
                         reference.hidden_names.end());
  }

  Result<ParsedRecords> parse() {
    for (const auto& list : lists_) {
      if (auto failed = parse_list(list); !failed) return failed.error();
    }
    std::stable_sort(parsed_.events.begin(), parsed_.events.end(),
                     [](const FunctionEvent& a, const FunctionEvent& b) {
                       return a.start_ns != b.start_ns ? a.start_ns < b.start_ns
                                                       : a.end_ns > b.end_ns;
                     });
    return std::move(parsed_);
  }

 private:
  using Key = std::pair<std::int64_t, std::int64_t>;  // handle, node
  struct Open {
    const ListRecord* push;
    MemoryUsage memory;
  };

  Result<void> parse_list(const std::vector<ListRecord>& list) {
    open_.clear();
    dropped_.clear();
    const ListRecord* previous = nullptr;
    for (const ListRecord& record : list) {
      const Key key{record.handle, record.node_id};
      if (hidden_names_.count(record.name) != 0 || dropped_.count(key) != 0) {
        dropped_.insert(key);
        continue;
      }
      switch (record.kind) {
        case Kind::kPush:
          if (repeats(previous, record)) {
            dropped_.insert(key);
            continue;  // and `previous` stays
          }
          open_[key] = {&record, {}};
          break;
        case Kind::kPop:
          if (open_.count(key) != 0) {
            close(key, record);
          } else if (rules_ == Rules::kReference) {
            return end_without_begin(record);
          } else {
            ++parsed_.ends_without_begin;
          }
          break;
        case Kind::kMemory:
          add_memory(record);
          break;
        case Kind::kMark:
          break;
      }
      previous = &record;
    }
    if (rules_ == Rules::kWeft) close_rest();
    return {};
  }

  static bool repeats(const ListRecord* previous, const ListRecord& push) {
    return previous != nullptr && previous->kind == Kind::kPush &&
           previous->name == push.name && previous->node_id == push.node_id;
  }

  FunctionEvent begun(const Open& open) const {
    const ListRecord& push = *open.push;
    FunctionEvent event = event_of(push, rules_);
    event.id = push.handle;
    event.node_id = push.node_id;
    event.start_ns = push.cpu_ns - start_.cpu_ns;
    event.is_async = push.is_async;
    event.is_legacy = true;
    event.memory = open.memory;
    return event;
  }

  void close(const Key& key, const ListRecord& pop) {
    const auto open = open_.find(key);
    const ListRecord& push = *open->second.push;
    FunctionEvent event = begun(open->second);
    open_.erase(open);
    event.end_ns = pop.cpu_ns - start_.cpu_ns;
    event.is_async = event.is_async || push.thread != pop.thread;
    event.is_remote = pop.is_remote;
    if (!event.is_async && push.device_ns && pop.device_ns &&
        *pop.device_ns > *push.device_ns) {
      event.kernels.push_back({push.name, DeviceType::kCuda, push.device_index,
                               0, *pop.device_ns - *push.device_ns,
                               std::nullopt});
    }
    parsed_.events.push_back(std::move(event));
  }

  void close_rest() {
    for (const auto& [key, open] : open_) {
      FunctionEvent event = begun(open);
      event.end_ns = last_time(lists_) - start_.cpu_ns;
      event.finished = false;
      parsed_.events.push_back(std::move(event));
      ++parsed_.begins_without_end;
    }
  }

  void add_memory(const ListRecord& record) {
    MemoryUsage usage;
    usage.cpu_bytes = record.cpu_bytes;
    usage.device_bytes[DeviceFamily::kCuda] = record.cuda_bytes;
    for (auto& [key, open] : open_) open.memory += usage;
    if (!open_.empty()) return;
    FunctionEvent& event = parsed_.events.emplace_back();
    event.name = kMemoryRecord;
    event.is_legacy = true;
    event.memory = usage;
    event.flops.reset();
  }

  const RecordLists& lists_;
  const ListRecord& start_;
  const Rules rules_;
  std::set<std::string> hidden_names_;
  std::map<Key, Open> open_;
  std::set<Key> dropped_;
  ParsedRecords parsed_;
};

}  // namespace

Result<ParsedRecords> parse_record_lists_2017(const RecordLists& lists,
                                              Rules rules) {
  const ListRecord* start = find_start(lists);
  if (start == nullptr) return no_start_mark();
  return Lists2017Parser(lists, *start, rules).parse();
}

Result<ParsedRecords> parse_record_lists(const RecordLists& lists,
                                         Rules rules) {
  const ListRecord* start = find_start(lists);
  if (start == nullptr) return no_start_mark();
  return ListsParser(lists, *start, rules).parse();
}

}  // namespace weft
