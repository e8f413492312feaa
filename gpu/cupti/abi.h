// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_GPU_CUPTI_ABI_H_
#define WEFT_GPU_CUPTI_ABI_H_

// What weft uses of CUPTI's and the driver's binary interface, in names of its
// own: the build needs no header of the vendor's. tests/gpu/cupti_abi_test.cc
// holds each number to the real headers where they are installed.
//
// Records are read as prefixes: these offsets are the same in all struct
// versions since CUDA 11.0, and fields beyond a record's own length do not
// exist. Structs in buffers are packed, so fields are copied out.

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft::cupti {

// Results; refusal.h has them in words.
inline constexpr int kSuccess = 0;
inline constexpr int kMaxLimitReached = 12;

enum class Domain : std::uint32_t { kDriver = 1, kRuntime = 2, kState = 6 };
inline constexpr std::uint32_t kStateFatalError = 1;
inline constexpr std::uint32_t kSiteEnter = 0;

enum class Kind : std::uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kDriver = 4,
  kRuntime = 5,
  kDevice = 8,
  kContext = 9,
  kConcurrentKernel = 10,
  kOverhead = 17,
  kMemcpyPeer = 22,
  kDeviceAttribute = 28,
  kStream = 37,
  kSynchronization = 38,
  kGraphTrace = 51,
};

inline constexpr std::uint32_t kFlushForced = 1;
inline constexpr std::uint32_t kThreadIdSystem = 1;
// Attribute; 1 says that weft clears buffers itself.
inline constexpr std::uint32_t kAttributeZeroedBuffer = 5;

// A field at a fixed place of a record or of callback data.
template <class T>
struct Field {
  std::size_t offset;
  constexpr std::size_t end() const noexcept { return offset + sizeof(T); }
  T of(const void* record) const noexcept {
    T value;
    std::memcpy(&value, static_cast<const char*>(record) + offset, sizeof(T));
    return value;
  }
  // 0 if the record is too short to have it.
  T of(const void* record, std::size_t bytes) const noexcept {
    return end() <= bytes ? of(record) : T{};
  }
};

using Field32 = Field<std::uint32_t>;
using Field64 = Field<std::uint64_t>;
using FieldText = Field<const char*>;

inline constexpr Field32 kRecordKind{0};

namespace kernel {
inline constexpr Field64 kStart{16}, kEnd{24};
inline constexpr Field32 kDevice{40}, kContext{44}, kStream{48};
inline constexpr Field32 kCorrelation{92};
inline constexpr FieldText kName{104};
inline constexpr Field64 kGraphNode{144};
inline constexpr Field32 kGraph{156};
inline constexpr std::size_t kNeeded = 112;
}  // namespace kernel

// Copies and fills alike, but for the first fields.
namespace transfer {
inline constexpr Field64 kBytes{8}, kStart{16}, kEnd{24};
inline constexpr Field32 kDevice{32}, kContext{36}, kStream{40};
inline constexpr Field32 kCorrelation{44};
inline constexpr Field64 kGraphNode{64};
inline constexpr Field32 kGraph{72};
inline constexpr Field<std::uint8_t> kCopyKind{4};
inline constexpr std::size_t kNeeded = 48;
}  // namespace transfer

// As `transfer` up to the stream.
namespace peer {
inline constexpr Field32 kCorrelation{60};
inline constexpr Field64 kGraphNode{72};
inline constexpr Field32 kGraph{80};
inline constexpr std::size_t kNeeded = 64;
}  // namespace peer

namespace sync {
inline constexpr Field32 kType{4};
inline constexpr Field64 kStart{8}, kEnd{16};
inline constexpr Field32 kCorrelation{24}, kContext{28}, kStream{32};
inline constexpr std::size_t kNeeded = 40;
}  // namespace sync

namespace overhead {
inline constexpr Field64 kStart{24}, kEnd{32};
inline constexpr std::size_t kNeeded = 40;
}  // namespace overhead

namespace api {
inline constexpr Field32 kCall{4};
inline constexpr Field64 kStart{8}, kEnd{16};
inline constexpr Field32 kCorrelation{32};
inline constexpr std::size_t kNeeded = 40;
}  // namespace api

namespace graph {
inline constexpr Field32 kCorrelation{4};
inline constexpr Field64 kStart{8}, kEnd{16};
inline constexpr Field32 kDevice{24}, kGraph{28}, kContext{32}, kStream{36};
inline constexpr std::size_t kNeeded = 40;
}  // namespace graph

namespace context {
inline constexpr Field32 kContext{4}, kDevice{8};
inline constexpr std::size_t kNeeded = 12;
}  // namespace context

namespace callback_data {
inline constexpr Field32 kSite{0}, kCorrelation{64};
}  // namespace callback_data

// Functions. Handles are opaque pointers; enums are passed as 32-bit numbers.
using Callback = void (*)(void* user, std::uint32_t domain, std::uint32_t call,
                          const void* data);
using BufferRequest = void (*)(std::uint8_t** buffer, std::size_t* bytes,
                               std::size_t* most_records);
using BufferComplete = void (*)(void* context, std::uint32_t stream,
                                std::uint8_t* buffer, std::size_t bytes,
                                std::size_t valid_bytes);
using TimestampCallback = std::uint64_t (*)();

}  // namespace weft::cupti

#endif  // WEFT_GPU_CUPTI_ABI_H_
