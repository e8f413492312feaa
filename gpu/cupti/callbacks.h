// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_GPU_CUPTI_CALLBACKS_H_
#define WEFT_GPU_CUPTI_CALLBACKS_H_

// What CUPTI calls, on threads of the program and of its own. None of these
// locks, allocates, logs or calls CUPTI: the program is in the middle of a
// CUDA call, and CUPTI may hold locks.
//
// They belong to the process, not to a source: CUPTI gives buffer callbacks no
// argument, and may call them when the source is long gone.

#include <cstddef>
#include <cstdint>

#include "cupti/abi.h"
#include "cupti/buffer_pool.h"

namespace weft::cupti {

// Never destroyed, since CUPTI may hold buffers for ever.
BufferPool& buffer_pool();

// Until end_callbacks() launches are recorded and buffers handed out. One
// source at a time: false if another one has begun. Cold.
bool begin_callbacks(bool may_refuse_buffers) noexcept;
void stop_recording_launches() noexcept;
void end_callbacks() noexcept;
// Whether CUPTI has said that it cannot go on, since begin_callbacks().
bool saw_fatal_error() noexcept;

// The program's threads, before CUDA takes the work: writes the launch into
// that thread's ring. Hot: one slot and a few loads.
void on_callback(void* user, std::uint32_t domain, std::uint32_t call,
                 const void* data) noexcept;
void on_buffer_request(std::uint8_t** buffer, std::size_t* bytes,
                       std::size_t* most_records) noexcept;
void on_buffer_complete(void* context, std::uint32_t stream,
                        std::uint8_t* buffer, std::size_t bytes,
                        std::size_t valid_bytes) noexcept;
// ns of CLOCK_MONOTONIC.
std::uint64_t host_timestamp() noexcept;

}  // namespace weft::cupti

#endif  // WEFT_GPU_CUPTI_CALLBACKS_H_
