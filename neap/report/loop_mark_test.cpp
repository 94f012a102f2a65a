// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/loop_mark.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace neap::report {
namespace {

// Callers by letters; 'i' inside, 'E' an end, 'O' another loop.
std::string events(std::string_view callers) {
  static constexpr std::string_view kAddresses = "abcdefghijklmnopqrstuvwxyz";
  LoopMark mark;
  std::string out;
  for (const char c : callers) {
    out += "iEO"[static_cast<std::size_t>(
        mark.next(&kAddresses[kAddresses.find(c)]))];
  }
  return out;
}

TEST(LoopMarkTest, OneCallerEndsEachStep) {
  EXPECT_EQ(events("aaaa"), "OEEE");
}

TEST(LoopMarkTest, OfOneCallerALayerTheFirstEndsSteps) {
  EXPECT_EQ(events("abcdefabcdefabcdef"), "OiiiiiEiiiiiEiiiii");
}

TEST(LoopMarkTest, SeveralTurnsOfOneInAStepAreNoLoopOfItsOwn) {
  EXPECT_EQ(events("abbbbabbbb"), "OiiiiEiiii");
  EXPECT_EQ(events("abbbbbabbbbba"), "OiiiiOiEEEEEi");
}

TEST(LoopMarkTest, ALoopAfterAnotherHasItsOwnMark) {
  EXPECT_EQ(events("aaabbbbbbb"), "OEEiiiiOEE");
  EXPECT_EQ(events("abcbcbcbcbcbc"), "OiiiiiiiiOiEi");
}

}  // namespace
}  // namespace neap::report
