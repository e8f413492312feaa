// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_CHROME_PAIRS_H_
#define WEFT_PROFILE_SRC_CHROME_PAIRS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "chrome_event.h"
#include "name_table.h"
#include "weft/profile/chrome_facts.h"

namespace weft::profile {

// Counts how begins and ends fit together.
class ChromePairs {
 public:
  // `key`: of what they must have in common. The event must have a time.
  void add(std::string key, const ChromeEvent& event, bool begins);
  bool empty() const noexcept { return halves_.empty(); }
  ChromePairFacts facts();

 private:
  struct Half {
    std::int64_t at_ns;
    bool begins;
    bool named;
    std::uint32_t name;
  };
  NameTable names_;
  std::map<std::string, std::vector<Half>> halves_;
};

// Counts arrows and their ends.
class ChromeFlows {
 public:
  void add(const ChromeEvent& event);
  std::map<std::string, ChromeFlowFacts> facts();

 private:
  struct Point {
    std::int64_t at_ns;
    char phase;
  };
  using Points = std::map<std::string, std::vector<Point>>;  // by id
  std::map<std::string, Points> by_category_;
};

// Parts that may hold anything, kept apart.
std::string joined_key(std::initializer_list<std::string_view> parts);

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_CHROME_PAIRS_H_
