// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_RUNTIME_SCALE_H_
#define WEFT_TESTS_RUNTIME_SCALE_H_

namespace weft::test {

// Sanitizers cost a factor of 5 to 20; counts are divided by this there.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr unsigned kSlowdown = 20;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
inline constexpr unsigned kSlowdown = 20;
#else
inline constexpr unsigned kSlowdown = 1;
#endif
#else
inline constexpr unsigned kSlowdown = 1;
#endif

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitizer = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif
#else
inline constexpr bool kThreadSanitizer = false;
#endif

constexpr unsigned scaled(unsigned count) { return count / kSlowdown; }

}  // namespace weft::test

#endif  // WEFT_TESTS_RUNTIME_SCALE_H_
