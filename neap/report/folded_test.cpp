// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/folded.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "neap/report/snapshot_for_test.hpp"
#include "neap/report/written_for_test.hpp"

namespace neap::report {
namespace {

TEST(FoldedTest, HasALineForEachStack) {
  EXPECT_EQ(written(write_folded, small_snapshot()),
            "fc1;act;activations;relu;net.cpp:8 (step) 1000\n"
            "fc2;gradients;matmul;net.cpp:9 (step) 64\n"
            "fc2;workspace;matmul;net.cpp:9 (step) 100\n"
            "fc1;parameters;weight 4000\n"
            "fc1;inputs 96\n"
            "rounding of the values 52\n"
            "program and plan 500\n"
            "idle pages 300\n"
            "allocator's rounding 20\n");
}

TEST(FoldedTest, NumbersStayWithTheNameBeforeThem) {
  Snapshot s = small_snapshot();
  s.calls[1].layer = s.blocks[1].layer = text_id(s, "net.h.12.attn..x.");
  EXPECT_THAT(written(write_folded, s),
              testing::StartsWith("net;h.12;attn;.x.;activations;"));
}

TEST(FoldedTest, AddsUpToWhatIsReservedWhateverTheNames) {
  for (std::uint32_t seed = 1; seed < 20; ++seed) {
    const Snapshot s = random_snapshot(
        {.seed = seed, .spaces = seed % 2 + 1, .is_hostile = seed % 2 == 0});
    std::istringstream lines(written(write_folded, s));
    Bytes sum = 0;
    for (std::string line; std::getline(lines, line);) {
      const std::size_t blank = line.rfind(' ');
      ASSERT_NE(blank, std::string::npos);
      sum += std::stoll(line.substr(blank));
    }
    EXPECT_EQ(sum, s.sums.reserved);
  }
}

}  // namespace
}  // namespace neap::report
