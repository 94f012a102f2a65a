// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A plan file of a step that keeps states and weights in a file between runs:
// the second start takes that plan, and gives the same bits.
#include <gmock/gmock.h>
#include <xxhash.h>

#include <cstring>

#include "neap/compile/away_for_test.hpp"
#include "neap/compile/plan_book.hpp"
#include "neap/program/print.hpp"
#include "neap/train/state_hash.hpp"

namespace neap::compiler {
namespace {

using ::testing::HasSubstr;

struct Trained {
  std::uint64_t hash = 0;
  std::vector<double> losses;
  Fitting fitting{};
  Bytes arena = 0;
  std::string listing;
};

class AwayPlanFileTest : public AwayRoomsTest {
 protected:
  void SetUp() override {
    AwayRoomsTest::SetUp();
    const AwayNet net;
    budget_ = within(net, GetParam()).budget;
  }

  CompileOptions options() const {
    return {.budget = budget_,
            .spill = spill(),
            .plan = {.file = folder.at("plan")}};
  }
  Trained train(const CompileOptions& options) const {
    AwayNet net;
    net.domain->trim();
    auto step = net.compiled(options);
    Trained out;
    for (int i = 0; i < 3; ++i) {
      out.losses.push_back(net.run(step));
      EXPECT_LE(net.in_use(), options.budget);
    }
    out.losses.push_back(net.run(step, 8));  // another shape
    const AwayNet::Here here(net);
    out.hash = train::state_hash(AwayModel(net), *net.adam, net.generator);
    static_cast<void>(step(net.batch()));
    out.fitting = step.program().fitting;
    out.arena = step.arena_bytes();
    const auto text = print(step.program());
    out.listing = text.substr(text.find('\n'));
    return out;
  }
  std::string refusal(const CompileOptions& given) const {
    try {
      train(given);
      return "";
    } catch (const PlanFileError& error) {
      return error.what();
    }
  }
  std::string content() const { return folder.get("plan"); }
  // The file with some bytes of its plans changed, and signed again.
  void put(const PlanTable& table, std::span<const PlanEntry> entries) {
    const auto bytes = plan_file_bytes(table.facts, entries);
    folder.put("plan",
               {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

  Bytes budget_ = 0;
};

TEST_P(AwayPlanFileTest, TheSecondStartKeepsTheSameAway) {
  const Trained whole = train({});
  CompileOptions free = options();
  free.plan = {};
  const Trained without = train(free);
  const Trained first = train(options());
  const std::string file = content();
  ASSERT_FALSE(file.empty());
  EXPECT_EQ(first.hash, whole.hash);
  EXPECT_EQ(first.losses, whole.losses);
  EXPECT_GT(first.fitting.away, 0U);
  EXPECT_EQ(first.fitting.weights, static_cast<std::uint32_t>(weights()));
  EXPECT_EQ(first.fitting.away_bytes, without.fitting.away_bytes);
  for (int i = 0; i < 2; ++i) {
    const Trained second = train(options());
    EXPECT_EQ(second.hash, whole.hash);
    EXPECT_EQ(second.losses, whole.losses);
    EXPECT_EQ(second.arena, first.arena);
    EXPECT_EQ(second.listing, first.listing);
    EXPECT_EQ(second.fitting.extra, first.fitting.extra);
    EXPECT_EQ(second.fitting.away_bytes, first.fitting.away_bytes);
    EXPECT_EQ(content(), file);
  }
}

// The writes of states count, too, and the file has the bound as it was given.
TEST_P(AwayPlanFileTest, ABoundOfWhatIsWrittenIsKept) {
  CompileOptions given = options();
  given.spill.most_written = 16 * kMiB;
  const Trained first = train(given);
  EXPECT_GT(first.fitting.away, 0U);
  EXPECT_LE(first.fitting.written, given.spill.most_written);
  const Trained second = train(given);
  EXPECT_EQ(second.listing, first.listing);
  EXPECT_EQ(second.hash, first.hash);
  given.spill.most_written = 8 * kMiB;
  EXPECT_THAT(refusal(given), HasSubstr("most written was"));
}

TEST_P(AwayPlanFileTest, AnyChangedByteIsRefused) {
  train(options());
  const std::string file = content();
  for (std::size_t i = 0; i < file.size(); i += 1 + file.size() / 40) {
    std::string changed = file;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    folder.put("plan", changed);
    EXPECT_NE(refusal(options()), "") << i;
    EXPECT_EQ(content(), changed);
  }
  for (const std::size_t size : {file.size() - 1, file.size() / 2}) {
    folder.put("plan", file.substr(0, size));
    EXPECT_NE(refusal(options()), "") << size;
  }
}

// Whoever signs a file has to name a choice that there is, and its own prices.
TEST_P(AwayPlanFileTest, AnotherChoiceThatIsSignedIsRefused) {
  train(options());
  const std::string file = content();
  const PlanTable table = *parse_plan_file(std::as_bytes(std::span(file)));
  int away = 0;
  for (std::size_t e = 0; e < table.entries.size(); ++e) {
    const PlanRecord good = *parse_plan_record(table.entries[e].record);
    away += good.away.percent != 0 ? 1 : 0;
    for (const Away& other :
         {Away{}, Away{.percent = 50, .is_early = true},
          Away{.percent = 77, .is_early = true}, Away{.percent = 50},
          Away{.percent = 100,
          .is_early = !good.away.is_early,
          .has_weights = good.away.has_weights}}) {
      PlanRecord record = good;
      record.away = other;
      const auto bytes = plan_record_bytes(record);
      auto entries = table.entries;
      entries[e].record = bytes;
      put(table, entries);
      if (other != good.away) {
        EXPECT_NE(refusal(options()), "") << other.percent;
      }
    }
  }
  EXPECT_GT(away, 0);
}

TEST_P(AwayPlanFileTest, OtherOptionsAreSaid) {
  train(options());
  CompileOptions other = options();
  other.spill.weights = false;
  EXPECT_THAT(refusal(other), HasSubstr("weights in a file was on, is off"));
}

TEST_P(AwayPlanFileTest, AFileOfAnotherVersionIsRefused) {
  train(options());
  std::string file = content();
  file[8] = 2;  // the version before
  const std::size_t end = file.size() - sizeof(std::uint64_t);
  const std::uint64_t sum = XXH3_64bits(file.data(), end);
  std::memcpy(file.data() + end, &sum, sizeof(sum));
  folder.put("plan", file);
  EXPECT_THAT(refusal(options()), HasSubstr("another version"));
}

INSTANTIATE_TEST_SUITE_P(Rooms, AwayPlanFileTest,
                         ::testing::Values(kTight, kTighter), name_of_room);

}  // namespace
}  // namespace neap::compiler
