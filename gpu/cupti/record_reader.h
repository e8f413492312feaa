// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_GPU_CUPTI_RECORD_READER_H_
#define WEFT_GPU_CUPTI_RECORD_READER_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cupti/library.h"
#include "weft/gpu/device_activity.h"

namespace weft::cupti {

// Makes activities of the records in a buffer.
//
// The library says where the next record begins, since it alone knows how long
// its records are; weft reads a prefix that all versions share. What is in a
// buffer is taken as a claim: nothing that it says leads outside of it.
//
// One thread at a time.
class RecordReader {
 public:
  struct Counts {
    std::uint64_t records = 0;
    std::uint64_t too_short = 0;   // shorter than any known version
    std::uint64_t unreadable = 0;  // ends of buffers that could not be walked
  };

  explicit RecordReader(const CuptiCalls& calls) : calls_(calls) {}

  // Appends to `activities`; their texts are the library's and are good until
  // the buffer is given back. Records of kinds that weft does not know become
  // activities of no kind, which whoever takes them counts.
  void read(std::uint8_t* buffer, std::size_t valid_bytes,
            std::vector<DeviceActivity>& activities);
  // How many records a buffer holds.
  std::uint64_t count(std::uint8_t* buffer, std::size_t valid_bytes);

  const Counts& counts() const noexcept { return counts_; }

 private:
  template <class Take>
  void walk(std::uint8_t* buffer, std::size_t valid_bytes, const Take& take);
  // False when it is too short.
  bool read_record(const std::uint8_t* record, std::size_t bytes,
                   std::vector<DeviceActivity>& activities);
  std::uint32_t device_of(std::uint32_t context) const;

  const CuptiCalls calls_;
  Counts counts_;
  std::unordered_map<std::uint32_t, std::uint32_t> device_of_context_;
};

}  // namespace weft::cupti

#endif  // WEFT_GPU_CUPTI_RECORD_READER_H_
