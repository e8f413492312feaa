// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_INTERNAL_THREAD_STATE_H_
#define WEFT_INTERNAL_THREAD_STATE_H_

#include <cstdint>

#include "weft/internal/api.h"
#include "weft/record.h"
#include "weft/ringbuf/cache_line.h"
#include "weft/ringbuf/spsc_ring.h"

namespace weft::internal {

// What a thread keeps for recording. Only that thread writes it. It lies in
// memory that a forked child finds zeroed: no index, no room, no promises, so
// every record of the child takes the slow path and is dropped there.
struct alignas(ringbuf::kCacheLine) ThreadState {
  ringbuf::RingWriter writer;
  std::uint64_t tag;            // index << 32
  std::uint32_t index;          // ThreadIndex
  std::uint32_t slot;           // in the registry
  std::uint64_t refused_noted;  // refused records that a loss record tells of
};

}  // namespace weft::internal

// The only thread-local on the recording path: never null, but a state without
// room and without an index for a thread that has no ring, in the initial-exec model: one
// load relative to the thread pointer, in executables and in plugins alike.
// It needs 8 bytes of static TLS. -DWEFT_DYNAMIC_TLS gives that up for
// programs whose static TLS is exhausted.
#if defined(WEFT_DYNAMIC_TLS)
#define WEFT_TLS_MODEL
#else
#define WEFT_TLS_MODEL __attribute__((tls_model("initial-exec")))
#endif
extern "C" {
extern WEFT_API __thread weft::internal::ThreadState* weft_thread_state
    WEFT_TLS_MODEL;
}

#endif  // WEFT_INTERNAL_THREAD_STATE_H_
