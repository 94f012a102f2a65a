// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Compiled steps whose arena is in pages.
#include <gmock/gmock.h>

#include "neap/compile/compile_for_test.hpp"
#include "neap/compile/lower.hpp"
#include "neap/memory/taken_for_test.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using memory::Taken;
using memory::taken_by_process;
using ::testing::HasSubstr;

constexpr std::int64_t kUnitElements = 256 * 1024;  // a MiB of f32
constexpr Bytes kUnitBytes = kUnitElements * 4;

Tensor part(const Tensor& x, std::int64_t units) {
  return exp(slice(x, 0, 0, units * kUnitElements));
}

// Never more than six units live, and no plan puts them into less than seven:
// the lifetimes of PagedTest.ReachesABoundThatNoPlanReaches.
Tensor puzzle(const Tensor& x) {
  const Tensor a = part(x, 2);
  const Tensor b = part(x, 4);
  Tensor t = sum(b);
  const Tensor c = part(x, 1);
  const Tensor d = part(x, 3);
  t = t + sum(a);
  const Tensor g = part(x, 1);
  t = t + sum(d);
  const Tensor f = part(x, 4);
  t = t + sum(c);
  t = t + sum(g);
  const Tensor e = part(x, 2);
  return t + sum(e) + sum(f);
}

CompileOptions as_written(bool is_paged) {
  CompileOptions options;
  options.passes = Passes::none();
  options.paged = is_paged;
  return options;
}

CompileOptions scattered() {
  CompileOptions options;
  options.paged = true;
  options.debug.scatter = true;
  return options;
}

// Some dozen values of `batch` times 9 000 B, and a few small ones.
Tensor wide(const Tensor& x) {
  Tensor y = tanh(x);
  const Tensor row = mean(x, {0});
  for (int i = 0; i < 4; ++i) {
    y = concat({slice(y, 1, 250), slice(y, 1, 0, 250)}, 1) * x + exp(-tanh(y));
    y = tanh(y - mean(y, {1}, true) + row * 0.5);
  }
  return y;
}

Tensor wide_batch(std::int64_t batch) {
  Generator generator(17);
  const UseGenerator use(generator);
  return randn({batch, 2250});
}

TEST(CompilePagedTest, ReachesABoundThatNoLinearPlanReaches) {
  const Tensor x = full({4 * kUnitElements}, 0.25);
  const std::array specs{x.spec()};
  const Plan linear = lower(puzzle, specs, as_written(false)).plan;
  const Plan paged = lower(puzzle, specs, as_written(true)).plan;
  EXPECT_GE(linear.arena_bytes(), 7 * kUnitBytes);
  EXPECT_GE(paged.arena_bytes(), 6 * kUnitBytes);
  EXPECT_LE(paged.arena_bytes(), 6 * kUnitBytes + 4 * 4096);
  EXPECT_LT(paged.arena_bytes() - paged.space().lower_bound, 4096);
  EXPECT_TRUE(paged.space().is_proven);
  EXPECT_STREQ(paged.space().method, "pages");
  EXPECT_FALSE(paged.pages.views.empty());
}

TEST(CompilePagedTest, HoldsWhatIsPredictedAndNoMore) {
  const auto live_peak_of = [](bool is_paged) {
    const auto domain = Domain::create();
    const UseDomain use(*domain);
    const Tensor x = full({4 * kUnitElements}, 0.25);
    const Tensor expected = puzzle(x);
    domain->reset_peak();
    auto step = neap::compile(puzzle, as_written(is_paged));
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(floats(step(x)), floats(expected));
    }
    const Prediction told = step.prediction();
    EXPECT_EQ(told.arena, step.arena_bytes());
    EXPECT_EQ(told.arena, step.plan().arena_bytes());
    EXPECT_EQ(told.lower_bound, step.plan().space().lower_bound);
    EXPECT_EQ(step.measured().arena, told.arena);
    return domain->stats().live_peak;
  };
  EXPECT_GE(live_peak_of(false) - live_peak_of(true), kUnitBytes - 4096 * 4);
}

TEST(CompilePagedTest, TheSameBitsInEveryWayToDebug) {
  const Tensor x = wide_batch(7);
  const std::vector<float> expected = floats(wide(x));
  CompileOptions poison = scattered();
  poison.debug.poison = true;
  CompileOptions guards = scattered();
  guards.debug.guards = true;
  CompileOptions apart = scattered();
  apart.debug.no_reuse = true;
  CompileOptions kept = scattered();
  kept.keep_all = true;
  for (const CompileOptions& how : {scattered(), poison, guards, apart, kept}) {
    auto step = neap::compile(wide, how);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(floats(step(x)), expected);
    }
    EXPECT_FALSE(step.plan().pages.views.empty());
  }
}

// Without reuse all live at once: there is nothing that pages could mend.
TEST(CompilePagedTest, WithoutReuseThePlanIsAnOrdinaryOne) {
  CompileOptions options = as_written(true);
  options.debug.no_reuse = true;
  const Tensor x = full({4 * kUnitElements}, 0.25);
  auto step = neap::compile(puzzle, options);
  EXPECT_EQ(floats(step(x)), floats(puzzle(x)));
  EXPECT_EQ(step.plan().pages.bytes, 0);
}

TEST(CompilePagedTest, WhatIsSmallOrReachesItsBoundHasNoPages) {
  const Taken before = taken_by_process();
  CompileOptions options;
  options.paged = true;
  auto small = neap::compile(doubled, scattered());
  small(zeros({64}));
  auto large = neap::compile(doubled, options);
  large(zeros({100'000}));
  EXPECT_TRUE(large.plan().space().is_proven);
  EXPECT_EQ(taken_by_process(), before);
}

TEST(CompilePagedTest, ProgramsShareThePagesAndEachHasItsViews) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const Taken before = taken_by_process();
  CompileOptions options = scattered();
  options.max_batch = 9;
  options.programs = 3;
  {
    auto step = neap::compile(wide, options);
    for (const std::int64_t batch : {9, 5, 7, 9, 5, 3, 9, 7}) {
      const Tensor x = wide_batch(batch);
      ASSERT_EQ(floats(step(x)), floats(wide(x))) << batch;
    }
    EXPECT_EQ(step.programs(), 3);
    const Taken three = taken_by_process();
    EXPECT_EQ(three.files, before.files + 1);
    EXPECT_GT(three.maps, before.maps + 100);
    step.reset();
    EXPECT_EQ(taken_by_process(), before);
    const Tensor x = wide_batch(2);
    EXPECT_EQ(floats(step(x)), floats(wide(x)));
  }
  EXPECT_EQ(taken_by_process(), before);
}

TEST(CompilePagedTest, ViewsOfAProgramThatLeavesGo) {
  CompileOptions options = scattered();
  options.programs = 1;
  auto step = neap::compile(wide, options);
  const Tensor four = wide_batch(4);
  const Tensor five = wide_batch(5);
  step(five);
  const Bytes arena = step.arena_bytes();
  const Taken taken = taken_by_process();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(floats(step(four)), floats(wide(four)));
    EXPECT_EQ(floats(step(five)), floats(wide(five)));
  }
  EXPECT_EQ(taken_by_process(), taken);
  EXPECT_EQ(step.arena_bytes(), arena);
}

TEST(CompilePagedTest, ALargerProgramMakesANewArenaAndOldViewsAreMadeAnew) {
  auto step = neap::compile(wide, scattered());
  Tensor held;
  for (const std::int64_t batch : {3, 8, 3, 11, 8, 3}) {
    const Tensor x = wide_batch(batch);
    const Tensor y = step(x);
    if (held.defined()) {
      EXPECT_THROW(held.values<float>(), UseAfterRelease);
    }
    EXPECT_EQ(floats(y), floats(wide(x)));
    held = y;
  }
  EXPECT_EQ(step.programs(), 3);
}

TEST(CompilePagedTest, AResultInAViewIsNoArgument) {
  auto step = neap::compile(wide, scattered());
  const Tensor x = wide_batch(6);
  const Tensor y = step(x);
  EXPECT_TRUE(step.plan().is_in_views(
      step.plan()
          .lifetimes.buffer_of[step.program().results[0].operand.value.value]));
  EXPECT_THAT(message_of([&] { step(y); }), HasSubstr("name it in .keep"));
  EXPECT_EQ(floats(y), floats(wide(x)));
}

TEST(CompilePagedTest, IsRefusedWithMemoryOfTheCallers) {
  alignas(64) std::array<std::byte, 4096> memory{};
  CompileOptions options;
  options.memory = memory;
  options.paged = true;
  EXPECT_THAT(message_of([&] { neap::compile(doubled, options); }),
              HasSubstr(".paged and .memory"));
}

// Every third request is refused, until the call needs no more of them.
// RETURNS: how many were.
template <class Call, class Check>
std::int64_t refuse_until_it_works(Domain& domain, Call&& call, Check&& check) {
  for (std::int64_t refused = 0;; ++refused) {
    domain.fail_at(3 * refused + 1);
    try {
      call();
      domain.fail_at(0);
      return refused;
    } catch (const OutOfMemory&) {
      domain.fail_at(0);
      check();
    }
  }
}

// A held result stays what it was until a call has all that it needs.
TEST(CompilePagedTest, AnyRequestMayBeRefusedAndNothingIsLeft) {
  const Tensor five = wide_batch(5);
  const Tensor three = wide_batch(3);
  const std::vector<float> expected = floats(wide(five));
  const Taken before = taken_by_process();
  const auto domain = Domain::create();
  {
    const UseDomain use(*domain);
    auto step = neap::compile(wide, scattered());
    Tensor y;
    const std::int64_t first = refuse_until_it_works(
        *domain, [&] { y = step(five); },
        [&] { ASSERT_LE(taken_by_process().files, before.files + 1); });
    EXPECT_GT(first, 50);
    const Taken shown = taken_by_process();
    Tensor z;
    const std::int64_t second = refuse_until_it_works(
        *domain, [&] { z = step(three); },
        [&] {
          ASSERT_LE(taken_by_process().maps, 2 * shown.maps);
          ASSERT_EQ(floats(y), expected);
        });
    EXPECT_GT(second, 50);
    EXPECT_EQ(floats(z), floats(wide(three)));
    EXPECT_NE(message_of([&] { floats(y); }), "");
  }
  EXPECT_EQ(taken_by_process(), before);
}

TEST(CompilePagedTest, ADryRunHoldsTheSame) {
  const auto peak = [](bool is_rehearsal) {
    const auto domain = Domain::create(
        {.host = memory::HostAllocator::kPooled, .is_rehearsal = is_rehearsal});
    const UseDomain use(*domain);
    auto step = neap::compile(wide, scattered());
    const Tensor five = empty({5, 2250});
    const Tensor eight = empty({8, 2250});
    for (int i = 0; i < 2; ++i) {
      step(five);
      step(eight);
    }
    EXPECT_FALSE(step.plan().pages.views.empty());
    return domain->stats().peak;
  };
  const Taken before = taken_by_process();
  EXPECT_EQ(peak(true), peak(false));
  EXPECT_EQ(taken_by_process(), before);
}

}  // namespace
}  // namespace neap::compiler
