// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Many random steps, behind ./dev soak.
#include <gtest/gtest.h>

#include "fuzz_run.hpp"

namespace neap::programs {
namespace {

class ProgramsSoak : public ::testing::TestWithParam<Variant> {};

TEST_P(ProgramsSoak, AreTheSameBitsAsEager) {
  // A variant ends within the time that a test has, also where it is slow.
  constexpr int kPrograms = 30'000;
  const std::string failure = run_fuzz(GetParam(), 1'000'000'000, kPrograms);
  EXPECT_TRUE(failure.empty()) << failure;
}

INSTANTIATE_TEST_SUITE_P(All, ProgramsSoak, ::testing::ValuesIn(variants()),
                         [](const auto& way) {
                           return std::string(way.param.name);
                         });

}  // namespace
}  // namespace neap::programs
