// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_GPU_CUPTI_MACHINE_H_
#define WEFT_TESTS_GPU_CUPTI_MACHINE_H_

#include <dlfcn.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "cupti/cupti_source.h"
#include "gpu/cupti_stand_in/stand_in.h"
#include "gpu/scripted_device.h"

namespace weft::test {

// The stand-in, which is loaded once and stays; WEFT_STAND_IN is its path.
inline CuptiStandIn& stand_in() {
  static CuptiStandIn* const library = [] {
    void* opened = dlopen(WEFT_STAND_IN, RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) {
      std::cerr << dlerror() << '\n';
      std::abort();
    }
    const auto entry =
        reinterpret_cast<StandInEntry>(dlsym(opened, kStandInSymbol));
    return entry();
  }();
  return *library;
}

inline cupti::CuptiOptions stand_in_options() {
  cupti::CuptiOptions options;
  options.names.driver = WEFT_STAND_IN;
  options.names.cupti = WEFT_STAND_IN;
  return options;
}

// A machine with a driver and CUPTI, until it goes out of scope.
class CuptiMachine {
 public:
  CuptiMachine() { library.reset(); }

  CuptiStandIn& library = stand_in();
  const std::shared_ptr<cupti::CuptiSource> source =
      std::make_shared<cupti::CuptiSource>(stand_in_options(),
                                           cupti::system_linker());
  const Registration registered{DeviceFamily::kCuda, "cupti", source};
};

}  // namespace weft::test

#endif  // WEFT_TESTS_GPU_CUPTI_MACHINE_H_
