// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_WEFT_H_
#define WEFT_WEFT_H_

// Everything that an instrumented program needs.

#include "weft/async_span.h"
#include "weft/flow.h"
#include "weft/instant.h"
#include "weft/live.h"
#include "weft/request.h"
#include "weft/session.h"
#include "weft/snapshot.h"
#include "weft/span.h"
#include "weft/status.h"
#include "weft/version.h"

#endif  // WEFT_WEFT_H_
