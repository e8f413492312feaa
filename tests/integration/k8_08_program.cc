// SPDX-License-Identifier: Apache-2.0

// A stripped, position-independent program that records stacks: of its own hidden
// functions, through libc, and of a plugin that is gone when the file is closed.
//
//   k8_08_program TRACE PLUGIN

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "call_stack.h"
#include "k8_08_plugin.h"
#include "weft/weft.h"

namespace {

__attribute__((noinline)) void record_stack() {
  const weft::StringId stack =
      weft::profile::call_stack(weft::profile::walk_start());
  WEFT_SPAN("with a stack", {"stack", stack});
}

int compare(const void* a, const void* b) {
  record_stack();
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

}  // namespace

// Begins like a C++ name and is none.
extern "C" __attribute__((noinline)) int _Zdoes_not_demangle() {
  int numbers[] = {2, 1};
  std::qsort(numbers, 2, sizeof numbers[0], &compare);
  return numbers[0];
}

namespace k8_08 {

__attribute__((always_inline)) inline int inlined_in_program() {
  return _Zdoes_not_demangle() + 1;
}

__attribute__((noinline)) int hidden_in_program() {
  return inlined_in_program();
}

}  // namespace k8_08

int main(int argc, char** argv) {
  if (argc != 3 || !weft::init(argv[1]).ok()) return 2;
  if (const auto ready = weft::profile::prepare_call_stacks(); !ready.ok()) {
    std::fprintf(stderr, "%s\n", ready.error().message.c_str());
    return 3;
  }
  int calls = k8_08::hidden_in_program();
  void* const plugin = dlopen(argv[2], RTLD_NOW);
  if (plugin == nullptr) return 4;
  const auto entry = reinterpret_cast<decltype(&k8_08_plugin_entry)>(
      dlsym(plugin, "k8_08_plugin_entry"));
  calls += entry(&record_stack);
  dlclose(plugin);
  if (!weft::shutdown().ok()) return 5;
  return calls == 4 ? 0 : 6;
}
