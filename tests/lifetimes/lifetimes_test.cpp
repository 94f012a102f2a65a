// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Random programs on the library and on the reference model, side by side.
#include <gtest/gtest.h>

#include <iostream>

#include "campaign.hpp"

namespace neap::lifetimes {
namespace {

TEST(LifetimesTest, RandomProgramsDoAsTheReferenceModelSays) {
#if defined(NEAP_CHECKED)
  constexpr std::int64_t kPrograms = 10'000;
#else
  constexpr std::int64_t kPrograms = 100'000;
#endif
  Mix mix;
  const std::string failure = run_campaign(1, kPrograms, mix);
  EXPECT_TRUE(failure.empty()) << failure;
  std::cout << mix.text();
  EXPECT_GE(mix.performed() - mix.idle, 30 * mix.programs);
}

}  // namespace
}  // namespace neap::lifetimes
