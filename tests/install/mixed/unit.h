// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_INSTALL_MIXED_UNIT_H_
#define WEFT_TESTS_INSTALL_MIXED_UNIT_H_

// One source, compiled in ways that headers might heed. Each way defines UNIT,
// the name of its function.
void recorded_with_cxx17();
void recorded_with_cxx20_and_ndebug();
void compiled_out();

#endif  // WEFT_TESTS_INSTALL_MIXED_UNIT_H_
