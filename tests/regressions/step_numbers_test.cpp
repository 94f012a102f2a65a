// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Numbers given to a compiled step. Beside an index they were made integers,
// and once a program needed them in f32 all later ones had them so.
#include <gmock/gmock.h>

#include <cstdint>
#include <limits>

#include "neap/compile/compile_for_test.hpp"
#include "neap/nn/layers.hpp"
#include "neap/ops/elementwise/assign.hpp"
#include "neap/ops/elementwise/extremes.hpp"
#include "neap/ops/indexing/index.hpp"
#include "neap/ops/shape/concat.hpp"
#include "neap/ops/shape/pad.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using ::testing::ElementsAre;

TEST(StepNumbersTest, AnIndexDoesNotSayWhatANumberIs) {
  auto step = neap::compile(
      [](const Tensor& low, const Tensor& high, const Tensor& labels) {
        const Tensor table = concat({reshape(low, {1}), reshape(high, {1})}, 0);
        return index_select(table, 0, labels);
      });
  const Tensor labels = from_values({0, 1, 1}, {3}, i64);
  const Tensor y = step(0.25, 0.75, labels);
  EXPECT_EQ(y.dtype(), f64);
  EXPECT_THAT(y.to_vector(), ElementsAre(0.25, 0.75, 0.75));
}

TEST(StepNumbersTest, AnIndexBeforeTheValuesSaysNothing) {
  auto step =
      neap::compile([](const Tensor& index, const Tensor& x, const Tensor& by) {
        return index_select(x * by, 0, index) * by;
      });
  const Tensor index = from_values({1, 0}, {2}, i64);
  EXPECT_THAT(step(index, full({2}, 3.0), 0.5).to_vector(),
              ElementsAre(0.75, 0.75));
}

TEST(StepNumbersTest, IntegersSayItWhereNothingElseCan) {
  auto step =
      neap::compile([](const Tensor& x, const Tensor& by) { return x * by; });
  const Tensor x = from_values({1, 2, 3}, {3}, i64);
  EXPECT_THAT(step(x, 2).to_vector(), ElementsAre(2.0, 4.0, 6.0));
}

TEST(StepNumbersTest, WhatWasCalledBeforeDoesNotChangeBits) {
  nn::Dropout mode(0.5);
  Tensor state = ones({1});
  auto step = neap::compile(
      [&](const Tensor& x, const Tensor& a) {
        if (mode.is_training()) {
          mul_(state, a);  // asks for its dtype
        }
        return x * (a * a * 0.3);
      },
      {.keep_all = true});
  const Tensor x = from_values({0.3}, {1});
  mode.eval();
  const std::vector<float> before = floats(step(x, 0.1));
  mode.train();
  step(x, 0.1);
  mode.eval();
  EXPECT_EQ(floats(step(x, 0.1)), before);
  EXPECT_EQ(step.traces(), 2);
}

// Each dtype has its numbers, so that a switch makes none anew.
TEST(StepNumbersTest, ProgramsInBothDtypesTakeTurnsWithoutMemory) {
  nn::Dropout mode(0.5);
  Tensor state = ones({1});
  auto step = neap::compile([&](const Tensor& x, const Tensor& a) {
    if (mode.is_training()) {
      mul_(state, a);
    }
    return x * a;
  });
  const Tensor x = ones({1});
  const auto turn = [&] {
    mode.train();
    step(x, 0.5);
    mode.eval();
    step(x, 0.5);
  };
  for (int i = 0; i < 3; ++i) {
    turn();
  }
  const auto before = memory::domain().requests();
  turn();
  EXPECT_EQ(memory::domain().requests(), before);
  EXPECT_EQ(step.traces(), 2);
}

constexpr std::int64_t kNoDouble = (std::int64_t{1} << 53) + 1;

// Numbers are taken as doubles; an integer that is none was rounded in silence.
TEST(StepNumbersTest, AnIntegerThatNoDoubleIsIsRefusedAsAnOperand) {
  const Tensor x = zeros({1}, i64);
  EXPECT_THROW(x + kNoDouble, ValueError);
  EXPECT_THROW(x + std::numeric_limits<std::int64_t>::max(), ValueError);
  EXPECT_THROW(x + std::numeric_limits<std::uint64_t>::max(), ValueError);
  EXPECT_EQ((x + (kNoDouble - 1)).item(), 0x1p53);
  EXPECT_EQ((x + std::numeric_limits<std::int64_t>::min()).item(), -0x1p63);
}

TEST(StepNumbersTest, AnIntegerThatNoDoubleIsIsRefusedWhereTensorsAreMade) {
  EXPECT_THROW(full({2}, kNoDouble, i64), ValueError);
  EXPECT_THROW(scalar(-kNoDouble, i64), ValueError);
  EXPECT_EQ(full({1}, kNoDouble - 1, i64).values<std::int64_t>()[0],
            kNoDouble - 1);
}

TEST(StepNumbersTest, AnIntegerThatNoDoubleIsIsRefusedByWritesAndBounds) {
  const Tensor x = full({1}, 7, i64);
  EXPECT_THROW(fill_(x, kNoDouble), ValueError);
  EXPECT_EQ(x.item(), 7.0);
  EXPECT_THROW(clip(x, 0, kNoDouble), ValueError);
  EXPECT_THROW(clip(x, -kNoDouble, 0), ValueError);
  EXPECT_THROW(clip_min(x, kNoDouble), ValueError);
  EXPECT_THROW(clip_max(x, kNoDouble), ValueError);
  EXPECT_EQ(clip(x, 0, 5).item(), 5.0);
}

TEST(StepNumbersTest, AnIntegerThatNoDoubleIsIsRefusedAsAnArgument) {
  auto step =
      neap::compile([](const Tensor& x, const Tensor& by) { return x + by; });
  const Tensor x = zeros({1}, i64);
  EXPECT_EQ(step(x, 2).item(), 2.0);
  EXPECT_THROW(step(x, kNoDouble), ValueError);
  EXPECT_EQ(step(x, 3).item(), 3.0);
  EXPECT_EQ(step.traces(), 1);
  auto outer = neap::compile(
      [&](const Tensor& y) { return step(y, kNoDouble); });  // as a part
  EXPECT_THROW(outer(x), ValueError);
}

TEST(StepNumbersTest, AnIntegerThatNoDoubleIsIsRefusedByPadsAndSums) {
  const Tensor x = zeros({2}, i64);
  const Tensor at = zeros({2}, i64);
  EXPECT_THROW(pad(x, {1, 0}, PadMode::kConstant, kNoDouble), ValueError);
  EXPECT_THROW(index_add(x, 0, at, x, kNoDouble), ValueError);
  EXPECT_EQ(pad(x, {1, 0}, PadMode::kConstant, 7).at({0}), 7.0);
}

// A write made all numbers f32, whose integers end at 2^24.
TEST(StepNumbersTest, AWriteDoesNotRoundWhatElseTheNumberIsFor) {
  const Tensor state = ones({1});
  const Tensor copied = zeros({1});
  auto step = neap::compile([&](const Tensor& x, const Tensor& by) {
    mul_(state, by);
    copy_(copied, by);
    return x + cast(by, i64);
  });
  const Tensor x = zeros({1}, i64);
  EXPECT_EQ(step(x, 16'777'217).item(), 16'777'217.0);
  EXPECT_EQ(state.item(), 16'777'216.0);
  EXPECT_EQ(copied.item(), 16'777'216.0);
  auto outer =
      neap::compile([&](const Tensor& y) { return step(y, 0x1p24 + 1); });
  EXPECT_EQ(outer(x).item(), 16'777'217.0);
}

// The step's own errors made it run once more, with other numbers.
TEST(StepNumbersTest, AStepThatFailsRunsOnce) {
  int runs = 0;
  auto step = neap::compile([&](const Tensor& x, const Tensor& by) {
    ++runs;
    return x * by + zeros({1}, i64);
  });
  EXPECT_THROW(step(ones({1}), 0.5), DTypeError);
  EXPECT_EQ(runs, 1);
}

TEST(StepNumbersTest, ATensorOfF64IsNoNumber) {
  auto step =
      neap::compile([](const Tensor& x, const Tensor& by) { return x * by; });
  const Tensor x = from_values({1, 2, 3}, {3}, i64);
  EXPECT_THROW(step(x, scalar(2.5, f64)), DTypeError);
  EXPECT_EQ(step(ones({1}, f64), scalar(2.5, f64)).item(), 2.5);
  EXPECT_EQ(step(ones({1}), 2.5).item(), 2.5);
  EXPECT_THROW(step(ones({1}), scalar(2.5, f64)), DTypeError);
}

TEST(StepNumbersTest, ATensorAfterANumberIsAnotherProgram) {
  auto step =
      neap::compile([](const Tensor& x, const Tensor& by) { return x * by; });
  const Tensor x = ones({1}, f64);
  EXPECT_EQ(step(x, 2.5).item(), 2.5);
  EXPECT_EQ(step(x, scalar(3.5, f64)).item(), 3.5);
  EXPECT_EQ(step.why(), "argument 1 is a tensor, was a number");
  EXPECT_EQ(step(x, 4.5).item(), 4.5);
  EXPECT_EQ(step.traces(), 2);
}

TEST(StepNumbersTest, BesideBytesAndConditionsTheyAreSuch) {
  const Tensor bytes = from_values({0, 3, 255}, {3}, u8);
  const Tensor is = from_values({0, 1, 1}, {3}, boolean);
  const auto plain = [](const Tensor& b, const Tensor& c, const auto& n) {
    return std::tuple{eq(b, n), b < n, where(c, b, n), masked_fill(b, c, 7)};
  };
  auto step = neap::compile([&](const Tensor& b, const Tensor& c,
                                const Tensor& n) { return plain(b, c, n); },
                            {.keep_all = true});
  for (const double n : {3.0, 0.0, 255.0}) {
    const auto [a, b, c, d] = step(bytes, is, n);
    const auto [e, f, g, h] = plain(bytes, is, n);
    EXPECT_EQ(a.to_vector(), e.to_vector()) << n;
    EXPECT_EQ(b.to_vector(), f.to_vector()) << n;
    EXPECT_EQ(c.to_vector(), g.to_vector()) << n;
    EXPECT_EQ(d.to_vector(), h.to_vector()) << n;
  }
  for (const double n : {2.5, 300.0, -1.0}) {
    EXPECT_THROW(step(bytes, is, n), DTypeError) << n;
    EXPECT_THROW(plain(bytes, is, n), DTypeError) << n;
  }
}

}  // namespace
}  // namespace neap::compiler
