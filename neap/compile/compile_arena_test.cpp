// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The memory that a compiled step takes.
#include <gmock/gmock.h>

#include <array>

#include "neap/compile/compile_for_test.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CompileArenaTest, ASmallerBatchNeedsNoMemoryFromItsSecondStep) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  CompileOptions options;
  options.max_batch = 64;
  auto step = neap::compile(doubled, options);
  const Tensor large = zeros({64, 8});
  const Tensor small = zeros({5, 8});
  step(large);
  const Bytes arena = step.arena_bytes();
  EXPECT_EQ(floats(step(small)), floats(doubled(small)));
  const std::int64_t asked = domain->stats().allocations;
  for (int i = 0; i < 3; ++i) {
    step(small);
  }
  EXPECT_EQ(domain->stats().allocations, asked);
  EXPECT_EQ(step.arena_bytes(), arena);
  EXPECT_EQ(step.traces(), 2);
}

TEST(CompileArenaTest, TheArenaIsThatOfTheLargestBatchFromTheFirstCall) {
  CompileOptions options;
  options.max_batch = 64;
  auto step = neap::compile(doubled, options);
  step(zeros({5, 8}));
  const Bytes arena = step.arena_bytes();
  EXPECT_GE(arena, 64 * 8 * 4);
  step(zeros({64, 8}));
  EXPECT_EQ(step.arena_bytes(), arena);
}

TEST(CompileArenaTest, ALargerBatchIsRefused) {
  CompileOptions options;
  options.max_batch = 4;
  auto step = neap::compile(doubled, options);
  EXPECT_THAT(floats(step(zeros({4}))), ElementsAre(2, 2, 2, 2));
  EXPECT_THROW(step(zeros({5})), PlanError);
  EXPECT_THAT(floats(step(zeros({1}))), ElementsAre(2));
  auto two = neap::compile(
      [](const Tensor& a, const Tensor& b) { return sum(a) + sum(b); },
      options);
  EXPECT_THROW(two(zeros({2}), zeros({3})), ShapeError);
}

// Products of few rows may want more scratch than those of many.
TEST(CompileArenaTest, TheArenaHasRoomForWhatAWarmSizeNeedsMore) {
  const Tensor w = randn({64, 784});
  const auto product = [&w](const Tensor& x) { return linear(x, w); };
  CompileOptions options;
  options.max_batch = 128;
  options.warm.push_back(16);
  auto step = neap::compile(product, options);
  step.prepare({tensor::Spec{f32, {128, 784}}});
  const Bytes arena = step.arena_bytes();
  const Tensor x = randn({16, 784});
  EXPECT_EQ(floats(step(x)), floats(product(x)));
  EXPECT_EQ(step.arena_bytes(), arena);
}

TEST(CompileArenaTest, WarmSizesAreTracedAhead) {
  CompileOptions options;
  options.max_batch = 8;
  options.warm.push_back(3);
  options.warm.push_back(1);
  auto step = neap::compile(doubled, options);
  step.prepare({tensor::Spec{f32, {8, 2}}});
  EXPECT_EQ(step.traces(), 3);
  step(zeros({3, 2}));
  step(zeros({1, 2}));
  EXPECT_EQ(step.traces(), 3);
  options.warm.push_back(9);
  auto beyond = neap::compile(doubled, options);
  EXPECT_THROW(beyond(zeros({8, 2})), PlanError);
}

// Other passes are tried on copies of the program; the step is the user's, and
// what it does beside (count its runs, say) is done once.
TEST(CompileArenaTest, ASizeThatMakesTheArenaGrowIsTracedOnce) {
  int times = 0;
  CompileOptions options;
  options.max_batch = 4;
  auto step = neap::compile(
      [&](const Tensor& x) {
        ++times;
        return x.shape()[0] == 4 ? exp(x) : exp(rand({4096}));
      },
      options);
  step(zeros({4}));
  EXPECT_EQ(times, 1);
  const Bytes arena = step.arena_bytes();
  EXPECT_EQ(step(zeros({2})).element_count(), 4096);
  EXPECT_EQ(times, 2);
  EXPECT_GT(step.arena_bytes(), arena);
}

TEST(CompileArenaTest, TheCallersMemoryIsTheArena) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  alignas(64) std::array<std::byte, 4096> memory{};
  CompileOptions options;
  options.memory = memory;
  {
    auto step = neap::compile(doubled, options);
    EXPECT_EQ(domain->stats().lent, 4096);
    const Tensor y = step(zeros({4}));
    const auto* at =
        reinterpret_cast<const std::byte*>(y.values<float>().data());
    EXPECT_TRUE(at >= memory.data() && at < memory.data() + memory.size());
    EXPECT_THAT(message_of([&] { step(zeros({4096})); }),
                HasSubstr("the memory that was given"));
    EXPECT_THAT(floats(step(zeros({2}))), ElementsAre(2, 2));
  }
  EXPECT_EQ(domain->stats().lent, 0);
}

TEST(CompileArenaTest, TheSetOfProgramsHasABound) {
  CompileOptions options;
  options.programs = 2;
  auto step = neap::compile(doubled, options);
  for (const std::int64_t n : {1, 2, 1, 3, 1}) {
    EXPECT_EQ(step(zeros({n})).element_count(), n);
  }
  EXPECT_EQ(step.programs(), 2);
  EXPECT_EQ(step.traces(), 3);
  step(zeros({2}));
  EXPECT_EQ(step.traces(), 4);
}

TEST(CompileArenaTest, ResetFreesEverything) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  auto step = neap::compile(doubled);
  const Bytes before = domain->stats().live;
  step(zeros({64}));
  EXPECT_GT(step.arena_bytes(), 0);
  step.reset();
  EXPECT_EQ(step.arena_bytes(), 0);
  EXPECT_EQ(step.programs(), 0);
  EXPECT_LE(domain->stats().live, before + 1024);
  EXPECT_THAT(floats(step(zeros({1}))), ElementsAre(2));
}

TEST(CompileArenaTest, ResultsMeanNothingWhenTheStepGoes) {
  Tensor held;
  {
    auto step = neap::compile(doubled);
    held = step(zeros({1}));
  }
  EXPECT_THROW(held.item(), UseAfterRelease);
}

}  // namespace
}  // namespace neap::compiler
