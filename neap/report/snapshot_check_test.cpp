// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/snapshot_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "neap/report/profile_table.hpp"
#include "neap/report/snapshot_for_test.hpp"
#include "neap/report/snapshot_json.hpp"

namespace neap::report {
namespace {

using testing::HasSubstr;

// The text with `from` replaced, once.
std::string changed(std::string text, std::string_view from,
                    std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

void expect_refused(const std::string& text, std::string_view fact) {
  const auto parsed = parse_snapshot(text);
  ASSERT_FALSE(parsed) << fact;
  EXPECT_THAT(parsed.error().message, HasSubstr(std::string(fact)));
}

// A table that is there twice could hide that another is missing.
TEST(SnapshotCheckTest, AKeyThatIsThereTwiceIsRefused) {
  const std::string good = json_of(small_snapshot());
  EXPECT_TRUE(parse_snapshot(good));
  const auto part = [&](std::string_view from, std::string_view to) {
    const std::size_t at = good.find(from);
    return good.substr(at, good.find(to) - at);
  };
  expect_refused(changed(good, part("\"reads\":{", "\"stays\":{"),
                         part("\"sums\":{", "\"calls\":{")),
                 "sums is there twice");
  expect_refused(changed(good, "\"calls\":{", "\"calls\":{\"op\":[],"),
                 "calls.op is there twice");
  expect_refused(changed(good, "\"idle\":", "\"idle\":0,\"idle\":"),
                 "sums.idle is there twice");
  expect_refused(changed(good, "\"title\":", "\"title\":\"\",\"title\":"),
                 "title is there twice");
}

// Tables and traces add up times and work.
TEST(SnapshotJsonTest, TimesAndWorkThatAddUpToTooMuchAreRefused) {
  constexpr std::int64_t kMost = (std::int64_t{1} << 53) - 1;
  Snapshot s = small_snapshot();
  s.calls[0].ns = kMost;
  s.calls[1].ns = 0;
  EXPECT_TRUE(check_snapshot(s));
  EXPECT_FALSE(profile_table(s).empty());
  s.calls[1].ns = 1;
  ASSERT_FALSE(check_snapshot(s));
  EXPECT_THAT(check_snapshot(s).error().message, HasSubstr("calls.ns"));
  s.calls[1].ns = -1;
  s.calls[1].flops = kMost;  // as in the step of a large model
  EXPECT_TRUE(check_snapshot(s));
  s.calls.resize(600, s.calls[1]);
  ASSERT_FALSE(check_snapshot(s));
  EXPECT_THAT(check_snapshot(s).error().message, HasSubstr("calls.flops"));
  for (Snapshot::Call& call : s.calls) {
    call.flops = 1;
    call.moved = kMost;
  }
  ASSERT_FALSE(check_snapshot(s));
  EXPECT_THAT(check_snapshot(s).error().message, HasSubstr("calls.moved"));
}

}  // namespace
}  // namespace neap::report
