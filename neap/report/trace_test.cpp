// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/trace.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "neap/report/snapshot_for_test.hpp"
#include "neap/report/written_for_test.hpp"

namespace neap::report {
namespace {

using nlohmann::json;

// The events of one phase, in the order of the file.
std::vector<json> events_of(const json& file, std::string_view phase) {
  std::vector<json> out;
  for (const json& event : file["traceEvents"]) {
    if (event["ph"] == phase) {
      out.push_back(event);
    }
  }
  return out;
}

std::vector<json> events_of(const Snapshot& s, std::string_view phase) {
  return events_of(json::parse(written(write_trace, s)), phase);
}

Bytes sum_of(const json& counter) {
  Bytes sum = 0;
  for (const json& series : counter["args"]) {
    sum += series.get<Bytes>();
  }
  return sum;
}

TEST(TraceTest, HasEachCallOnceAndInOrder) {
  const Snapshot s = small_snapshot();
  const auto calls = events_of(s, "X");
  ASSERT_EQ(calls.size(), 3U);
  EXPECT_EQ(calls[1]["name"], "relu");
  EXPECT_EQ(calls[1]["ts"], 1.0);
  EXPECT_EQ(calls[1]["dur"], 1.0);
  EXPECT_EQ(calls[1]["args"]["layer"], "fc1.act");
  EXPECT_EQ(calls[1]["args"]["line"], "net.cpp:8 (step)");
  EXPECT_EQ(calls[2]["cat"], "backward");
}

TEST(TraceTest, CountersAreTheLiveLine) {
  for (std::uint32_t seed = 1; seed < 8; ++seed) {
    const Snapshot s = random_snapshot(
        {.seed = seed, .spaces = seed % 2 + 1, .has_profile = seed % 3 == 0});
    const auto counters = events_of(s, "C");
    ASSERT_EQ(counters.size(), s.calls.size());
    for (std::size_t call = 0; call < s.calls.size(); ++call) {
      EXPECT_EQ(sum_of(counters[call]), live_at(s, call));
    }
  }
}

// Viewers keep one of two equal keys, and lose the other's bytes.
TEST(TraceTest, CountersHaveEachKeyOnce) {
  Snapshot s = small_snapshot();
  const std::string longer(300, 'n');
  const auto blocks = static_cast<std::uint32_t>(s.blocks.size());
  ASSERT_GE(blocks, 3U);
  for (std::uint32_t i = 0; i < blocks; ++i) {  // by turns alike once cut
    s.texts.emplace_back(longer + std::to_string(i % 2));
    s.blocks[i].category = static_cast<TextId>(s.texts.size()) - 1;
  }
  const auto check = [&] {
    const std::string text = written(write_trace, s);
    std::set<std::string> keys;
    const json file = json::parse(
        text, [&](int depth, json::parse_event_t event, json& parsed) {
          if (event == json::parse_event_t::object_start) {
            keys.clear();
          }
          if (event == json::parse_event_t::key && depth == 4) {
            EXPECT_TRUE(keys.insert(parsed.get<std::string>()).second)
                << parsed;
          }
          return true;
        });
    const auto counters = events_of(file, "C");
    for (std::size_t call = 0; call < s.calls.size(); ++call) {
      EXPECT_EQ(sum_of(counters[call]), live_at(s, call));
    }
  };
  check();
  for (std::uint32_t i = 0; i < blocks; ++i) {  // the same text twice, "others"
    s.texts[s.blocks[i].category] = i == 1 ? "others" : "data";
  }
  check();
  Snapshot many = random_snapshot({.calls = 40});
  for (std::uint32_t i = 0; i < many.blocks.size(); ++i) {
    many.texts.emplace_back(i % 12 == 3 ? "others"
                                        : "c" + std::to_string(i % 12));
    many.blocks[i].category = static_cast<TextId>(many.texts.size()) - 1;
  }
  s = many;
  check();
}

TEST(TraceTest, TimesAreThoseOfAProfile) {
  Snapshot s = small_snapshot();
  s.calls[0].ns = 1234567;
  s.calls[1].ns = 8;
  s.calls[2].ns = 5;
  const auto calls = events_of(s, "X");
  EXPECT_EQ(calls[0]["dur"], 1234.567);
  EXPECT_EQ(calls[1]["ts"], 1234.567);
  EXPECT_EQ(calls[1]["dur"], 0.008);
}

TEST(TraceTest, ACallHasItsShareOfTheMachinesLimit) {
  Snapshot s = small_snapshot();
  const json plain = json::parse(written(write_trace, s));
  EXPECT_FALSE(plain.contains("otherData"));
  s.sums.flops_a_second = 58'000'000'000;
  s.sums.bytes_a_second = 9'000'000'000;
  s.calls[1].ns = 1000;
  s.calls[1].share = 1234;
  const json file = json::parse(written(write_trace, s));
  EXPECT_EQ(file["otherData"]["limit, flops a second"], 58'000'000'000);
  EXPECT_EQ(file["otherData"]["limit, bytes a second"], 9'000'000'000);
  const auto calls = events_of(file, "X");
  EXPECT_EQ(calls[1]["args"]["percent of the machine's limit"], 123.4);
  EXPECT_FALSE(calls[0]["args"].contains("percent of the machine's limit"));
}

TEST(TraceTest, MarksThePeak) {
  const Snapshot s = random_snapshot();
  const auto peaks = events_of(s, "i");
  ASSERT_EQ(peaks.size(), 1U);
  EXPECT_EQ(peaks[0]["ts"], s.sums.peak_call);
  EXPECT_EQ(peaks[0]["args"]["live bytes"], s.sums.live_at_peak);
}

TEST(TraceTest, ArrowsLeadFromTheMakerToTheLastReader) {
  const Snapshot s = small_snapshot();
  const auto from = events_of(s, "s");
  const auto to = events_of(s, "f");
  ASSERT_EQ(from.size(), 2U);
  ASSERT_EQ(to.size(), 2U);
  EXPECT_EQ(from[1]["id"], 1);
  EXPECT_EQ(from[1]["ts"], 1.0);
  EXPECT_EQ(to[1]["id"], 1);
  EXPECT_EQ(to[1]["ts"], 2.0);
}

TEST(TraceTest, ArrowsPassOverReadersBeforeTheLast) {
  const Snapshot s = random_snapshot();
  std::map<std::size_t, std::uint32_t> last;
  for (const Snapshot::Read& read : s.reads) {
    last[read.block] = read.call;
  }
  const auto arrows = events_of(s, "f");
  EXPECT_GT(arrows.size(), 20U);
  for (const json& arrow : arrows) {
    EXPECT_EQ(arrow["ts"], last.at(arrow["id"].get<std::size_t>()));
  }
}

TEST(TraceTest, OnlyTheLargestBlocksHaveArrows) {
  const Snapshot s = random_snapshot({.calls = 600});
  EXPECT_GT(s.reads.size(), 1000U);
  EXPECT_LE(events_of(s, "s").size(), 200U);
}

TEST(TraceTest, HostileNamesStayNames) {
  Snapshot s = small_snapshot();
  for (const std::string_view name : kHostileNames) {
    s.calls[0].op = text_id(s, name);
    s.title = name;
    EXPECT_EQ(events_of(s, "X").size(), 3U);  // it can be parsed
  }
}

TEST(TraceTest, ALongStepHasSlicesOfSeveralCalls) {
  Snapshot s = small_snapshot();
  const std::string name(1700, 'x');
  s.calls[1].op = s.calls[1].layer = s.calls[1].line = text_id(s, name);
  s.calls.insert(s.calls.begin() + 1, 100'000, s.calls[1]);
  for (std::size_t i = 1; i < s.blocks.size(); ++i) {
    s.blocks[i].first += 100'000;
    s.blocks[i].last += 100'000;
  }
  s.reads.clear();
  s.sums.peak_call = 100'002;
  const std::string text = written(write_trace, s);
  EXPECT_LE(text.size(), 50'000'000U);
  const json file = json::parse(text);
  const auto slices = events_of(file, "X");
  EXPECT_LT(slices.size(), s.calls.size());
  std::size_t calls = 0;
  for (const json& slice : slices) {
    calls += slice["args"].value("calls", std::size_t{1});
  }
  EXPECT_EQ(calls, s.calls.size());
  Bytes most = 0;
  for (const json& counter : events_of(file, "C")) {
    most = std::max(most, sum_of(counter));
  }
  EXPECT_EQ(most, s.sums.live_at_peak);
}

}  // namespace
}  // namespace neap::report
