// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_PROFILE_GOLDEN_INPUT_H_
#define WEFT_TESTS_PROFILE_GOLDEN_INPUT_H_

// Recorded inputs as the profiler's own types. Their times are microseconds.

#include <simdjson.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/profile/event_list.h"
#include "weft/profile/raw_event.h"
#include "weft/profile/record_list.h"
#include "weft/profile/table_options.h"

namespace weft::golden {

using Json = simdjson::dom::element;

// Where the files are.
std::filesystem::path golden_folder();

std::int64_t to_ns(double us);

// The member, or none when it is missing or null.
std::optional<Json> member(Json object, std::string_view key);
std::int64_t integer(Json object, std::string_view key, std::int64_t missing);
std::string text(Json object, std::string_view key, std::string missing = "");

// Options of a session, with those of a call over them.
struct Session {
  EventListOptions list;
  std::int64_t trace_start_ns = 0;
};
Session read_session(Json file, Json call);

// The input elements that a call selects.
std::vector<Json> selected(Json file, Json call);

FunctionEvent read_event(Json element, std::size_t position,
                         const Session& session);
RawEvent read_raw_event(Json element);
RecordLists read_record_lists(Json element);
// None: the reference has no such sort key.
std::optional<TableOptions> read_table_options(Json call);
KeyOptions read_key_options(Json call);

// The list that a call of kind "events" or "raw" is made on.
EventList read_list(Json file, Json call, Rules rules);

}  // namespace weft::golden

#endif  // WEFT_TESTS_PROFILE_GOLDEN_INPUT_H_
