// SPDX-License-Identifier: Apache-2.0
#include "stack_capture.h"

#include <execinfo.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

#include "weft/span.h"

namespace weft::profile {
namespace {

constexpr int kMaxFrames = 64;
constexpr int kOwnFrames = 2;  // this function and begin_call()
constexpr std::size_t kAddressBytes = 17;  // 16 digits and a separator

}  // namespace

void prepare_stack_capture() {
  void* frame = nullptr;
  backtrace(&frame, 1);  // loads the unwinder
}

__attribute__((noinline)) StringId capture_stack() noexcept {
  std::array<void*, kMaxFrames> frames;
  const int count = backtrace(frames.data(), kMaxFrames);
  std::array<char, kMaxFrames * kAddressBytes> text;
  char* end = text.data();
  for (int i = kOwnFrames; i < count; ++i) {
    if (end != text.data()) *end++ = ';';
    end = std::to_chars(end, text.data() + text.size(),
                        reinterpret_cast<std::uintptr_t>(frames[i]), 16)
              .ptr;
  }
  if (end == text.data()) return StringId::kNone;
  return internal::intern(
      {text.data(), static_cast<std::size_t>(end - text.data())});
}

std::vector<std::string> frames_of(std::string_view stack) {
  std::vector<std::string> frames;
  while (!stack.empty()) {
    const std::size_t end = stack.find(';');
    frames.push_back("0x" + std::string(stack.substr(0, end)));
    if (end == std::string_view::npos) break;
    stack.remove_prefix(end + 1);
  }
  return frames;
}

}  // namespace weft::profile
