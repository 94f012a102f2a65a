// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A compiled step never needs more than the same step eagerly, its books
// included.
#include <gtest/gtest.h>

#include "model_steps.hpp"
#include "training.hpp"

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

Bytes mlp_peak(std::int64_t batch, const char* optimizer, bool is_compiled) {
  TrainingStep step(batch, optimizer, is_compiled);
  step.run();
  step.run();
  return step.peak();
}

TEST(ModelPeaksTest, CompiledPerceptronsNeedNoMoreThanEager) {
  for (const std::int64_t batch : {64, 512}) {
    for (const char* optimizer : {"sgd", "adam"}) {
      EXPECT_LE(mlp_peak(batch, optimizer, true),
                mlp_peak(batch, optimizer, false))
          << batch << " " << optimizer;
    }
  }
}

}  // namespace
}  // namespace neap::bench
