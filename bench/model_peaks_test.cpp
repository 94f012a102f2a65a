// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A compiled step never needs more than the same step eagerly, bookkeeping
// included.
#include <gtest/gtest.h>

#include "model_steps.hpp"

namespace neap::bench {
namespace {

TEST(ModelPeaksTest, CompiledModelsNeedNoMoreThanEager) {
  for (const ModelCase& which : model_cases()) {
    if (!which.is_long) {
      const Bytes eager = ModelStep(which.make, false).peak();
      const Bytes compiled = ModelStep(which.make, true).peak();
      EXPECT_LE(compiled, eager) << which.name;
    }
  }
}

}  // namespace
}  // namespace neap::bench
