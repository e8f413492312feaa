// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_NVPROF_REFERENCE_H_
#define WEFT_PROFILE_SRC_NVPROF_REFERENCE_H_

#include "nvprof_database.h"
#include "weft/profile/nvprof.h"
#include "weft/result.h"

namespace weft::profile {

// The rows as PyTorch 2.2.2 makes them.
Result<NvprofImport> join_nvprof_as_reference(const NvprofTables& tables);

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_NVPROF_REFERENCE_H_
