// SPDX-License-Identifier: Apache-2.0

// Names in it do not matter: symbolizer_test reads the file that it becomes.
namespace small_module {

inline int inlined(int x) { return 3 * x; }
__attribute__((noinline)) int hidden(int x) { return inlined(x) + 1; }

}  // namespace small_module

extern "C" int small_module_entry(int x) { return small_module::hidden(x) + 1; }
