// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "neap/files/fault_door.hpp"
#include "neap/files/temporary_folder.hpp"

namespace neap::train {
namespace {

using files::system_door;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

StepReport report(std::int64_t step, double loss = 0.5) {
  return {.step = step,
          .steps = 100,
          .epoch = 2,
          .epochs = 3,
          .samples = 8,
          .loss = loss,
          .accuracy = 0.25,
          .learning_rate = 1e-3,
          .gradient_norm = 0.0,
          .seconds = 0.5};
}

class MetricsTest : public testing::Test {
 protected:
  MetricsLog open(const MetricsOptions& options) {
    return MetricsLog::open(system_door(), options).value();
  }
  std::string path() const { return folder_.at("run.jsonl"); }
  std::string text() const { return folder_.get("run.jsonl"); }
  // The names in the folder of events.
  std::vector<std::string> events() const {
    return system_door().list(folder_.at("runs/a")).value();
  }
  files::TemporaryFolder folder_;
};

TEST_F(MetricsTest, WritesALineAStep) {
  {
    MetricsLog log = open({.jsonl = path()});
    StepReport clipped = report(2, 1.0 / 3.0);
    clipped.gradient_norm = 2.5;
    EXPECT_TRUE(log.step(report(1)).has_value());
    EXPECT_TRUE(log.step(clipped).has_value());
    EXPECT_TRUE(log.step(report(3, std::numeric_limits<double>::infinity()))
                    .has_value());
  }
  EXPECT_THAT(
      text(),
      MatchesRegex(
          "\\{\"step\":1,\"epoch\":2,\"loss\":0.5,\"accuracy\":0.25,"
          "\"learning_rate\":0.001,\"gradient_norm\":null,\"seconds\":0.5,"
          "\"samples_per_second\":16,\"live_bytes\":[0-9]+,"
          "\"held_bytes\":[0-9]+\\}\n"
          "\\{\"step\":2,.*\"loss\":0.3333333333333333,.*\"gradient_norm\":2.5,"
          ".*\\}\n\\{\"step\":3,\"epoch\":2,\"loss\":null,.*\\}\n"));
}

TEST_F(MetricsTest, WritesEvaluationsAndWhateverElseThereIs) {
  MetricsLog log = open({.jsonl = path(), .tensorboard = folder_.at("runs/a")});
  EXPECT_TRUE(
      log.evaluation(7, "test", {.loss = 0.5, .accuracy = 0.75}).has_value());
  EXPECT_TRUE(log.scalar(8, "a \"b\"\n", 2.0).has_value());
  EXPECT_TRUE(log.close().has_value());
  EXPECT_EQ(text(),
            "{\"step\":7,\"test_loss\":0.5,\"test_accuracy\":0.75}\n"
            "{\"step\":8,\"a \\\"b\\\"\\u000a\":2}\n");
  const std::string event = folder_.get("runs/a/" + events().at(0));
  EXPECT_THAT(event, AllOf(HasSubstr("test/loss"), HasSubstr("test/accuracy"),
                           HasSubstr("a \"b\"\n")));
}

TEST_F(MetricsTest, WritesAnEventFileForEveryLog) {
  const std::string folder = folder_.at("runs/a");
  for (int i = 0; i < 2; ++i) {
    MetricsLog log = open({.tensorboard = folder});
    EXPECT_TRUE(log.step(report(1)).has_value());
  }
  ASSERT_EQ(events().size(), 2U);
  for (const std::string& name : events()) {
    EXPECT_THAT(name, StartsWith("events.out.tfevents."));
    const std::string event = folder_.get("runs/a/" + name);
    EXPECT_THAT(event,
                AllOf(HasSubstr("brain.Event:2"), HasSubstr("train/loss"),
                      HasSubstr("memory/held_bytes")));
    EXPECT_THAT(event, testing::Not(HasSubstr("gradient_norm")));
  }
}

TEST_F(MetricsTest, GoesOnInAFileThatEndsWithinALine) {
  folder_.put("run.jsonl", "{\"step\":1}\n{\"st");
  EXPECT_TRUE(open({.jsonl = path()}).step(report(2)).has_value());
  EXPECT_THAT(text(), StartsWith("{\"step\":1}\n{\"st\n{\"step\":2,"));
  EXPECT_TRUE(open({.jsonl = path()}).step(report(3)).has_value());
  const std::string lines = text();
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 4);
}

TEST_F(MetricsTest, LeavesStepsOutWhereAsked) {
  MetricsLog log = open({.jsonl = path(), .every = 10});
  for (std::int64_t step = 1; step <= 25; ++step) {
    EXPECT_TRUE(log.step(report(step)).has_value());
  }
  EXPECT_TRUE(log.flush().has_value());
  const std::string lines = text();
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2);
  EXPECT_THAT(lines,
              AllOf(HasSubstr("{\"step\":10,"), HasSubstr("{\"step\":20,")));
  EXPECT_THROW(open({.every = 0}), ValueError);
}

TEST_F(MetricsTest, WritesInTimeAndNotAtEveryStep) {
  files::FaultDoor door(system_door());
  auto log = MetricsLog::open(door, {.jsonl = path(), .flush_seconds = 1e9});
  const std::int64_t before = door.operations();
  for (std::int64_t step = 1; step <= 1000; ++step) {
    ASSERT_TRUE(log->step(report(step)).has_value());
  }
  EXPECT_GT(door.operations(), before);
  EXPECT_LT(door.operations(), before + 20);
  log = MetricsLog::open(door, {.jsonl = path(), .flush_seconds = 0.0});
  const std::int64_t at_once = door.operations();
  ASSERT_TRUE(log->step(report(1)).has_value());
  EXPECT_EQ(door.operations(), at_once + 1);
}

TEST_F(MetricsTest, AsksForNoMemoryInASteadyStep) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  {
    MetricsLog log =
        open({.jsonl = path(), .tensorboard = folder_.at("runs/a")});
    const auto before = domain->stats();
    for (std::int64_t step = 1; step <= 1000; ++step) {
      ASSERT_TRUE(log.step(report(step)).has_value());
    }
    EXPECT_EQ(domain->stats().allocations, before.allocations);
  }
  EXPECT_EQ(domain->stats().live, 0);
}

TEST_F(MetricsTest, TellsAFullDiskOnceAndLetsTheOtherFileGoOn) {
  files::FaultDoor door(system_door(), {.space = 100});
  auto log = MetricsLog::open(door, {.jsonl = path(), .flush_seconds = 0.0});
  ASSERT_TRUE(log.has_value());
  const auto full = log->step(report(1));
  ASSERT_FALSE(full.has_value());
  EXPECT_EQ(full.error().kind, FailureKind::kIo);
  EXPECT_THAT(full.error().message, HasSubstr("no space left"));
  EXPECT_TRUE(log->step(report(2)).has_value());
  ASSERT_TRUE(log->failure().has_value());
  EXPECT_EQ(log->failure()->message, full.error().message);
  EXPECT_TRUE(log->close().has_value());
  EXPECT_EQ(text().size(), 100U);
}

TEST_F(MetricsTest, LetsOneFileGoOnWhereTheOtherFails) {
  // Operation 7 is the first write of a line, 8 that of an event.
  for (const std::int64_t fail_at : {7, 8}) {
    const files::TemporaryFolder folder;
    files::FaultDoor door(system_door(), {.fail_at = fail_at});
    auto log = MetricsLog::open(door, {.jsonl = folder.at("lines"),
                                       .tensorboard = folder.path(),
                                       .flush_seconds = 0.0});
    ASSERT_TRUE(log.has_value()) << log.error().message;
    EXPECT_FALSE(log->step(report(1)).has_value());
    EXPECT_TRUE(log->step(report(2)).has_value());
    EXPECT_TRUE(log->close().has_value());
    const std::string event =
        folder.get(system_door().list(folder.path()).value().at(0));
    const std::string lines = folder.get("lines");
    EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'),
              fail_at == 7 ? 0 : 2);
    EXPECT_EQ(event.size() > 100, fail_at == 7);
  }
}

TEST_F(MetricsTest, RefusesWhatCannotBeOpened) {
  EXPECT_FALSE(MetricsLog::open(system_door(), {.jsonl = folder_.path()}));
  folder_.put("file", "");
  const auto log =
      MetricsLog::open(system_door(), {.tensorboard = folder_.at("file")});
  ASSERT_FALSE(log.has_value());
  EXPECT_THAT(log.error().message, HasSubstr("file"));
}

}  // namespace
}  // namespace neap::train
