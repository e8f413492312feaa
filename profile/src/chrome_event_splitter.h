// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_CHROME_EVENT_SPLITTER_H_
#define WEFT_PROFILE_SRC_CHROME_EVENT_SPLITTER_H_

// Finds the list of events in a Chrome JSON file, and its elements one by one.
// It only looks at brackets and strings; whether an element is valid JSON its
// reader must tell.
//
//   [ event, event, ... ]
//   { ..., "traceEvents": [ event, event, ... ], ... }

#include <cstddef>
#include <cstdint>
#include <string>

#include "inflating_reader.h"
#include "weft/result.h"

namespace weft::profile {

class ChromeEventSplitter {
 public:
  enum class Next {
    kObject,  // an element in braces: see text()
    kOther,   // an element that is no object
    kEnd,     // the list is closed
    kCut,     // the file ends before that
  };

  ChromeEventSplitter(InflatingReader& reader, std::size_t max_event_bytes)
      : reader_(reader), max_event_bytes_(max_event_bytes) {}

  // Goes to the list's first element. False for a file without any bytes.
  //
  // Errors: kUnsupported  there is no list of events
  Result<bool> find_list();

  // Errors: kLimit  the element is larger than allowed
  Result<Next> next();

  // Of the last element; where it began.
  const std::string& text() const noexcept { return text_; }
  std::uint64_t offset() const noexcept { return offset_; }

 private:
  void skip_space();
  void skip_byte_order_mark();
  // Reads one value into text_. False if the file ends inside it.
  Result<bool> read_value();
  bool read_string();
  bool keep(int byte);
  Error no_list(const std::string& found) const;

  InflatingReader& reader_;
  const std::size_t max_event_bytes_;
  std::string text_;
  std::uint64_t offset_ = 0;
  bool too_large_ = false;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_CHROME_EVENT_SPLITTER_H_
