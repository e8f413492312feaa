// SPDX-License-Identifier: Apache-2.0
#include "demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace weft::profile {

std::string demangle(const std::string& name, Rules rules) {
  if (rules == Rules::kWeft && name.compare(0, 2, "_Z") != 0) return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

}  // namespace weft::profile
