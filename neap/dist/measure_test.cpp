// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Ranks that are threads, with a clock of their own: what is measured is what
// the messages took.
#include "neap/dist/measure.hpp"

#include <gtest/gtest.h>

#include <array>

#include "neap/dist/errors.hpp"
#include "neap/dist/fake_engine_for_test.hpp"

namespace neap::dist {
namespace {

std::array<Network, 2> measured(std::int64_t latency, const FakeFault& fault) {
  FakeWorld world(2, {.most_latency = latency, .fault = fault});
  std::array<Network, 2> out;
  world.run([&](Engine& engine) {
    out[static_cast<std::size_t>(engine.rank())] =
        measure_network(engine, {.repeats = 41, .large = 64 * kKiB});
  });
  return out;
}

// A message takes up to so long, and any number of them at a time.
TEST(MeasureTest, LatencyIsThatOfMessages) {
  for (const std::int64_t most : {1'000'000, 50'000'000}) {
    for (const Network& found : measured(most, {})) {
      const double one = found.latency + 2 * found.overhead;
      EXPECT_GT(one, 0.3e-9 * static_cast<double>(most));
      EXPECT_LE(one, 1.01e-9 * static_cast<double>(most));
      EXPECT_GE(found.latency, 0.0);
      EXPECT_GE(found.overhead, 0.0);
      EXPECT_GT(found.rate, 0.0);
    }
  }
}

TEST(MeasureTest, ALostMessageIsALostRank) {
  for (const std::int64_t operation : {1, 200, 300, 500}) {
    EXPECT_THROW(measured(1000, {.kind = FakeFault::Kind::kLost,
                                 .rank = 1,
                                 .operation = operation}),
                 RankLost)
        << operation;
  }
}

TEST(MeasureTest, OtherNumbersOfRanksAreRefused) {
  FakeWorld world(4, {});
  EXPECT_THROW(world.run([](Engine& engine) {
    static_cast<void>(measure_network(engine));
  }),
               ValueError);
}

}  // namespace
}  // namespace neap::dist
