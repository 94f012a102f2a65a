// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Budget blocks that overlapped without nesting lifted one another, and left
// the bound of a closed one behind.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "neap/base/external.hpp"
#include "neap/memory/budget.hpp"

namespace neap {
namespace {

using memory::Domain;

const memory::Tag kTag{.category = memory::Category::kActivations};

Bytes above(const Domain& domain, Bytes bytes) {
  return domain.stats().held + base::external_bytes() + bytes;
}

TEST(OverlappingBudgetsTest, AreClosedInAnyOrderAndTheLeastHolds) {
  const auto domain = Domain::create();
  std::optional<Budget> wide(std::in_place, 64 * kMiB, *domain);
  std::optional<Budget> narrow(std::in_place, 8 * kMiB, *domain);
  EXPECT_EQ(domain->budget(), 8 * kMiB);
  wide.reset();
  EXPECT_EQ(domain->budget(), 8 * kMiB);
  std::optional<Budget> middle(std::in_place, 32 * kMiB, *domain);
  EXPECT_EQ(domain->budget(), 8 * kMiB);
  narrow.reset();
  EXPECT_EQ(domain->budget(), 32 * kMiB);
  middle.reset();
  EXPECT_EQ(domain->budget(), kUnlimited);
}

TEST(OverlappingBudgetsTest, GrantNothingBeyondTheLeastOfTwoThreads) {
  const auto domain = Domain::create();
  std::optional<Budget> wide(std::in_place, above(*domain, 512 * kMiB),
                             *domain);
  const Budget narrow(above(*domain, 8 * kMiB), *domain);
  std::thread([&] { wide.reset(); }).join();
  EXPECT_THROW(domain->allocate(64 * kMiB, kTag), OutOfMemory);
}

TEST(OverlappingBudgetsTest, LeaveTheDomainsOwnBoundAsItIs) {
  const auto domain = Domain::create({.budget = kGiB});
  {
    const Budget budget(64 * kMiB, *domain);
    EXPECT_EQ(domain->stats().budget, 64 * kMiB);
    domain->set_budget(32 * kMiB);
    EXPECT_EQ(domain->budget(), 32 * kMiB);
    domain->set_budget(512 * kMiB);
    EXPECT_EQ(domain->budget(), 64 * kMiB);
  }
  EXPECT_EQ(domain->budget(), 512 * kMiB);
}

TEST(OverlappingBudgetsTest, OfManyThreadsHoldWhileTheyAreOpen) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 1000;
  const auto domain = Domain::create();
  const Bytes outer = above(*domain, 16 * kMiB);
  std::atomic<int> wrong{0};
  {
    const Budget all(outer, *domain);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        std::array<std::optional<Budget>, 3> open;
        for (int i = 0; i < kRounds; ++i) {
          const Bytes bytes = outer - (t * kRounds + i) * kKiB;
          open[static_cast<std::size_t>(i) % open.size()].reset();
          open[static_cast<std::size_t>(i) % open.size()].emplace(bytes,
                                                                  *domain);
          wrong += domain->budget() > bytes ? 1 : 0;
          try {
            domain->release(domain->allocate(32 * kMiB, kTag));
            ++wrong;
          } catch (const OutOfMemory&) {
          }
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    EXPECT_EQ(domain->budget(), outer);
  }
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(domain->budget(), kUnlimited);
}

TEST(OverlappingBudgetsTest, KeepTheirDomainUntilTheLastIsClosed) {
  auto domain = Domain::create();
  Domain& door = *domain;
  const Budget budget(64 * kMiB, door);
  domain.reset();
  EXPECT_EQ(door.budget(), 64 * kMiB);
}

}  // namespace
}  // namespace neap
