// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/cuts.hpp"

#include <gtest/gtest.h>

#include "neap/compile/orders.hpp"

namespace neap::compiler {
namespace {

// The calls of 16 parts are too many for a search.
Cuts some_cuts() {
  Cuts cuts;
  cuts.micro_batches = {{2, 900, 200, true},
                        {4, 500, 400, true},
                        {8, 300, 800, true},
                        {16, 200, 1600, false}};
  return cuts;
}

std::uint32_t above(const Cuts& cuts, Bytes limit, Bytes bytes_a_call) {
  const MicroBatches* found = cuts.above([&](std::size_t calls) {
    return limit - bytes_a_call * static_cast<Bytes>(calls);
  });
  return found == nullptr ? 0 : found->count;
}

TEST(CutsTest, CallsRunAgainInTheMostMicroBatchesAboveALimit) {
  const Cuts cuts = some_cuts();
  EXPECT_EQ(above(cuts, 1000, 0), 0U);
  EXPECT_EQ(above(cuts, 899, 0), 2U);
  EXPECT_EQ(above(cuts, 500, 0), 2U);
  EXPECT_EQ(above(cuts, 499, 0), 4U);
  EXPECT_EQ(above(cuts, 100, 0), 8U);
}

TEST(CutsTest, ALimitIsWhatTheirOwnCallsLeave) {
  const Cuts cuts = some_cuts();
  EXPECT_EQ(above(cuts, 1100, 1), 0U);
  EXPECT_EQ(above(cuts, 1099, 1), 8U);  // 299 are left to them
}

TEST(CutsTest, ALimitSaysWhichAreLookedAtFirstAndNotWhichThereAre) {
  const Cuts cuts = some_cuts();
  const auto counts = [&](Bytes left) {
    std::vector<std::uint32_t> out;
    for (const Passes& some :
         candidate_passes({}, cuts, [&](std::size_t) { return left; })) {
      if (some.micro_batches != 0) {
        out.push_back(some.micro_batches);
      }
    }
    return out;
  };
  EXPECT_EQ(counts(600), std::vector<std::uint32_t>({2, 4, 8}));
  EXPECT_EQ(counts(499), std::vector<std::uint32_t>({4, 2, 8}));
  EXPECT_EQ(counts(kUnlimited), std::vector<std::uint32_t>({2, 4, 8}));
}

}  // namespace
}  // namespace neap::compiler
