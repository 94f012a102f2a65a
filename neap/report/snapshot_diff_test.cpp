// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/snapshot_diff.hpp"

#include <gtest/gtest.h>

#include "neap/report/snapshot_for_test.hpp"

namespace neap::report {
namespace {

TEST(SnapshotDiffTest, OfASnapshotWithItselfHasNoRows) {
  const Snapshot s = random_snapshot();
  EXPECT_TRUE(diff(s, s).rows.empty());
  EXPECT_TRUE(diff(empty_snapshot(), empty_snapshot()).rows.empty());
}

TEST(SnapshotDiffTest, RowsAddUpToTheDifference) {
  for (std::uint32_t seed = 1; seed < 20; ++seed) {
    const Snapshot a = random_snapshot({.seed = seed});
    const Snapshot b = seed == 7 ? empty_snapshot()
                                 : random_snapshot({.seed = seed + 100,
                                                    .calls = 90,
                                                    .spaces = 2,
                                                    .is_hostile = true});
    const Diff there = diff(a, b);
    const Diff back = diff(b, a);
    Bytes sum = 0;
    for (const Diff::Row& row : there.rows) {
      EXPECT_NE(row.change(), 0);
      sum += row.change();
    }
    EXPECT_EQ(sum, b.sums.reserved - a.sums.reserved);
    EXPECT_EQ(there.rows.size(), back.rows.size());
  }
}

TEST(SnapshotDiffTest, NamesWhatChangedLargestFirst) {
  const Snapshot a = small_snapshot();
  Snapshot b = a;
  b.blocks[1].used -= 100;
  b.blocks[1].bytes -= 64;
  b.stays[0].bytes += 5000;
  b.sums.idle = 0;
  add_up(b);
  const Diff change = diff(a, b);
  ASSERT_EQ(change.rows.size(), 5U);
  EXPECT_EQ(change.rows[0].part, "what stays");
  EXPECT_EQ(change.rows[0].layer, "fc1");
  EXPECT_EQ(change.rows[0].category, "parameters");
  EXPECT_EQ(change.rows[0].before, 4000);
  EXPECT_EQ(change.rows[0].after, 9000);
  EXPECT_EQ(change.rows[1].part, "idle pages");
  EXPECT_EQ(change.rows[2].change(), -100);
  EXPECT_EQ(change.rows[3].part, "gaps of the arena");
  EXPECT_EQ(change.rows[3].change(), 64);
  EXPECT_EQ(change.rows[4].part, "rounding of the values");
  EXPECT_EQ(change.rows[4].change(), 36);
}

TEST(SnapshotDiffTest, OutlivesTheSnapshots) {
  Diff kept;
  {
    const Snapshot a = small_snapshot();
    kept = diff(a, random_snapshot());
  }
  EXPECT_EQ(kept.title_before, "small");
  EXPECT_FALSE(kept.rows.empty());
}

}  // namespace
}  // namespace neap::report
