// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_INTERNAL_MACROS_H_
#define WEFT_INTERNAL_MACROS_H_

#define WEFT_INTERNAL_CONCAT2(a, b) a##b
#define WEFT_INTERNAL_CONCAT(a, b) WEFT_INTERNAL_CONCAT2(a, b)

// The first of one or more arguments.
#define WEFT_INTERNAL_FIRST(...) WEFT_INTERNAL_FIRST2(__VA_ARGS__, 0)
#define WEFT_INTERNAL_FIRST2(first, ...) first

// A site named `site`. The empty literal in front makes the compiler refuse
// names that are not literals.
#define WEFT_INTERNAL_SITE(site, kind, category, name)             \
  static ::weft::internal::Site site(::weft::SiteKind::kind, "" name, \
                                     "" category, __FILE__, __LINE__)

#endif  // WEFT_INTERNAL_MACROS_H_
