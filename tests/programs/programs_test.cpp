// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Random steps run eagerly and compiled in every way: the same bits, call after
// call, in results, parameters, gradients, optimizer state and generator.
#include <gtest/gtest.h>

#include "fuzz_run.hpp"
#include "neap/base/sanitizer.hpp"

namespace neap::programs {
namespace {

class ProgramsTest : public ::testing::TestWithParam<Variant> {};

TEST_P(ProgramsTest, AreTheSameBitsAsEager) {
  // To look for schedules takes longest; sanitizers look at a quarter.
  const int share = base::kAddressSanitizer ? 4 : 1;
  const int programs = (keeps_away(GetParam())           ? 200
                        : spills(GetParam())             ? 40
                        : GetParam().arena_percent < 100 ? 80
                                                         : 400) /
                       share;
  const std::string failure = run_fuzz(GetParam(), 1, programs);
  EXPECT_TRUE(failure.empty()) << failure;
}

TEST(PagedProgramsTest, ManyHaveBuffersOnPagesFromAnywhere) {
  EXPECT_GE(count_paged(1, 400), 20);
}

TEST(FittedProgramsTest, ManyHaveCallsThatRunAgain) {
  EXPECT_GE(count_fitted(1, 120, 98), 30);
}

TEST(FittedProgramsTest, MostHaveValuesInAFile) {
  EXPECT_GE(count_spilled(1, 24, 80), 12);
}

TEST(FittedProgramsTest, ManyHaveWeightsInAFile) {
  EXPECT_GE(count_away(1, 40), 20);
}

INSTANTIATE_TEST_SUITE_P(All, ProgramsTest, ::testing::ValuesIn(variants()),
                         [](const auto& way) {
                           return std::string(way.param.name);
                         });

}  // namespace
}  // namespace neap::programs
