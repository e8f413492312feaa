// SPDX-License-Identifier: Apache-2.0
//
// Fills the string table of its process, so it has an executable of its own.

#include <gtest/gtest.h>

#include <string>

#include "runtime/collection.h"
#include "runtime/scale.h"
#include "weft/session.h"
#include "weft/span.h"
#include "weft/status.h"

namespace weft::test {
namespace {

TEST(K8_03, AMillionNamesStayBoundedWithTheRestUnderOtherNames) {
  // Enough to fill the table under sanitizers, too.
  const unsigned names = kSlowdown == 1 ? 1'000'000 : 250'000;
  Collection collection(Collection::Keep::kCounts);
  for (unsigned i = 0; i < names; ++i) {
    WEFT_SPAN_DYN("name " + std::to_string(i));
  }
  // A name that is known keeps its id.
  const RuntimeStatus now = status();
  EXPECT_GT(now.other_names, 0u);
  EXPECT_LT(now.strings, names);
  EXPECT_GE(now.strings + now.other_names, names);
  const CollectingExporter& all = collection.stop();
  EXPECT_EQ(all.text(StringId::kOtherNames), "(other names)");
  EXPECT_EQ(2u * names, all.heads() + all.dropped());
  EXPECT_LT(all.strings().size(), names);
}

}  // namespace
}  // namespace weft::test
