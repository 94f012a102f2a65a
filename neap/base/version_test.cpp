// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/version.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace neap {
namespace {

TEST(VersionTest, IsThreeNumbers) {
  EXPECT_THAT(version(), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

}  // namespace
}  // namespace neap
