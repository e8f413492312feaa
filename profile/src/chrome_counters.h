// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_CHROME_COUNTERS_H_
#define WEFT_PROFILE_SRC_CHROME_COUNTERS_H_

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "chrome_event.h"
#include "weft/profile/chrome_facts.h"

namespace weft::profile {

// Series of counter events: a series an argument that is a number, or text that
// is wholly one.
class ChromeCounters {
 public:
  ChromeCounters();
  ~ChromeCounters();

  void add(const ChromeEvent& event);
  // By pid, name and key.
  std::vector<ChromeSeriesFacts> facts() const;

 private:
  struct Parser;
  struct Series {
    std::uint64_t samples = 0;
    double min = 0;
    double max = 0;
    std::string min_text;
    std::string max_text;
  };
  using Key = std::tuple<std::string, std::string, std::string>;

  std::unique_ptr<Parser> parser_;
  std::map<Key, Series> series_;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_CHROME_COUNTERS_H_
