// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/csv.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "neap/planner/problems_for_test.hpp"

namespace neap::planner {
namespace {

std::string complaint_about(std::string_view text) {
  const auto csv = parse_csv(text);
  return csv ? "" : csv.error().message;
}

TEST(CsvTest, ReadsColumnsByNameInAnyOrder) {
  const auto csv = parse_csv(
      "upper,name,size,lower\n"
      "2,first one,16,0\n"
      "5,b,8,-2\n");
  ASSERT_TRUE(csv) << csv.error().message;
  ASSERT_EQ(csv->problem.buffers.size(), 2U);
  EXPECT_EQ(csv->problem.buffers[1].lower, -2);
  EXPECT_EQ(csv->problem.buffers[1].upper, 5);
  EXPECT_EQ(csv->problem.buffers[1].size, 8);
  EXPECT_EQ(csv->problem.buffers[1].alignment, 1);
  EXPECT_EQ(csv->problem.buffers[1].fixed, -1);
  EXPECT_EQ(csv->problem.buffers[1].alias_of, -1);
  EXPECT_EQ(csv->problem.buffers[1].alias_at, 0);
  EXPECT_TRUE(csv->offsets.empty());
}

TEST(CsvTest, ToleratesOtherLineEndsEmptyLinesAndBlanks) {
  const auto csv = parse_csv(
      "\xEF\xBB\xBFid,lower, upper,size\r\n"
      "\r\n"
      "a, 1 ,2,\t3\r\n"
      "\n"
      "b,1,2,3");
  ASSERT_TRUE(csv) << csv.error().message;
  EXPECT_EQ(csv->problem.buffers.size(), 2U);
}

// A file written with offsets is read as the one it was made from: no mark that
// stood further in becomes the one in front.
TEST(CsvTest, DropsEveryByteOrderMarkBeforeTheHead) {
  for (const std::string_view text :
       {"\xEF\xBB\xBF\xEF\xBB\xBFlower,upper,size\n0,2,16\n",
        "\n\xEF\xBB\xBFlower,upper,size\n0,2,16\n",
        "\xEF\xBB\xBF\r\n\xEF\xBB\xBFlower,upper,size\n0,2,16\n"}) {
    EXPECT_EQ(std::string_view(add_offsets(text, std::vector{std::int64_t{8}})),
              "lower,upper,size,offset\n0,2,16,8\n");
  }
}

TEST(CsvTest, ReadsWhatElseABufferMayHave) {
  const auto csv = parse_csv(
      "lower,upper,size,alignment,fixed,alias_of,alias_at,offset\n"
      "0,2,16,8,64,,,64\n"
      "0,2,16,,,0,0,64\n");
  ASSERT_TRUE(csv) << csv.error().message;
  EXPECT_EQ(csv->problem.buffers[0].fixed, 64);
  EXPECT_EQ(csv->problem.buffers[1].fixed, -1);
  EXPECT_EQ(csv->problem.buffers[1].alignment, 1);
  EXPECT_EQ(csv->problem.buffers[1].alias_of, 0);
  EXPECT_EQ(csv->offsets, (memory::Vector<std::int64_t>{64, 64}));
}

TEST(CsvTest, ReadsOffsetsFromTheFirstColumn) {
  const auto csv = parse_csv("offset,lower,upper,size\n8,0,2,16\n,3,5,16\n");
  ASSERT_TRUE(csv) << csv.error().message;
  EXPECT_EQ(csv->offsets, (memory::Vector<std::int64_t>{8, 0}));
}

TEST(CsvTest, FixesABufferAtZero) {
  const auto csv = parse_csv("lower,upper,size,fixed\n0,1,8,0\n");
  ASSERT_TRUE(csv) << csv.error().message;
  EXPECT_EQ(csv->problem.buffers[0].fixed, 0);
}

TEST(CsvTest, SaysWhereAnotherSeparatorStands) {
  const auto complaint = [](std::string_view text) {
    return std::string(parse_csv(text).error().message);
  };
  EXPECT_EQ(complaint("lower;upper;size\n"),
            "line 1: no column is named lower; the file looks separated by "
            "';', save it with commas");
  EXPECT_EQ(complaint("lower\tupper\tsize\n"),
            "line 1: no column is named lower; the file looks separated by "
            "tabulators, save it with commas");
  EXPECT_EQ(complaint("a;b,upper,size\n"), "line 1: no column is named lower");
  EXPECT_EQ(complaint("lower,upper\n0,1\n"), "line 1: no column is named size");
}

TEST(CsvTest, NamesTheLineThatIsWrong) {
  const std::string head = "id,lower,upper,size\n";
  EXPECT_EQ(complaint_about(""), "line 1: there is no head");
  EXPECT_EQ(complaint_about("id,lower,size\n"),
            "line 1: no column is named upper");
  EXPECT_EQ(complaint_about("size,lower,upper,size\n"),
            "line 1: two columns are named size");
  EXPECT_EQ(complaint_about(head + "a,0,1,2\nb,0,1\n"),
            "line 3: 3 cells, the head has 4");
  EXPECT_EQ(complaint_about(head + "\na,0,1,2,3\n"),
            "line 3: 5 cells, the head has 4");
  EXPECT_EQ(complaint_about(head + "a,0,1,2x\n"),
            "line 2: size is '2x', no integer of 64 bits");
  EXPECT_EQ(complaint_about("lower,upper,size\nx,1,2\n"),
            "line 2: lower is 'x', no integer of 64 bits");
  EXPECT_EQ(complaint_about("lower,upper,size,alignment\n0,1,2,0\n"),
            "line 2: size 2 or alignment 0 is too small");
  EXPECT_EQ(complaint_about(head + "a,0,,2\n"),
            "line 2: upper is '', no integer of 64 bits");
  EXPECT_EQ(complaint_about(head + "a,0,1,9223372036854775808\n"),
            "line 2: size is '9223372036854775808', no integer of 64 bits");
  EXPECT_EQ(complaint_about(head + "a,1,1,2\n"),
            "line 2: lives from 1 to 1, which is no time");
  EXPECT_EQ(complaint_about(head + "a,0,1,-2\n"),
            "line 2: size -2 or alignment 1 is too small");
  EXPECT_EQ(complaint_about("lower,upper,size,alias_of\n0,1,2,4294967296\n"),
            "line 2: alias_of 4294967296 is no row");
  EXPECT_EQ(complaint_about(head + "a,0,1,9223372036854775806\nb,0,1,9\n"),
            "plan: the sizes add up to more than 64 bits hold");
}

TEST(CsvTest, FailsOrReadsWhateverComes) {
  const std::string good =
      "id,lower,upper,size,alignment\na,0,2,16,8\nb,2,5,8,\n";
  std::mt19937 random(1);
  const std::string_view letters = ",\n\r-0123456789ab\0\xFF";
  int read = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = good;
    for (auto changes = random() % 4; changes-- > 0;) {
      text[random() % text.size()] = letters[random() % letters.size()];
    }
    text.resize(random() % 8 == 0 ? random() % text.size() : text.size());
    const auto csv = parse_csv(text);
    if (csv) {
      ++read;
      check(csv->problem);
    } else {
      EXPECT_FALSE(csv.error().message.empty());
    }
  }
  EXPECT_GT(read, 1000);
}

TEST(CsvTest, WritesTheSameRowsWithOffsets) {
  const std::array<std::int64_t, 2> offsets = {0, 48};
  EXPECT_EQ(add_offsets("id,lower,upper,size\r\na,0,2,16\n\nb,1,5,8", offsets),
            "id,lower,upper,size,offset\na,0,2,16,0\nb,1,5,8,48\n");
  EXPECT_EQ(add_offsets("offset,lower,upper,size\n7,0,2,16\n,1,5,8", offsets),
            "offset,lower,upper,size\n0,0,2,16\n48,1,5,8\n");
}

TEST(CsvTest, WritesOffsetsBesideShortRows) {
  std::string text = "lower,upper,size\n";
  std::string expected = "lower,upper,size,offset\n";
  memory::Vector<std::int64_t> offsets;
  for (int i = 0; i < 20; ++i) {
    text += "0,1,1\n";
    expected += "0,1,1," + std::to_string(i) + "\n";
    offsets.push_back(i);
  }
  EXPECT_EQ(std::string_view(add_offsets(text, offsets)), expected);
}

TEST(CsvTest, ReadsBackWhatItWrote) {
  Problem problem = random_problem(3, {.buffers = 50, .unit = 8});
  problem.buffers[4].fixed = 800;
  problem.buffers.push_back(
      {.lower = 3, .upper = 70, .size = 0, .alias_of = 2, .alias_at = 0});
  const auto csv = parse_csv(to_csv(problem));
  ASSERT_TRUE(csv) << csv.error().message;
  EXPECT_EQ(to_csv(csv->problem), to_csv(problem));
  EXPECT_EQ(csv->problem.buffers[4].fixed, 800);
  EXPECT_EQ(csv->problem.buffers[50].alias_of, 2);
}

}  // namespace
}  // namespace neap::planner
