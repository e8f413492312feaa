// SPDX-License-Identifier: Apache-2.0
//
// A program that ends its session, or loses the weft that it had, in the way
// that its first argument says. The second is the plugin. See k7_05_test.cc.

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "k7_05_plugin.h"
#include "weft/session.h"
#include "weft/span.h"

namespace {

bool shut_down_in_destructor = false;

struct Global {
  ~Global() {
    if (shut_down_in_destructor && !weft::shutdown().ok()) std::_Exit(10);
  }
};
const Global global;

struct ThreadEnd {
  ~ThreadEnd() {
    WEFT_SPAN("the end of a thread");
    if (used && !weft::shutdown().ok()) std::_Exit(11);
  }
  bool used = false;
};
thread_local ThreadEnd thread_end;

int with_own_weft(std::string_view end) {
  if (end == "never initialised") {
    WEFT_SPAN("nobody listens");
    return weft::shutdown().ok() ? 3 : 0;
  }
  if (!weft::init("").ok()) return 4;
  if (end == "shutdown in atexit")
    std::atexit([] {
      if (!weft::shutdown().ok()) std::_Exit(12);
    });
  shut_down_in_destructor = end == "shutdown in a destructor";
  if (end == "shutdown in a thread's destructor")
    std::thread([] {
      WEFT_SPAN("work");
      thread_end.used = true;
    }).join();
  WEFT_SPAN("main");
  return 0;
}

struct Loaded {
  void* handle = nullptr;
  const K705Plugin* plugin = nullptr;
};

Loaded load(const char* path) {
  Loaded loaded;
  loaded.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (loaded.handle == nullptr) return loaded;
  const auto entry = reinterpret_cast<const K705Plugin* (*)()>(
      dlsym(loaded.handle, "k7_05_plugin"));
  if (entry != nullptr) loaded.plugin = entry();
  return loaded;
}

int with_plugin(std::string_view end, const char* path) {
  const int rounds = end == "plugin closed and opened again" ? 5 : 1;
  for (int i = 0; i < rounds; ++i) {
    const Loaded loaded = load(path);
    if (loaded.plugin == nullptr) return 5;
    // Again: the session of the first time may be running still.
    if (!loaded.plugin->begin() && i == 0) return 6;
    std::atomic<bool> recorded{false}, closed{false};
    std::thread other([&] {
      loaded.plugin->record();
      recorded = true;
      while (!closed) std::this_thread::yield();
    });
    while (!recorded) std::this_thread::yield();
    if (end == "plugin closed before its threads end") {
      dlclose(loaded.handle);
      closed = true;
      other.join();
    } else {
      closed = true;
      other.join();
      loaded.plugin->record();
      dlclose(loaded.handle);
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string_view end = argv[1];
  if (end.find("plugin") != end.npos || end.find("library") != end.npos)
    return with_plugin(end, argv[2]);
  return with_own_weft(end);
}
