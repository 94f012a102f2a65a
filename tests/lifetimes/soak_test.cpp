// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Millions of random programs, behind ./dev soak.
#include <gtest/gtest.h>

#include <iostream>

#include "fuzz_run.hpp"

namespace neap::lifetimes {
namespace {

class LifetimesSoak : public ::testing::TestWithParam<int> {};

TEST_P(LifetimesSoak, RandomProgramsDoAsTheReferenceModelSays) {
  constexpr std::int64_t kPrograms = 400'000;
  const auto part = static_cast<std::uint64_t>(GetParam());
  Mix mix;
  const std::string failure = run_fuzz(1'000'000'000 * part, kPrograms, mix);
  EXPECT_TRUE(failure.empty()) << failure;
  std::cout << mix.text();
}

INSTANTIATE_TEST_SUITE_P(Parts, LifetimesSoak, ::testing::Range(1, 9));

}  // namespace
}  // namespace neap::lifetimes
