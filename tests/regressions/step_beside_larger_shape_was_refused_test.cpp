// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A step with a budget, called with batches of several sizes, refused one that
// it took alone: a small batch found its moments beside the arena of a large
// one, where they might have waited in a file, and a large one that was known
// found the books of a small one where its arena was to be.
#include <gtest/gtest.h>

#include <vector>

#include "neap/base/sanitizer.hpp"
#include "neap/compile/away_for_test.hpp"

namespace neap::compiler {
namespace {

class BesideLargerShapeTest : public AwayTest {
 protected:
  void SetUp() override {
    if (base::kAddressSanitizer) {
      GTEST_SKIP() << "blocks are held by the byte: the rooms are other ones";
    }
  }
  CompileOptions options_of(const AwayNet& net, Bytes room,
                            bool has_file) const {
    CompileOptions options = within(net, room);
    if (!has_file) {
      options.spill = {};
    }
    return options;
  }

  bool fits_alone(std::int64_t rows, Bytes room, bool has_file) const {
    AwayNet net;
    auto step = net.compiled(options_of(net, room, has_file));
    try {
      net.run(step, rows);
    } catch (const Error&) {
      return false;
    }
    return true;
  }

  // Whatever fits alone fits in turn, to the same bits and within the budget.
  // RETURNS: budgets at which all did.
  int expect_in_turn(const std::vector<std::int64_t>& batches, Bytes from,
                     Bytes to, Bytes by, bool has_file) const {
    int count = 0;
    for (Bytes room = from; room <= to; room += by) {
      SCOPED_TRACE(testing::Message() << room / kKiB << " KiB, " << has_file);
      if (!fits_alone(batches[0], room, has_file) ||
          !fits_alone(batches[1], room, has_file)) {
        continue;
      }
      AwayNet plain;
      AwayNet net;
      const CompileOptions options = options_of(net, room, has_file);
      auto whole = plain.compiled({});
      auto step = net.compiled(options);
      net.domain->reset_peak();
      for (const std::int64_t rows : batches) {
        EXPECT_EQ(net.run(step, rows), plain.run(whole, rows)) << rows;
      }
      const memory::Stats stats = net.domain->stats();
      EXPECT_LE(stats.peak + stats.external, options.budget + 512 * kKiB);
      EXPECT_TRUE(net.values() == plain.values());
      EXPECT_TRUE(net.moments() == plain.moments());
      ++count;
    }
    return count;
  }
};

TEST_F(BesideLargerShapeTest, ASmallOneSendsItsStatesAway) {
  EXPECT_GT(expect_in_turn({300, 2, 300, 2}, 3800 * kKiB, 4200 * kKiB,
                           200 * kKiB, true),
            1);
}

TEST_F(BesideLargerShapeTest, ASlightlySmallerOneIsTracedAnew) {
  EXPECT_GT(expect_in_turn({300, 200, 300, 300, 200}, 4200 * kKiB, 4500 * kKiB,
                           100 * kKiB, false),
            1);
  EXPECT_GT(expect_in_turn({300, 200, 300, 300, 200}, 4000 * kKiB, 4600 * kKiB,
                           300 * kKiB, true),
            1);
}

// A known program stays: no call that fits traces anew.
TEST_F(BesideLargerShapeTest, InTurnNothingIsTracedAgain) {
  AwayNet net;
  auto step = net.compiled(options_of(net, 3800 * kKiB, true));
  for (const std::int64_t rows : {300, 2, 300, 2}) {
    net.run(step, rows);
  }
  const std::int64_t traces = step.traces();
  for (const std::int64_t rows : {300, 2, 300, 2}) {
    net.run(step, rows);
  }
  EXPECT_EQ(step.traces(), traces);
}

}  // namespace
}  // namespace neap::compiler
