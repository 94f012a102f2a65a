// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/snapshot_walk.hpp"

#include <gtest/gtest.h>

#include "neap/report/snapshot_for_test.hpp"

namespace neap::report {
namespace {

Bytes bytes_of(const memory::Vector<PeakRow>& rows, Part part) {
  Bytes sum = 0;
  for (const PeakRow& row : rows) {
    sum += row.part == part ? row.bytes : 0;
  }
  return sum;
}

Bytes sum_of(const memory::Vector<PeakRow>& rows) {
  Bytes sum = 0;
  for (const PeakRow& row : rows) {
    sum += row.bytes;
  }
  return sum;
}

TEST(SnapshotWalkTest, ShowsTheLiveLineAsCallsGoBy) {
  for (std::uint32_t seed = 1; seed < 20; ++seed) {
    const Snapshot s = random_snapshot({.seed = seed, .spaces = seed % 3 + 1});
    BlockWalk walk(s);
    Bytes live = 0;
    for (std::uint32_t call = 0; call < s.calls.size(); ++call) {
      walk.advance(
          call, [&](std::uint32_t i) { live -= s.blocks[i].bytes; },
          [&](std::uint32_t i) { live += s.blocks[i].bytes; });
      ASSERT_EQ(live, live_at(s, call)) << "seed " << seed << " call " << call;
    }
    walk.advance(
        static_cast<std::uint32_t>(s.calls.size()),
        [&](std::uint32_t i) { live -= s.blocks[i].bytes; },
        [](std::uint32_t) { FAIL() << "a block begins after all calls"; });
    EXPECT_EQ(live, 0);
  }
}

TEST(SnapshotWalkTest, RowsAtThePeakAddUpToWhatIsReserved) {
  for (std::uint32_t seed = 1; seed < 20; ++seed) {
    Snapshot s = random_snapshot({.seed = seed, .spaces = seed % 3 + 1});
    s.sums.reserved += 7;  // of which nothing is known
    s.sums.stays += 7;
    const auto rows = rows_at_peak(s);
    EXPECT_EQ(sum_of(rows), s.sums.reserved);
    EXPECT_EQ(bytes_of(rows, Part::kUnlisted), 7);
    EXPECT_EQ(bytes_of(rows, Part::kValues), s.sums.used_at_peak);
    EXPECT_EQ(bytes_of(rows, Part::kRounding),
              s.sums.live_at_peak - s.sums.used_at_peak);
    EXPECT_EQ(bytes_of(rows, Part::kGaps), s.sums.arena - s.sums.live_at_peak);
  }
}

TEST(SnapshotWalkTest, RowsAreByPartThenLargestFirst) {
  const Snapshot s = small_snapshot();
  const auto rows = rows_at_peak(s);
  ASSERT_EQ(rows.size(), 9U);
  EXPECT_EQ(rows[0].layer, "fc1.act");
  EXPECT_EQ(rows[0].category, "activations");
  EXPECT_EQ(rows[0].bytes, 1000);
  EXPECT_EQ(rows[1].category, "workspace");
  EXPECT_EQ(rows[2].bytes, 64);
  EXPECT_EQ(rows[3].part, Part::kRounding);
  EXPECT_EQ(rows[3].bytes, 24 + 28);
  EXPECT_EQ(rows[4].part, Part::kStays);
  EXPECT_EQ(rows[4].layer, "fc1");
  EXPECT_EQ(rows[4].bytes, 4000);
  EXPECT_EQ(rows[8].part, Part::kOverhead);
}

TEST(SnapshotWalkTest, AnEmptySnapshotHasNoRows) {
  EXPECT_TRUE(rows_at_peak(empty_snapshot()).empty());
}

TEST(SnapshotWalkTest, OwnersOfWeightsStandBelowTheirLayers) {
  Snapshot s = small_snapshot();
  s.stays.push_back({text_id(s, "fc1.act"), text_id(s, "inputs"), 1});
  s.stays.push_back({text_id(s, "bare"), text_id(s, "parameters"), 1});
  const auto layers = layers_of_stays(s);
  EXPECT_EQ(layers[0], "fc1");
  EXPECT_EQ(layers[1], "fc1");
  EXPECT_EQ(layers[2], "fc1.act");
  EXPECT_EQ(layers[3], "bare");
}

TEST(SnapshotWalkTest, SpacesAreAboveEachOther) {
  const Snapshot s = random_snapshot({.seed = 3, .spaces = 3});
  const ArenaMap map(s);
  EXPECT_EQ(map.end, s.sums.arena);
  EXPECT_EQ(map.base[0], 0);
  EXPECT_GT(map.base[2], map.base[1]);
  for (const auto& a : s.blocks) {
    for (const auto& b : s.blocks) {
      const bool meets = &a != &b && a.first <= b.last && b.first <= a.last &&
                         map.place_of(a) < map.place_of(b) + b.bytes &&
                         map.place_of(b) < map.place_of(a) + a.bytes;
      ASSERT_FALSE(meets);
    }
  }
}

TEST(SnapshotWalkTest, CategoriesBeyondTheFirstAreOthers) {
  Snapshot s = small_snapshot();
  EXPECT_EQ(Categories(s).names.size(), 3U);
  for (int i = 0; i < 20; ++i) {
    s.blocks.push_back(s.blocks[0]);
    s.blocks.back().category = text_id(s, "c" + std::to_string(i));
  }
  const Categories categories(s);
  ASSERT_EQ(categories.names.size(), Categories::kMost);
  EXPECT_EQ(categories.names.back(), "others");
  EXPECT_EQ(categories.of(s.blocks.back()), Categories::kMost - 1);
  EXPECT_EQ(categories.of(s.blocks.front()), 0U);
}

TEST(SnapshotWalkTest, CallsTakeAMicrosecondWithoutAProfile) {
  Snapshot s = small_snapshot();
  EXPECT_EQ(call_starts(s),
            (memory::Vector<std::int64_t>{0, 1000, 2000, 3000}));
  s.calls[1].ns = 70;
  EXPECT_EQ(call_starts(s), (memory::Vector<std::int64_t>{0, 0, 70, 70}));
}

TEST(SnapshotWalkTest, LinesHaveAFileAndANumber) {
  EXPECT_EQ(parse_line("src/a:b.cpp:12 (step)").file, "src/a:b.cpp");
  EXPECT_EQ(parse_line("src/a:b.cpp:12 (step)").number, 12);
  EXPECT_EQ(parse_line("a.cpp:7").number, 7);
  for (const std::string_view other : {"", "a.cpp", "a.cpp:", "a.cpp:1x",
                                       "a.cpp:-3", "a:99999999999999999999"}) {
    EXPECT_EQ(parse_line(other).file, other);
    EXPECT_EQ(parse_line(other).number, 0);
  }
}

}  // namespace
}  // namespace neap::report
