// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/problem.hpp"

#include <gtest/gtest.h>

#include "neap/base/error.hpp"
#include "neap/budget/channel.hpp"

namespace neap::budget {
namespace {

Call call(memory::Vector<std::int32_t> reads,
          memory::Vector<std::int32_t> makes) {
  return {
      .reads = std::move(reads), .makes = std::move(makes), .take_overs = {}};
}

std::string complaint_about(memory::Vector<Call> calls, std::size_t values) {
  Problem problem{.calls = std::move(calls), .values = {}};
  problem.values.resize(values, {.size = 1});
  try {
    check(problem);
  } catch (const ValueError& error) {
    return error.what();
  }
  return "";
}

TEST(ProblemTest, WhatIsWrongIsNamed) {
  EXPECT_EQ(complaint_about({call({}, {0}), call({0}, {1})}, 2), "");
  EXPECT_EQ(complaint_about({call({0}, {0})}, 1),
            "budget: call 0 reads value 0, which no call before it makes");
  EXPECT_EQ(complaint_about({call({}, {0}), call({0, 0}, {1})}, 2),
            "budget: call 1 reads value 0 twice");
  EXPECT_EQ(complaint_about({call({}, {0}), call({}, {0})}, 1),
            "budget: calls 0 and 1 make value 0");
  EXPECT_EQ(complaint_about({call({}, {0, 0})}, 1),
            "budget: calls 0 and 0 make value 0");
  EXPECT_EQ(complaint_about({call({}, {0})}, 2),
            "budget: no call makes value 1");
  EXPECT_EQ(complaint_about({call({}, {1})}, 1),
            "budget: call 0 names value 1, there are 1");
  EXPECT_EQ(complaint_about({call({-1}, {0})}, 1),
            "budget: call 0 names value -1, there are 1");
}

TEST(ProblemTest, AmountsAreNotNegativeAndTheirSumIsBounded) {
  Call dear = call({}, {0});
  dear.price = -1;
  EXPECT_EQ(complaint_about({dear}, 1),
            "budget: call 0 has the negative amount -1");
  dear.price = std::int64_t{1} << 62U;
  EXPECT_EQ(complaint_about({dear}, 1), "");
  Call other = call({}, {1});
  other.price = 1;
  EXPECT_EQ(complaint_about({dear, other}, 2),
            "budget: the amounts add up to more than 2^62");
  Call wide = call({}, {0});
  wide.scratch = std::int64_t{1} << 62U;
  EXPECT_EQ(complaint_about({wide}, 1),
            "budget: the amounts add up to more than 2^62");
}

std::string complaint_about_channel(const Channel& channel, std::int64_t size) {
  Problem problem{.calls = {call({}, {0})}, .values = {}};
  problem.values = {{.size = size, .may_spill = true}};
  problem.channel = channel;
  try {
    check(problem);
  } catch (const ValueError& error) {
    return error.what();
  }
  return "";
}

TEST(ProblemTest, AChannelMovesSomethingAtANonNegativePrice) {
  const Channel good{.write_rate = 1, .read_rate = 1};
  EXPECT_EQ(complaint_about_channel(good, 1 << 20), "");
  const std::string rates =
      "budget: the channel writes 0 and reads 1 bytes a second; both must be 1 "
      "to 1125899906842624";
  EXPECT_EQ(complaint_about_channel({.write_rate = 0}, 1), rates);
  EXPECT_NE(complaint_about_channel({.read_rate = -1}, 1), "");
  EXPECT_NE(complaint_about_channel({.read_rate = Channel::kMostRate + 1}, 1),
            "");
  EXPECT_NE(complaint_about_channel({.bus_price = -1}, 1), "");
  EXPECT_NE(complaint_about_channel({.most_written = -1}, 1), "");
  // Times and prices of moves are bounded together with those of calls.
  const std::string sum = "budget: the amounts add up to more than 2^62";
  EXPECT_EQ(complaint_about_channel(good, std::int64_t{1} << 40U), sum);
  EXPECT_EQ(complaint_about_channel({.write_rate = Channel::kMostRate,
                                     .read_rate = Channel::kMostRate,
                                     .bus_price = std::int64_t{1} << 40U},
                                    std::int64_t{1} << 50U),
            sum);
}

TEST(ProblemTest, TimesAndPricesOfMovesAreRoundedUp) {
  EXPECT_EQ(time_to_move(1, 1), kSecond);
  EXPECT_EQ(time_to_move(3, 2 * kSecond), 2);
  EXPECT_EQ(time_to_move(4, 2 * kSecond), 2);
  EXPECT_EQ(time_to_move(0, 7), 0);
  EXPECT_EQ(time_to_move(1, Channel::kMostRate), 1);
  const Channel channel{.bus_price = 3};
  EXPECT_EQ(bus_price_of(1 << 20, channel), 3);
  EXPECT_EQ(bus_price_of((1 << 20) + 1, channel), 4);
  EXPECT_EQ(bus_price_of(0, channel), 0);
}

TEST(ProblemTest, TakeOversAreOfTheCallsOwnValues) {
  Call second = call({0}, {1});
  second.take_overs = {{.made = 1, .read = 0}};
  EXPECT_EQ(complaint_about({call({}, {0}), second}, 2), "");
  second.take_overs = {{.made = 0, .read = 0}};
  EXPECT_EQ(complaint_about({call({}, {0}), second}, 2),
            "budget: call 1 does not make value 0 from value 0");
}

}  // namespace
}  // namespace neap::budget
