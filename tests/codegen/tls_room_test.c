// SPDX-License-Identifier: Apache-2.0

// Loads the libraries it is given, in order, as a C program that knows nothing
// of them would.

#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** paths) {
  for (int i = 1; i < count; ++i) {
    if (dlopen(paths[i], RTLD_NOW) == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    printf("loaded %s\n", paths[i]);
  }
  return 0;
}
