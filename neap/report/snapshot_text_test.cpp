// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/snapshot_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "neap/report/snapshot_for_test.hpp"

namespace neap::report {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string plain(const memory::String& text) {
  return std::string(text);
}

void expect_narrow(std::string_view text) {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 80U) << line;
    for (const char c : line) {
      EXPECT_GE(static_cast<unsigned char>(c), 0x20) << line;
    }
  }
}

TEST(SnapshotTextTest, ShowsSumsThePeakAndWhatStays) {
  Snapshot s = small_snapshot();
  s.sums.budget = 8192;
  s.sums.predicted = -1;
  EXPECT_EQ(plain(to_text(s)), R"(small
sum                                                bytes
reserved                                  6.0 KiB  6 132
arena                 the least possible  1.2 KiB  1 216
what stays                                4.0 KiB  4 096
program and plan                            500 B    500
idle pages                                  300 B    300
allocator's rounding                         20 B     20
budget                2.0 KiB to spare    8.0 KiB  8 192

At the peak, call 2 of 3, matmul of fc2:
layer                   category              bytes
fc1.act                 activations   1000 B  1 000
fc2                     workspace      100 B    100
fc2                     gradients       64 B     64
rounding of the values                  52 B     52
arena                                1.2 KiB  1 216

What stays:
layer  category             bytes
fc1    parameters  3.9 KiB  4 000
fc1    inputs         96 B     96
all                4.0 KiB  4 096
)");
}

// The most that was held goes before what is held now, as in neap plan.
TEST(SnapshotTextTest, ToSpareIsWhatTheBudgetLeavesBesideTheMostThatWasHeld) {
  Snapshot s = small_snapshot();
  const Bytes held = s.sums.held();
  const auto has = [&](Bytes budget, Bytes most, std::string_view words) {
    s.sums.budget = budget;
    s.sums.held_at_most = most;
    return to_text(s).find(words) != memory::String::npos;
  };
  EXPECT_TRUE(has(held + 100, -1, "100 B to spare"));
  EXPECT_TRUE(has(held - 100, -1, "idle pages must go"));
  EXPECT_TRUE(has(held - 400, -1, "100 B too little"));
  EXPECT_TRUE(has(held + 100, held + 60, "40 B to spare"));
  EXPECT_TRUE(has(held + 100, held + 60, "held at most"));
  EXPECT_TRUE(has(held + 100, held, "100 B to spare"));
  EXPECT_FALSE(has(held + 100, held, "held at most"));
  EXPECT_TRUE(has(held - 100, held, "100 B too little"));
}

TEST(SnapshotTextTest, RowsBeyondTheLargestAreOne) {
  Snapshot s = small_snapshot();
  for (int i = 0; i < 30; ++i) {
    Snapshot::Block b = s.blocks[2];
    b.offset = s.sums.arena + i * 64;
    b.layer = text_id(s, "h." + std::to_string(i));
    s.blocks.push_back(b);
  }
  add_up(s);
  EXPECT_THAT(plain(to_text(s)), HasSubstr("13 more"));
  EXPECT_THAT(plain(to_text(s)), HasSubstr("832\n"));
}

TEST(SnapshotTextTest, FitsATerminalWhateverTheNames) {
  for (std::uint32_t seed = 1; seed < 20; ++seed) {
    Snapshot s = random_snapshot({.seed = seed, .is_hostile = true});
    s.blocks[0].layer = text_id(s, std::string(300, 'x'));
    s.blocks[0].category = text_id(s, std::string(300, 'y'));
    s.blocks[0].bytes = Bytes{1} << 50;
    s.calls[0].op = text_id(s, std::string(300, 'z'));
    add_up(s);
    s.sums.budget = 5;
    s.sums.arguments = s.sums.external = Bytes{1} << 51;
    s.title.assign(400, 't');
    expect_narrow(to_text(s));
    expect_narrow(to_text(diff(s, random_snapshot())));
  }
}

TEST(SnapshotTextTest, AnEmptySnapshotHasTables) {
  expect_narrow(to_text(empty_snapshot()));
  EXPECT_THAT(plain(to_markdown(empty_snapshot())),
              HasSubstr("| reserved |  | 0 B"));
}

TEST(SnapshotTextTest, MarkdownHasNoMarkupOfNames) {
  for (const std::string_view name : kHostileNames) {
    Snapshot s = small_snapshot();
    s.title = name;
    s.blocks[1].layer = text_id(s, name);
    s.blocks[1].category = text_id(s, name);
    s.stays[0].owner = text_id(s, name);
    const std::string text =
        plain(to_markdown(s)) + plain(to_markdown(diff(small_snapshot(), s)));
    EXPECT_THAT(text, testing::Not(testing::ContainsRegex("<[a-z/!]")));
    EXPECT_THAT(text, testing::Not(HasSubstr(" `x`")));
    EXPECT_THAT(text, testing::Not(HasSubstr("@you")));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_TRUE(line.empty() || line.front() != '|' || line.back() == '|');
    }
  }
}

TEST(SnapshotTextTest, DiffsBeginWithTheLargestChanges) {
  const Snapshot a = small_snapshot();
  Snapshot b = a;
  b.title = "large";
  b.blocks[1].used = b.blocks[1].bytes = 3 * kMiB;
  b.blocks[2].offset += 3 * kMiB;
  b.blocks[3].offset += 3 * kMiB;
  b.stays[0].bytes += kMiB;
  add_up(b);
  EXPECT_THAT(plain(to_markdown(diff(a, b))),
              StartsWith("peak +4.0 MiB: activations of fc1.act +3.0 MiB, "
                         "parameters of fc1 +1.0 MiB"));
  EXPECT_EQ(plain(to_text(diff(a, b))),
            R"(before 6.0 KiB (6 132 B): small
after 4.0 MiB (4 200 436 B): large
layer                   category                          bytes
fc1.act                 activations        +3.0 MiB  +3 144 728
fc1                     stays, parameters  +1.0 MiB  +1 048 576
gaps of the arena                          +1.0 KiB      +1 024
rounding of the values                        -24 B         -24
all                                        +4.0 MiB  +4 194 304
)");
}

TEST(SnapshotTextTest, AStepThatIsAsBeforeIsUnchanged) {
  const Snapshot s = small_snapshot();
  EXPECT_EQ(plain(to_text(diff(s, s))), "peak unchanged: 6.0 KiB (6 132 B)\n");
  EXPECT_EQ(to_markdown(diff(s, s)), to_text(diff(s, s)));
}

}  // namespace
}  // namespace neap::report
