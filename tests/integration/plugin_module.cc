// SPDX-License-Identifier: Apache-2.0

// A plugin, instrumented in the places from which a compiler might pin it:
// templates and inline functions. Links to no part of weft: it records into what
// the program that loads it has.

#include "plugin_module.h"

#include <atomic>
#include <thread>

#include "weft/weft.h"

namespace {

void function() { WEFT_SPAN("plugin function", {"from", "a plugin"}); }

struct SpanAtThreadExit {
  ~SpanAtThreadExit() { WEFT_SPAN("plugin thread exit"); }
  int touched = 0;
};
thread_local SpanAtThreadExit at_thread_exit;

std::atomic<bool> worker_quits{false};
std::atomic<bool> worker_runs{false};
std::thread* worker = nullptr;

void work() {
  at_thread_exit.touched = 1;
  while (!worker_quits.load(std::memory_order_relaxed)) {
    WEFT_SPAN("plugin worker");
    worker_runs.store(true, std::memory_order_relaxed);
    std::this_thread::yield();
  }
}

}  // namespace

template <int kNumber>
void plugin_template() {
  WEFT_SPAN_CAT("plugin", "plugin template");
  WEFT_INSTANT("plugin instant", {"number", kNumber});
}

inline void plugin_inline() {
  WEFT_SPAN("plugin inline");
  WEFT_COUNTER("plugin counter", 1);
}

void plugin_record(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    function();
    plugin_template<1>();
    plugin_template<2>();
    plugin_inline();
  }
}

void plugin_start_worker() {
  worker_quits = false;
  worker = new std::thread(work);
  while (!worker_runs.load(std::memory_order_relaxed))
    std::this_thread::yield();
}

void plugin_stop_worker() {
  worker_quits = true;
  worker->join();
  delete worker;
}
