// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TOOLS_WEFT_CHOICE_H_
#define WEFT_TOOLS_WEFT_CHOICE_H_

#include <CLI/CLI.hpp>

#include <string>
#include <utility>
#include <vector>

namespace weft::tools {

// An option that takes one of a few words. The help and the error list them.
template <class Value>
void add_choice(CLI::App& command, const char* name, Value* chosen,
                std::vector<std::pair<std::string, Value>> words) {
  std::string list;
  for (const auto& [word, value] : words)
    list += (list.empty() ? "" : ", ") + word;
  command.add_option_function<std::string>(
             name,
             [chosen, words, list, name](const std::string& given) {
               for (const auto& [word, value] : words) {
                 if (word != given) continue;
                 *chosen = value;
                 return;
               }
               throw CLI::ValidationError(name, given + ": must be one of " +
                                                    list);
             },
             list)
      ->type_name("WORD");
}

}  // namespace weft::tools

#endif  // WEFT_TOOLS_WEFT_CHOICE_H_
