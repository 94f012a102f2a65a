// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Sums over ranks that are threads: the same bits as the tree that one process
// makes, whatever the order in which messages arrive.
#include "neap/dist/exchange.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "neap/dist/errors.hpp"
#include "neap/dist/fake_engine_for_test.hpp"

namespace neap::dist {
namespace {

using testing::HasSubstr;

// Numbers whose sums depend on their order.
template <class T>
std::vector<T> array_of(int rank, std::size_t count) {
  std::minstd_rand random(static_cast<unsigned>(rank) + 1);
  std::uniform_real_distribution<double> number(-1.0, 1.0);
  std::vector<T> out(count);
  for (T& x : out) {
    x = static_cast<T>(number(random) * std::exp2(number(random) * 20));
  }
  return out;
}

// ((0 + 1) + (2 + 3)) + ...
template <class T>
std::vector<T> tree(int first, int ranks, std::size_t count) {
  if (ranks == 1) {
    return array_of<T>(first, count);
  }
  std::vector<T> sum = tree<T>(first, ranks / 2, count);
  const std::vector<T> right = tree<T>(first + ranks / 2, ranks / 2, count);
  for (std::size_t i = 0; i < count; ++i) {
    sum[i] = sum[i] + right[i];
  }
  return sum;
}

template <class T>
std::vector<T> summed(Engine& engine, std::size_t count, Exchanges& exchanges) {
  std::vector<T> array = array_of<T>(engine.rank(), count);
  std::vector<std::byte> staging(static_cast<std::size_t>(
      staging_bytes(static_cast<Bytes>(count * sizeof(T)))));
  sum_over_ranks(engine, exchanges, array, staging, "weights");
  return array;
}

template <class T>
void expect_tree(int ranks, std::size_t count, std::uint64_t seed) {
  const std::vector<T> expected = tree<T>(0, ranks, count);
  FakeWorld world(ranks, {.seed = seed});
  std::vector<int> same(static_cast<std::size_t>(ranks), 0);
  world.run([&](Engine& engine) {
    Exchanges exchanges;
    same[static_cast<std::size_t>(engine.rank())] =
        summed<T>(engine, count, exchanges) == expected ? 1 : 0;
  });
  EXPECT_THAT(same, testing::Each(1)) << ranks << " ranks, " << count;
}

TEST(ExchangeTest, SumsAreThoseOfTheTree) {
  for (const int ranks : {1, 2, 4, 8, 16}) {
    for (const std::size_t count : {1U, 2U, 15U, 16U, 17U, 1000U, 100'003U}) {
      expect_tree<float>(ranks, count, 1);
      expect_tree<double>(ranks, count, 2);
    }
  }
}

// More chunks than are on their way at a time.
TEST(ExchangeTest, LargeArraysMoveInChunks) {
  expect_tree<float>(4, 3'000'001, 3);
}

// The order of the ranks shows: a chain has other bits.
TEST(ExchangeTest, AChainWouldHaveOtherBits) {
  std::vector<float> chain = array_of<float>(0, 1000);
  for (int rank = 1; rank < 8; ++rank) {
    const std::vector<float> next = array_of<float>(rank, 1000);
    for (std::size_t i = 0; i < chain.size(); ++i) {
      chain[i] += next[i];
    }
  }
  EXPECT_NE(chain, tree<float>(0, 8, 1000));
}

// Ranks stay in step over many exchanges, each with its own arrival times. (The
// soak has as many as one likes.)
TEST(ExchangeTest, ManyOrdersOfArrival) {
  const std::vector<float> expected = tree<float>(0, 4, 77);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    FakeWorld world(4, {.seed = seed});
    std::vector<int> wrong(4, 0);
    world.run([&](Engine& engine) {
      Exchanges exchanges;
      for (int i = 0; i < 50; ++i) {
        wrong[static_cast<std::size_t>(engine.rank())] +=
            summed<float>(engine, 77, exchanges) == expected ? 0 : 1;
      }
    });
    ASSERT_THAT(wrong, testing::Each(0)) << seed;
  }
}

// 2 (R - 1) / R of the array, no more.
TEST(ExchangeTest, ARankSendsTheLeastThereIs) {
  constexpr std::size_t kCount = 1 << 16;
  for (const int ranks : {2, 4, 8}) {
    FakeWorld world(ranks, {});
    world.run([&](Engine& engine) {
      Exchanges exchanges;
      summed<float>(engine, kCount, exchanges);
      const Bytes least =
          2 * static_cast<Bytes>(kCount * sizeof(float)) * (ranks - 1) / ranks;
      EXPECT_EQ(exchanges.sent, least);
      EXPECT_EQ(exchanges.received, least);
    });
  }
}

TEST(ExchangeTest, EachGetsWhatAllHave) {
  for (const int ranks : {1, 2, 8}) {
    FakeWorld world(ranks, {});
    world.run([&](Engine& engine) {
      Exchanges exchanges;
      const int mine = 10 * engine.rank();
      std::vector<int> all(static_cast<std::size_t>(ranks), -1);
      gather_from_ranks(engine, exchanges, std::as_bytes(std::span(&mine, 1)),
                        std::as_writable_bytes(std::span(all)), "facts");
      for (int rank = 0; rank < ranks; ++rank) {
        EXPECT_EQ(all[static_cast<std::size_t>(rank)], 10 * rank);
      }
    });
  }
}

// --- failures ----------------------------------------------------------------

// How the ranks of an exchange end, where one fails at its n-th operation.
struct Endings {
  std::vector<std::string> lost;  // messages of RankLost
  int whole = 0;
  int refused = 0;  // by the engine
};

Endings endings_with(const FakeFault& fault) {
  FakeWorld world(4, {.fault = fault});
  Endings out;
  std::mutex mutex;
  world.run([&](Engine& engine) {
    Exchanges exchanges{.deadline = 3'000'000'000};
    try {
      for (int i = 0; i < 4; ++i) {
        summed<float>(engine, 300'000, exchanges);
      }
      const std::lock_guard lock(mutex);
      ++out.whole;
    } catch (const RankLost& error) {
      const std::lock_guard lock(mutex);
      out.lost.emplace_back(error.what());
    } catch (const DistError&) {
      const std::lock_guard lock(mutex);
      ++out.refused;
    }
  });
  return out;
}

TEST(ExchangeTest, TheOthersSayWhoIsLost) {
  for (const auto kind : {FakeFault::Kind::kDies, FakeFault::Kind::kLost}) {
    for (std::int64_t n = 1; n <= 30; n += 3) {
      const Endings some =
          endings_with({.kind = kind, .rank = 2, .operation = n});
      const bool is_dead = kind == FakeFault::Kind::kDies;
      EXPECT_EQ(some.lost.size(), is_dead ? 3U : 4U) << n;
      EXPECT_EQ(some.whole, 0) << n;
      for (const std::string& text : some.lost) {
        EXPECT_THAT(text, HasSubstr("has not answered rank"));
        EXPECT_THAT(text, HasSubstr("'weights'"));
      }
    }
  }
}

TEST(ExchangeTest, ALateRankIsWaitedFor) {
  const Endings some = endings_with({.kind = FakeFault::Kind::kLate,
                                     .rank = 1,
                                     .operation = 9,
                                     .delay = 2'500'000'000});
  EXPECT_EQ(some.whole, 4);
}

TEST(ExchangeTest, WhatAnEngineRefusesIsAnError) {
  const Endings some = endings_with(
      {.kind = FakeFault::Kind::kFails, .rank = 3, .operation = 5});
  EXPECT_EQ(some.refused, 1);
  EXPECT_EQ(some.lost.size(), 3U);
}

}  // namespace
}  // namespace neap::dist
