// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Long runs of every model, behind ./dev soak: two thousand steps, in batches
// of one size and of sizes and lengths that differ from step to step.
#include <gtest/gtest.h>

#include "flatness.hpp"
#include "trained_model.hpp"

namespace neap::tests {
namespace {

constexpr int kSteps = 2000;
constexpr int kLook = 400;  // steps from one look to the next

class ModelSoak : public ::testing::TestWithParam<ModelAndMode> {
 protected:
  static Kind kind() { return std::get<0>(GetParam()); }
  static bool is_compiled() { return std::get<1>(GetParam()); }
};

TEST_P(ModelSoak, TwoThousandStepsAreFlat) {
  static_assert(kLook % TrainedModel::kEpoch == 0);
  const auto domain = Domain::create();
  {
    TrainedModel run(
        *domain, {.kind = kind(), .is_compiled = is_compiled(), .prefetch = 2});
    run.steps(kLook);
    const Level before = level_of(*domain);
    for (int done = kLook; done < kSteps; done += kLook) {
      run.steps(kLook);
      expect_flat(level_of(*domain), before);
    }
  }
  EXPECT_EQ(domain->stats().live, 0);
}

INSTANTIATE_TEST_SUITE_P(All, ModelSoak, all_models(), model_and_mode);

// Sequences of other lengths and in other numbers at each step. The sizes come
// again after a while, and with them what a compiled step keeps: a few programs
// of the more that it has been given.
class LengthSoak : public ModelSoak {
 protected:
  static constexpr std::int64_t kMost = 8;     // sequences
  static constexpr std::int64_t kLongest = 6;  // tokens: the block of a Gpt
  static constexpr int kRound = 100;           // steps, then the same sizes

  static std::pair<Tensor, Tensor> batch(const Training& training, int step) {
    const base::DrawKey key{5, static_cast<std::uint64_t>(step % kRound)};
    const auto draw = [&](std::uint64_t i, std::int64_t most) {
      return 1 + static_cast<std::int64_t>(key.word(i)) % most;
    };
    auto specs = training.specs(draw(0, kMost));
    for (tensor::Spec& spec : specs) {
      if (spec.shape.rank() > 1) {
        spec.shape[1] = draw(1, kLongest);
      }
    }
    return training.batch(static_cast<std::uint64_t>(step), specs);
  }
};

TEST_P(LengthSoak, TwoThousandStepsAreFlat) {
  static_assert(kLook % kRound == 0);
  Training training({.kind = kind()});
  const CompileOptions how;
  auto step = training.compile(how);
  const auto run = [&](int from, int to) {
    for (int i = from; i < to; ++i) {
      const auto [x, y] = batch(training, i);
      (is_compiled() ? step(x, y) : training.plain(x, y)).item();
    }
  };
  run(0, kLook);
  const Level before = level_of(training.domain());
  for (int done = kLook; done < kSteps; done += kLook) {
    run(done, done + kLook);
    const Level now = level_of(training.domain());
    is_compiled() ? expect_flat_but_for_gaps(now, before)
                  : expect_flat(now, before);
  }
  if (is_compiled()) {
    EXPECT_EQ(step.programs(), how.programs);
    EXPECT_GT(step.traces(), kSteps / 4);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, LengthSoak,
    ::testing::Combine(::testing::Values(Kind::kGpt, Kind::kGptAnew,
                                         Kind::kGptProducts, Kind::kGptRotary,
                                         Kind::kLstm, Kind::kLstmLm,
                                         Kind::kGruLm),
                       ::testing::Bool()),
    model_and_mode);

}  // namespace
}  // namespace neap::tests
