// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_CHROME_EVENT_SPLITTER_H_
#define WEFT_PROFILE_SRC_CHROME_EVENT_SPLITTER_H_

// Finds the list of events in a Chrome JSON file, and its elements one by one.
// It only looks at brackets and strings; whether an element is valid JSON its
// reader must tell.
//
//   [ event, event, ... ]
//   { ..., "traceEvents": [ event, event, ... ], ... }
//   event newline event newline ...

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "inflating_reader.h"
#include "weft/result.h"

namespace weft::profile {

enum class ChromeListForm : std::uint8_t { kEmpty, kArray, kObject, kLines };

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

  // Goes to the list's first element. False if the file has none.
  //
  // Errors: kUnsupported  it is no JSON of any of the three forms
  Result<bool> find_list();
  ChromeListForm form() const noexcept { return form_; }

  // Goes to the next element and says what begins there. Then read(), or
  // consume it otherwise and say so.
  Next peek();
  // Errors: kLimit  the element is larger than allowed
  Result<Next> read();
  // The element was consumed, with the comma behind it or without.
  void passed(bool comma) noexcept {
    after_element_ = true;
    commas_ = comma ? 1 : 0;
  }

  // After kEnd: what the object has behind the list.
  void read_rest();
  // Members of the object besides the list, as JSON; small ones only.
  const std::map<std::string, std::string>& members() const noexcept {
    return members_;
  }

  // Of the last element; where it began.
  const std::string& text() const noexcept { return text_; }
  std::uint64_t offset() const noexcept { return offset_; }
  // Whether commas were missing, or more than needed.
  bool odd_commas() const noexcept { return odd_commas_; }
  // Whether the file ends inside an element.
  bool cut_inside() const noexcept { return cut_inside_; }

 private:
  enum class Found { kList, kNoList, kBroken };

  void skip_space();
  void skip_byte_order_mark();
  bool is_lines();
  Found read_members();
  // Reads one value into text_. False if the file ends inside it.
  bool read_value(std::size_t limit);
  bool read_string(std::size_t limit);
  void keep(int byte, std::size_t limit);

  InflatingReader& reader_;
  const std::size_t max_event_bytes_;
  ChromeListForm form_ = ChromeListForm::kEmpty;
  std::map<std::string, std::string> members_;
  std::size_t member_bytes_ = 0;
  std::string text_;
  std::uint64_t offset_ = 0;
  bool too_large_ = false;
  bool after_element_ = false;
  std::uint64_t commas_ = 0;
  bool odd_commas_ = false;
  bool cut_inside_ = false;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_CHROME_EVENT_SPLITTER_H_
