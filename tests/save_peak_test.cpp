// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A compiled training that saves itself holds no more than was known before its
// first step, and a rehearsal, which has no memory behind its tensors, has the
// same marks. An eager one saves itself while it has no activations.
#include <gtest/gtest.h>

#include <string>

#include "neap/files/temporary_folder.hpp"
#include "trained_model.hpp"

namespace neap::tests {
namespace {

train::Facts facts() {
  train::Facts all;
  all.push_back({memory::String("model"), memory::String("a long name of it")});
  all.push_back({memory::String("batch"), memory::String("7")});
  return all;
}

struct Marks {
  Bytes held = 0;  // at most
  Bytes live = 0;
  friend bool operator==(const Marks&, const Marks&) = default;
};

Marks marks_of(const memory::Domain& domain) {
  const memory::Stats stats = domain.stats();
  return {stats.peak, stats.live_peak};
}

class SavePeakTest : public ::testing::TestWithParam<ModelAndMode> {
 protected:
  static Domain::Handle make_domain(bool is_rehearsal) {
    return Domain::create({.name = "save",
                           .host = memory::HostAllocator::kPooled,
                           .is_rehearsal = is_rehearsal});
  }
  static TrainedModelOptions options() {
    return {.kind = std::get<0>(GetParam()),
            .is_compiled = std::get<1>(GetParam())};
  }

  static void prepare(TrainedModel& run) {
    run.trainer().prepare();
    run.trainer().rehearse_save(facts());
  }
  void save(TrainedModel& run) const {
    ASSERT_TRUE(run.trainer().save(path_, facts()).has_value());
  }

  files::TemporaryFolder folder_;
  std::string path_ = folder_.at("run.safetensors");
};

using CompiledSavePeakTest = SavePeakTest;

TEST_P(CompiledSavePeakTest, IsKnownBeforeTheFirstStep) {
  const auto domain = make_domain(false);
  TrainedModel run(*domain, options());
  prepare(run);
  const Marks said = marks_of(*domain);
  for (int i = 0; i < 3; ++i) {
    save(run);
    run.steps(3);
  }
  save(run);
  EXPECT_EQ(marks_of(*domain), said);
}

TEST_P(CompiledSavePeakTest, IsThatOfADryRun) {
  const auto domain = make_domain(false);
  const auto rehearsal = make_domain(true);
  {
    TrainedModel run(*domain, options());
    run.steps(2 * TrainedModel::kEpoch);
    save(run);
    run.steps(3);
    save(run);
  }
  {
    TrainedModel run(*rehearsal, options());
    prepare(run);
  }
  EXPECT_EQ(marks_of(*rehearsal), marks_of(*domain));
}

TEST_P(CompiledSavePeakTest, OfAResumedRunIsThatOfADryRun) {
  {
    const auto domain = make_domain(false);
    TrainedModel first(*domain, options());
    first.steps(5);
    save(first);
  }
  const auto domain = make_domain(false);
  const auto rehearsal = make_domain(true);
  {
    TrainedModel run(*domain, options());
    ASSERT_TRUE(run.trainer().resume(path_, facts()).has_value());
    run.steps(2 * TrainedModel::kEpoch);
    save(run);
  }
  {
    TrainedModel run(*rehearsal, options());
    ASSERT_TRUE(run.trainer().resume(path_).has_value());  // whatever facts
    prepare(run);
  }
  EXPECT_EQ(marks_of(*rehearsal), marks_of(*domain));
}

// The peak depends on the content alone, not on how long its numbers are.
TEST_P(SavePeakTest, OfASaveIsTheSameAtEveryStep) {
  const auto domain = make_domain(false);
  TrainedModel run(*domain, options());
  run.steps(1);
  const auto most_of_a_save = [&] {
    domain->reset_peak();
    const Bytes live = domain->stats().live;
    save(run);
    return domain->stats().live_peak - live;
  };
  const Bytes first = most_of_a_save();
  EXPECT_GT(first, 0);
  run.steps(12);
  EXPECT_EQ(most_of_a_save(), first);
  domain->reset_peak();
  const Bytes live = domain->stats().live;
  run.trainer().rehearse_save(facts());
  EXPECT_EQ(domain->stats().live_peak - live, first);
}

using EagerSavePeakTest = SavePeakTest;

TEST_P(EagerSavePeakTest, OfWhatLivesIsThatOfTheSteps) {
  const auto domain = make_domain(false);
  TrainedModel run(*domain, options());
  run.steps(TrainedModel::kEpoch);
  const Bytes live = marks_of(*domain).live;
  save(run);
  run.steps(TrainedModel::kEpoch);
  save(run);
  EXPECT_EQ(marks_of(*domain).live, live);
}

auto models_in(bool is_compiled) {
  return ::testing::Combine(::testing::ValuesIn(kEveryModel),
                            ::testing::Values(is_compiled));
}

INSTANTIATE_TEST_SUITE_P(All, SavePeakTest, all_models(), model_and_mode);
INSTANTIATE_TEST_SUITE_P(All, CompiledSavePeakTest, models_in(true),
                         model_and_mode);
INSTANTIATE_TEST_SUITE_P(All, EagerSavePeakTest, models_in(false),
                         model_and_mode);

}  // namespace
}  // namespace neap::tests
