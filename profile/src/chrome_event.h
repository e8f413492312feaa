// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_CHROME_EVENT_H_
#define WEFT_PROFILE_SRC_CHROME_EVENT_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::profile {

// What readers want of one trace event. Texts last as long as the call that
// hands the event over. A number's text is as it is written.
struct ChromeEvent {
  std::string_view text;  // all of it, as JSON
  std::string_view name;
  std::string_view category;
  std::string_view phase;
  std::string_view pid;
  std::string_view tid;
  std::string_view id;  // of async events and flows; also "id2"
  std::string_view scope;
  std::string_view instant_scope;
  bool has_name = false;
  bool has_category = false;
  bool id_is_local = false;  // counts within its process only
  std::optional<std::int64_t> start_ns;
  std::optional<std::int64_t> duration_ns;
  // Arguments.
  std::string_view argument_name;  // of metadata
  std::string_view correlation;
  std::string_view external_id;
  std::string_view call_stack;
  std::string_view input_dims;  // as JSON
  std::string_view device;
  std::string_view device_type;
  std::string_view stream;
  std::string_view bytes;
  std::string_view sequence_nr;
  std::string_view fwd_thread;

  // "X", and what begins with it: some writers double it.
  bool is_complete() const noexcept {
    return !phase.empty() && phase.front() == 'X';
  }
};

// None if the text is not wholly an integer of 64 bits.
std::optional<std::int64_t> whole_number(std::string_view text) noexcept;

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_CHROME_EVENT_H_
