// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Storages that give their bytes back for a while.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "neap/base/error.hpp"
#include "neap/memory/budget.hpp"
#include "neap/memory/out_of_memory.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/host_access.hpp"

namespace neap::tensor {
namespace {

// Has a copy, in no domain's memory.
class Copy final : public Keeper {
 public:
  Copy(const Storage& storage, int& count) : count_(count) {
    bytes_.assign(storage.data(), storage.data() + storage.size());
    ++count_;
  }
  ~Copy() override { --count_; }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  void put_into(std::span<std::byte> into) override {
    if (is_broken) {
      throw ValueError("broken");
    }
    std::ranges::copy(bytes_, into.begin());
  }
  bool is_broken = false;

 private:
  std::vector<std::byte> bytes_;
  int& count_;
};

class StorageAwayTest : public ::testing::Test {
 protected:
  static Storage& storage_of(const Tensor& tensor) {
    return *tensor.array()->storage();
  }
  Copy& send_away(const Tensor& tensor) {
    auto copy = memory::make_owned<Copy>(memory::Category::kOther,
                                         storage_of(tensor), keepers);
    Copy& out = *copy;
    storage_of(tensor).send_away(std::move(copy));
    return out;
  }
  Bytes live() const { return domain->stats().live; }

  int keepers = 0;
  memory::Domain::Handle domain = memory::Domain::create();
  memory::UseDomain use{*domain};
};

TEST_F(StorageAwayTest, GivesItsBytesBackAndComesHomeWhenLookedAt) {
  const Tensor x = from_values({1.0, 2.0, 3.0}, {3});
  const Tensor big = full({1024}, 4.0);
  const Bytes before = live();
  send_away(big);
  EXPECT_LT(live(), before - 3 * kKiB);
  EXPECT_TRUE(storage_of(big).is_away());
  EXPECT_EQ(storage_of(big).size(), 4 * kKiB);
  EXPECT_EQ(big.at({1023}), 4.0);
  EXPECT_FALSE(storage_of(big).is_away());
  EXPECT_EQ(live(), before);
  EXPECT_EQ(keepers, 0);
  send_away(x);
  EXPECT_EQ(x.to_vector(), (memory::Vector<double>{1.0, 2.0, 3.0}));
}

TEST_F(StorageAwayTest, EndsWhereItIs) {
  {
    const Tensor x = full({1024}, 4.0);
    send_away(x);
    EXPECT_EQ(keepers, 1);
  }
  EXPECT_EQ(keepers, 0);
  EXPECT_EQ(live(), 0);
}

TEST_F(StorageAwayTest, AFailureLeavesItAway) {
  const Tensor x = full({1 << 16}, 4.0);
  Copy& copy = send_away(x);
  const Bytes before = live();
  copy.is_broken = true;
  EXPECT_THROW(x.at({0}), ValueError);
  copy.is_broken = false;
  {
    domain->trim();
    const memory::Stats stats = domain->stats();
    const Budget budget(stats.held + stats.external);
    EXPECT_THROW(x.at({0}), OutOfMemory);
  }
  EXPECT_TRUE(storage_of(x).is_away());
  EXPECT_EQ(live(), before);
  EXPECT_EQ(x.at({0}), 4.0);
}

TEST_F(StorageAwayTest, ALookLeavesItAway) {
  const Tensor x = full({1024}, 4.0);
  send_away(x);
  const Bytes before = live();
  {
    const HostLook look(x, "test", CallSite::here());
    EXPECT_EQ(look.strided().as<float>()[1023], 4.0F);
    EXPECT_GT(live(), before);
  }
  EXPECT_EQ(live(), before);
  EXPECT_TRUE(storage_of(x).is_away());
  const Tensor home = full({2}, 5.0);
  const HostLook look(home, "test", CallSite::here());
  EXPECT_EQ(look.strided().data, home.array()->strided().data);
}

TEST_F(StorageAwayTest, ZerosTakeNoMemoryUntilTheyAreFetched) {
  memory::Tag tag;
  tag.category = memory::Category::kOptimizerState;
  const Tensor x(Array::allocate_away({f32, {1024}}, tag, *domain));
  EXPECT_LT(live(), 2 * kKiB);
  EXPECT_TRUE(storage_of(x).keeper()->are_zeros());
  EXPECT_EQ(x.at({1023}), 0.0);
  EXPECT_GT(live(), 4 * kKiB);
}

TEST_F(StorageAwayTest, WhatIsOverwrittenIsNotFetched) {
  Tensor x = full({1024}, 4.0);
  send_away(x).is_broken = true;
  const Bytes before = live();
  {
    const Overwrite room(storage_of(x));
    EXPECT_GT(live(), before);
  }
  EXPECT_EQ(live(), before);
  EXPECT_TRUE(storage_of(x).is_away());
  Overwrite room(storage_of(x));
  Overwrite taken(std::move(room));
  taken.begin();
  EXPECT_FALSE(storage_of(x).is_away());
  EXPECT_EQ(keepers, 0);
  const std::span<float> elements = x.mutable_values<float>();
  std::ranges::fill(elements, 5.0F);
  EXPECT_EQ(x.at({1023}), 5.0);
}

TEST_F(StorageAwayTest, AnOverwriteOfWhatIsHomeDoesNothing) {
  const Tensor x = full({1024}, 4.0);
  Overwrite room(storage_of(x));
  room.begin();
  EXPECT_EQ(x.at({1023}), 4.0);
}

TEST_F(StorageAwayTest, SeveralThreadsMayFindItAway) {
  const Tensor x = full({1 << 16}, 4.0);
  for (int i = 0; i < 20; ++i) {
    send_away(x);
    std::array<double, 4> seen{};
    std::vector<std::thread> threads;
    for (double& value : seen) {
      threads.emplace_back([&] { value = x.at({65535}); });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    EXPECT_EQ(seen, (std::array<double, 4>{4.0, 4.0, 4.0, 4.0}));
  }
}

}  // namespace
}  // namespace neap::tensor
