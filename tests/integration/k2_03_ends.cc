// SPDX-License-Identifier: Apache-2.0
//
// A program that records before main, in main, and until it is gone; how it
// ends is its second argument. See k2_03_test.cc.

#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <thread>

#include "weft/instant.h"
#include "weft/session.h"
#include "weft/span.h"
#include "weft/status.h"

namespace {

struct Global {
  Global() { WEFT_INSTANT("global constructor"); }  // before init: nothing
  ~Global() { WEFT_INSTANT("global destructor"); }
};
const Global global;

void before_init() { WEFT_SPAN("atexit before init"); }
void after_init() { WEFT_SPAN("atexit after init"); }

// Returns once everything recorded so far is in the file.
void wait_until_written() {
  weft::stop();  // closes the block that the records are in
  while (weft::status().bytes_pending != 0) std::this_thread::yield();
  weft::start();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string_view end = argv[2];
  std::atexit(before_init);
  weft::InitOptions options;
  options.output = argv[1];
  options.flush_after = std::chrono::milliseconds(1);
  if (!weft::init(options).ok()) return 3;
  std::atexit(after_init);
  { WEFT_SPAN("main"); }
  if (end == "return") return 0;
  wait_until_written();
  std::thread([end] {
    WEFT_INSTANT("the second thread");
    if (end == "quick_exit") std::quick_exit(0);
    if (end == "_exit") _exit(0);
    std::exit(0);
  }).join();
  return 4;
}
