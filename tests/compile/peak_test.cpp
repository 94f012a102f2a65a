// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The predictions of a compiled step before it runs are what is measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "neap/compile/prediction.hpp"
#include "training.hpp"

namespace neap::tests {
namespace {

using compiler::Prediction;
using memory::Category;

class CompiledPeakTest : public ::testing::TestWithParam<Kind> {
 protected:
  static TrainingOptions options(
      std::int64_t batch, bool is_rehearsal,
      memory::HostAllocator host = memory::HostAllocator::kPooled) {
    return {.kind = GetParam(),
            .batch = batch,
            .is_rehearsal = is_rehearsal,
            .host = host};
  }
};

// Model, optimizer, batch and plan, and no step: nothing has been computed.
memory::Stats rehearsed(const TrainingOptions& options,
                        const CompileOptions& how = {}) {
  Training training(options);
  auto step = training.compile(how);
  const auto batch = training.batch(0);
  step.prepare(training.specs());
  return training.domain().stats();
}

memory::Stats measured(const TrainingOptions& options,
                       const CompileOptions& how = {}) {
  Training training(options);
  auto step = training.compile(how);
  const auto [x, y] = training.batch(0);
  for (int i = 0; i < 5; ++i) {
    step(x, y).item();
  }
  return training.domain().stats();
}

TEST_P(CompiledPeakTest, OfADryRunWithoutAStepIsThatOfTrainingToTheByte) {
  for (const std::int64_t batch : {1, 7, 64}) {
    const memory::Stats told = rehearsed(options(batch, true));
    const memory::Stats found = measured(options(batch, false));
    EXPECT_EQ(told.peak, found.peak) << batch;
    EXPECT_EQ(told.live_peak, found.live_peak) << batch;
  }
}

// Where every block is a malloc of its own, what is held is what is live.
TEST_P(CompiledPeakTest, OfPreparationIsThatOfTrainingWithoutAPool) {
  for (const bool is_rehearsal : {false, true}) {
    const auto host = memory::HostAllocator::kSystem;
    const memory::Stats told = rehearsed(options(7, is_rehearsal, host));
    const memory::Stats found = measured(options(7, false, host));
    EXPECT_EQ(told.live_peak, found.live_peak) << is_rehearsal;
    if (!is_rehearsal) {
      EXPECT_EQ(told.peak, found.peak);
    }
  }
}

TEST_P(CompiledPeakTest, OnPagesIsSaidToTheByteToo) {
  for (const bool is_scattered : {false, true}) {
    CompileOptions how;
    how.paged = true;
    how.debug.scatter = is_scattered;
    const std::int64_t batch = large_batch(GetParam());
    const memory::Stats told = rehearsed(options(batch, true), how);
    const memory::Stats found = measured(options(batch, false), how);
    EXPECT_EQ(told.peak, found.peak) << is_scattered;
  }
}

// Live bytes of tensors: a parameter has an owner, its bookkeeping has none.
Bytes live_of(const memory::Domain& domain, Category category) {
  std::vector<memory::Row> rows(static_cast<std::size_t>(domain.live_rows({})));
  domain.live_rows(rows);
  Bytes sum = 0;
  for (const memory::Row& row : rows) {
    const bool is_book = category == Category::kParameters &&
                         domain.path_of(row.tag.owner).empty();
    sum += row.tag.category == category && !is_book ? row.bytes : 0;
  }
  return sum;
}

Bytes persistent_of(const Prediction& prediction, Category category) {
  return prediction.persistent_by_category[static_cast<std::size_t>(category)];
}

TEST_P(CompiledPeakTest, OfEachCategoryIsWhatTheDomainHas) {
  Training training(options(64, false));
  auto step = training.compile();
  step.prepare(training.specs());
  const Prediction told = predict(step.program(), step.plan());
  const memory::Domain& door = training.domain();
  const auto [x, y] = training.batch(0);
  for (int i = 0; i < 3; ++i) {
    step(x, y).item();
  }
  for (const Category category :
       {Category::kParameters, Category::kGradients, Category::kOptimizerState,
        Category::kBuffers, Category::kWorkspace}) {
    EXPECT_EQ(persistent_of(told, category), live_of(door, category))
        << name_of(category);
  }
  EXPECT_EQ(told.arena, step.arena_bytes());
  EXPECT_EQ(told.arena + persistent_of(told, Category::kActivations),
            live_of(door, Category::kActivations));
}

TEST_P(CompiledPeakTest, IsSaidWithItsInstantAndABoundBelowIt) {
  Training training(options(64, true));
  auto step = training.compile();
  step.prepare(training.specs());
  const Prediction told = predict(step.program(), step.plan());
  EXPECT_FALSE(told.peak_op.empty());
  EXPECT_GT(told.lower_bound, 0);
  EXPECT_GE(told.arena, told.lower_bound);
  EXPECT_TRUE(told.is_proven || told.gap() > 0);
  Bytes sum = 0;
  for (const compiler::PeakLine& line : told.at_peak) {
    sum += line.bytes;
  }
  EXPECT_EQ(sum, told.live_at_peak);
  Bytes in_layers = 0;
  for (const compiler::LayerBytes& layer : told.by_layer) {
    in_layers += layer.persistent + layer.at_peak;
  }
  EXPECT_EQ(in_layers, told.persistent + told.live_at_peak);
}

INSTANTIATE_TEST_SUITE_P(All, CompiledPeakTest, ::testing::ValuesIn(kAllKinds),
                         kind_of);

}  // namespace
}  // namespace neap::tests
