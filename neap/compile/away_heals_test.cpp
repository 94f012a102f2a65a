// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// States that are in a file, after its disk has failed: a step whose disk is
// well again goes on, and what is lost is whole once it is written.
#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "neap/base/error.hpp"
#include "neap/compile/away_for_test.hpp"
#include "neap/files/fault_door.hpp"
#include "neap/files/io_error.hpp"

namespace neap::compiler {
namespace {

using files::FaultDoor;
using files::system_door;

enum class End { kFine, kBefore, kTorn };

template <class Step>
End end_of_run(AwayNet& net, Step& step) {
  try {
    net.run(step);
  } catch (const TornStep& torn) {
    EXPECT_NE(std::string(torn.what()).find("without a name, f32 [192, 192]"),
              std::string::npos)
        << torn.what();
    return End::kTorn;
  } catch (const IoError&) {
    return End::kBefore;
  }
  return End::kFine;
}

class AwayHealsTest : public AwayTest {
 protected:
  CompileOptions within(const AwayNet& net, FaultDoor& door) const {
    CompileOptions options = AwayTest::within(net, kTight);
    options.spill.door = &door;
    return options;
  }

  // Operations of the file at the end of a first run, and of a second.
  std::pair<std::int64_t, std::int64_t> operations() const {
    FaultDoor quiet(system_door());
    AwayNet net;
    auto step = net.compiled(within(net, quiet));
    net.run(step);
    const std::int64_t first = quiet.operations();
    net.run(step);
    return {first, quiet.operations()};
  }

  // Asks for what fails, before operation `end`.
  static void heal(FaultDoor& door, std::int64_t end) {
    while (door.operations() < end) {
      static_cast<void>(door.exists("."));
    }
  }

  // Another net with the same weights, moments and numbers to come.
  static void become(AwayNet& other, AwayNet& net) {
    const AwayNet::Here here(other);
    other.adam->set_state(net.adam->state());
    const NoGrad no_grad;
    for (std::size_t i = 0; i < net.weights.size(); ++i) {
      copy_(other.weights[i], net.weights[i]);
    }
    other.generator.set_state(net.generator.state());
  }

  // Two steps of it are those of a plain one.
  template <class Step>
  static void expect_goes_on(AwayNet& net, Step& step) {
    AwayNet plain;
    become(plain, net);
    auto whole = plain.compiled({});
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(net.run(step), plain.run(whole));
    }
    expect_same(net, plain);
  }
};

// Many writes fail, and there is memory for none of what they were to write.
TEST_F(AwayHealsTest, AStepWhoseDiskIsWellAgainGoesOn) {
  const auto [first, second] = operations();
  int torn = 0;
  int refused = 0;
  for (std::int64_t n = first + 1; n < second; n += 1 + (second - first) / 9) {
    SCOPED_TRACE(n);
    FaultDoor door(system_door(), {.fail_at = n, .failures = 30});
    AwayNet net;
    auto step = net.compiled(within(net, door));
    net.run(step);
    bool is_torn = false;
    for (End end = End::kBefore; end != End::kFine;) {
      const Rows weights = net.values();
      end = end_of_run(net, step);
      if (is_torn && end != End::kFine) {  // it is not torn further
        ASSERT_EQ(end, End::kBefore);
        ASSERT_TRUE(net.values() == weights);
        ++refused;
      }
      is_torn = is_torn || end == End::kTorn;
    }
    torn += is_torn ? 1 : 0;
    const AwayNet::Here here(net);
    step.prepare({tensor::Spec{f32, {16, AwayNet::kWidth}}});
    EXPECT_EQ(net.away(), AwayNet::kMoments);
    expect_goes_on(net, step);
  }
  EXPECT_GT(torn, 3);
  EXPECT_GT(refused, 10);
}

// A weight and its moments are of one number of steps, in the arena, on the
// file, and when the arena has gone.
TEST_F(AwayHealsTest, WhatWasNotWrittenIsNeverOld) {
  std::array<Rows, 3> weights;
  std::array<Rows, 3> moments;
  AwayNet plain;
  auto whole = plain.compiled({});
  for (std::size_t i = 0; i < 3; ++i) {
    weights[i] = plain.values();
    moments[i] = plain.moments();
    plain.run(whole);
  }
  const auto [first, second] = operations();
  int torn = 0;
  for (std::int64_t n = first + 1; n < second; n += 1 + (second - first) / 5) {
    for (int way = 0; way < 3; ++way) {
      SCOPED_TRACE(testing::Message() << n << ' ' << way);
      FaultDoor door(system_door(), {.fail_at = n, .failures = 12});
      AwayNet net;
      auto step = std::make_optional(net.compiled(within(net, door)));
      net.run(*step);
      torn += end_of_run(net, *step) == End::kTorn ? 1 : 0;
      const AwayNet::Here here(net);
      if (way == 2) {
        step.reset();
      }
      heal(door, n + 12);
      if (way == 1) {
        step->prepare({tensor::Spec{f32, {16, AwayNet::kWidth}}});
        EXPECT_EQ(net.away(), AwayNet::kMoments);
      }
      const Rows now = net.values();
      const Rows of_now = net.moments();
      for (std::size_t w = 0; w < now.size(); ++w) {
        const std::size_t at = now[w] == weights[2][w] ? 2 : 1;
        EXPECT_TRUE(now[w] == weights[at][w]);
        EXPECT_TRUE(of_now[2 * w] == moments[at][2 * w]);
        EXPECT_TRUE(of_now[2 * w + 1] == moments[at][2 * w + 1]);
      }
    }
  }
  EXPECT_GT(torn, 6);
}

TEST_F(AwayHealsTest, WhatCannotBeReadTearsNoSecondRun) {
  int torn = 0;
  int refused = 0;
  for (std::int64_t n = 1; n <= 16; n += 3) {
    SCOPED_TRACE(n);
    FaultDoor door(system_door(), {.lie_at = n, .lies = 27});
    AwayNet net;
    auto step = net.compiled(within(net, door));
    net.run(step);  // which reads nothing: there are zeros alone
    torn += end_of_run(net, step) == End::kTorn ? 1 : 0;
    const Rows weights = net.values();
    End end = End::kBefore;
    for (; end != End::kFine; ++refused) {
      EXPECT_TRUE(net.values() == weights);
      end = end_of_run(net, step);
      ASSERT_NE(end, End::kTorn);
    }
    expect_goes_on(net, step);
  }
  EXPECT_GT(torn, 2);
  EXPECT_GT(refused, 12);
}

// The step ends while the disk is not there, and there is no memory.
class LostStatesTest : public AwayHealsTest {
 protected:
  void lose_some() {
    const auto [first, second] = operations();
    const std::int64_t begin = (first + second) / 2;
    constexpr std::int64_t kFailures = 60;
    door.emplace(system_door(),
                 files::Faults{.fail_at = begin, .failures = kFailures});
    auto step = std::make_optional(net.compiled(within(net, *door)));
    net.run(*step);
    ASSERT_EQ(end_of_run(net, *step), End::kTorn);
    {
      const AwayNet::Here here(net);
      net.domain->trim();  // parts may be copied to what is held
      const Budget none(net.in_use());
      step.reset();
    }
    heal(*door, begin + kFailures);
    const optim::OptimizerState state = net.adam->state();
    for (const auto& slot : state.slots) {
      moments.insert(moments.end(), slot.tensors.begin(),
                     slot.tensors.begin() + 2);
    }
  }
  static void expect_lost(const Tensor& moment) {
    EXPECT_THROW(moment.to_vector(), IoError);
    EXPECT_THROW(sum(moment), IoError);
    EXPECT_THROW(add_(moment, 1.0), IoError);
    EXPECT_THROW(fill_(narrow(moment, 0, 0, 1), 1.0), IoError);
  }
  static bool is_lost(const Tensor& moment) {
    try {
      moment.at({0, 0});
      return false;
    } catch (const IoError&) {
      expect_lost(moment);
      return true;
    }
  }
  // The number of lost moments; every read of one says that it is lost.
  int lost() const {
    return static_cast<int>(std::ranges::count_if(moments, is_lost));
  }

  std::optional<FaultDoor> door;
  AwayNet net;
  std::vector<Tensor> moments;
};

TEST_F(LostStatesTest, SayItUntilTheyAreOverwritten) {
  lose_some();
  const int before = lost();
  ASSERT_GT(before, 0);
  auto step = net.compiled(AwayTest::within(net, kTight));
  const std::int64_t steps = net.adam->step_count();
  EXPECT_THROW(net.run(step), IoError);
  EXPECT_EQ(lost(), before);
  const AwayNet::Here here(net);
  bool is_filled = false;
  for (const Tensor& moment : moments) {
    const Tensor x = full(moment.shape(), 0.25);
    is_filled ? fill_(moment, 0.25) : copy_(moment, x);
    is_filled = !is_filled;
    EXPECT_EQ(moment.at({3, 5}), 0.25);
  }
  EXPECT_EQ(lost(), 0);
  expect_goes_on(net, step);
  EXPECT_EQ(net.adam->step_count(), steps + 2);
}

TEST_F(LostStatesTest, AreWholeOnceAStateIsSet) {
  lose_some();
  ASSERT_GT(lost(), 0);
  AwayNet other;
  auto whole = other.compiled({});
  other.run(whole);
  const AwayNet::Here here(net);
  {
    net.domain->trim();
    const Budget none(net.in_use() + 16 * kKiB);
    EXPECT_THROW(net.adam->set_state(other.adam->state()), OutOfMemory);
  }
  EXPECT_GT(lost(), 0);  // as before
  net.adam->set_state(other.adam->state());
  EXPECT_EQ(lost(), 0);
  EXPECT_TRUE(net.moments() == other.moments());
  auto step = net.compiled(AwayTest::within(net, kTight));
  expect_goes_on(net, step);
}

}  // namespace
}  // namespace neap::compiler
