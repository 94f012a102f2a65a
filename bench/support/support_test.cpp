// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Tests of what the benchmarks trust: medians and means, turns that alternate,
// rows that become JSON, and workers that answer, refuse or die.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "neap/files/temporary_folder.hpp"
#include "support/limits.hpp"
#include "support/measure.hpp"
#include "support/report.hpp"
#include "support/worker.hpp"

namespace neap::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(QuantileTest, InterpolatesBetweenNeighbours) {
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_DOUBLE_EQ(quantile({0, 10}, 0.1), 1);
  EXPECT_TRUE(std::isnan(median({})));
}

TEST(GeometricMeanTest, OfReciprocalsIsOne) {
  EXPECT_DOUBLE_EQ(geometric_mean(std::array{4.0, 0.25}), 1);
}

TEST(MeasureTest, EveryRoundBeginsWithAnotherContender) {
  std::string order;
  const auto contender = [&](char name) {
    return Contender{
        std::string(1, name), [&order, name](int count) {
          order += name;
          return std::vector<double>{1e-3 * (name - 'a' + 1) / count};
        }};
  };
  const std::vector<Contender> contenders{contender('a'), contender('b')};
  const auto timings =
      measure(contenders, {.rounds = 2, .turn_seconds = 0, .most_calls = 2});
  // Four turns each find the count of calls.
  EXPECT_EQ(order, std::string("aaaabbbb") + "ab" + "ba");
  EXPECT_EQ(fastest(timings).name, "a");
}

TEST(MeasureTest, TimesWhatIsTimed) {
  int calls = 0;
  const Contender contender = timed("in bunches", [&] { ++calls; });
  EXPECT_EQ(contender.turn(100).size(), 25U);  // four each
  EXPECT_EQ(timed_each("each", [&] { ++calls; }).turn(5).size(), 5U);
  EXPECT_EQ(calls, 105);
}

TEST(RowTest, ARatioAboveOneSaysThatOursIsTheBetter) {
  EXPECT_DOUBLE_EQ((Row{.ours = 1, .peer = 2}.ratio()), 2);
  EXPECT_DOUBLE_EQ((Row{.ours = 1, .peer = 2, .better = Better::kMore}.ratio()),
                   0.5);
  EXPECT_TRUE(std::isnan(Row{.ours = 1}.ratio()));
}

TEST(ReportTest, AddsAJsonLineForEachRow) {
  const files::TemporaryFolder folder;
  const std::string path = folder.at("results.jsonl");
  Arguments arguments;
  arguments.json = true;
  arguments.results = path;
  testing::internal::CaptureStdout();
  Report report("section", arguments);
  report.table("title", {{.name = "a",
                          .unit = "ms",
                          .ours = 2,
                          .peer = 3,
                          .peer_name = "p",
                          .figures = {{"faults", 0}}},
                         {.name = "b", .ours = 1}});
  const std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_EQ(folder.get("results.jsonl"), printed);
  const auto row = nlohmann::json::parse(printed.substr(0, printed.find('\n')));
  EXPECT_EQ(row["section"], "section");
  EXPECT_EQ(row["ratio"], 1.5);
  EXPECT_EQ(row["faults"], 0);
  EXPECT_TRUE(row.contains("isa"));
  EXPECT_THAT(printed, HasSubstr(R"("name":"b")"));
  EXPECT_THAT(printed, HasSubstr(R"("peer":null)"));
}

Worker shell(const std::string& script) {
  return Worker({"sh", "-c", script}, {{"WHO", "it"}});
}

TEST(WorkerTest, AnswersEachCommand) {
  Worker worker = shell("echo I am $WHO; read a b; echo $b 2e-3");
  EXPECT_EQ(worker.greeting(), "I am it");
  EXPECT_THAT(worker.ask_numbers("run 7"), ElementsAre(7, 2e-3));
}

TEST(WorkerTest, RefusesWithItsOwnWords) {
  try {
    shell("echo error it runs on the reference BLAS");
    FAIL() << "nothing thrown";
  } catch (const WorkerError& error) {
    EXPECT_STREQ(error.what(), "it runs on the reference BLAS");
  }
}

TEST(WorkerTest, ThatEndsIsAnError) {
  EXPECT_THROW(shell("exit 1"), WorkerError);
  EXPECT_THROW(Worker({"/no/such/program"}, {}), WorkerError);
  Worker worker = shell("echo hello; exit 1");
  EXPECT_THROW(worker.ask("run 1"), WorkerError);
}

TEST(StreamsTest, MovesWholeGroupsAndSumsWhatItReads) {
  Streams streams(2, 1, 100'000);
  EXPECT_LE(streams.bytes(), 100'000);
  EXPECT_GT(streams.bytes(), 90'000);
  EXPECT_EQ(streams.contenders(threads::serial_executor()).size(), 2U);
  streams.run(threads::serial_executor(), 1, false);
  EXPECT_EQ(streams.written().front(), 1.0F);
  EXPECT_EQ(streams.written().back(), 1.0F);
}

TEST(FmaPeakTest, IsThatOfAProcessorAndNotOfACompiler) {
  // A compiler that leaves the work out, or does one chain for all eight, shows
  // several times what a core can do: 16 lanes, 2 pipes, 2 flops, 8 GHz.
  EXPECT_LT(fma_peak(threads::serial_executor(), f32), 16 * 2 * 2 * 8e9);
  EXPECT_GT(fma_peak(threads::serial_executor(), f32), 1e7);
}

}  // namespace
}  // namespace neap::bench
