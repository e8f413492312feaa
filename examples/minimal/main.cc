// SPDX-License-Identifier: Apache-2.0

// The smallest complete program: two threads, one trace.
//
//   WEFT_OUT=hello.json ./weft_minimal     # opens in chrome://tracing as it is

#include <cstdint>
#include <thread>

#include "weft/weft.h"

namespace {

std::uint64_t decode(std::uint64_t bytes) {
  WEFT_SPAN("decode", {"bytes", bytes});
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < bytes; ++i) sum += i ^ bytes;
  return sum;
}

void handle(std::uint64_t id) {
  const weft::Request request{id};  // what follows belongs to it
  WEFT_SPAN_NAMED(span, "handle_request");
  WEFT_FLOW_IN("hand_off", id);
  span.set("result", decode(1000 * id));  // known only now
}

}  // namespace

int main() {
  weft::init("minimal.weft");
  weft::set_thread_name("acceptor");
  weft::set_metadata("version", "1.4.2");
  for (std::uint64_t id = 1; id <= 100; ++id) {
    WEFT_SPAN("accept");
    WEFT_COUNTER("accepted", id);
    WEFT_FLOW_OUT("hand_off", id);
    std::thread(handle, id).join();
  }
}
