// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rows D2, D3 and D8 to D14: an array type that carries value, gradient and
// graph, and what becomes of its memory.
#include <array>
#include <cmath>

#include "support.hpp"
#include "support/small_stack.hpp"

namespace neap::four_systems {
namespace {

TEST(FourSystemsTest, NothingIsSetButRequiresGrad_D2) {
  const Tensor x = leaf({1, 2});
  const Tensor w = leaf({3, 4});
  const Bytes before = live();
  {
    const Tensor f = sum(tanh(x * w + 1.0) * exp(x / (w + 2.0)));
    EXPECT_GT(live(), before);
  }
  EXPECT_EQ(live(), before);  // every temporary went, and the graph with it
}

TEST(FourSystemsTest, TemporariesOfAnUntrackedExpressionGoAtOnce_D2) {
  const Tensor x = ones({1000}, f64);
  const Bytes before = live();
  const Tensor y = sqrt(x * 2.0 + 1.0) - x / 3.0;
  const Bytes with_result = live();
  const Tensor z = x + 1.0;
  EXPECT_EQ(with_result - before, live() - with_result);
}

TEST(FourSystemsTest, BackwardAccumulatesIntoEveryLeaf_D3) {
  const Tensor x = leaf({2});
  const Tensor y = leaf({3});
  const Tensor z = leaf({4});
  for (int i = 1; i <= 2; ++i) {
    backward(x * y + y * z + x * z);
    EXPECT_EQ(x.grad().item(), i * 7);
    EXPECT_EQ(y.grad().item(), i * 6);
    EXPECT_EQ(z.grad().item(), i * 5);
  }
}

TEST(FourSystemsTest, GradReturnsWithoutAccumulating_D3) {
  const Tensor x = leaf({2});
  const Tensor inner = square(x);
  const auto gradients = grad(inner * x, {x, inner});
  EXPECT_EQ(gradients[0].item(), 12);
  EXPECT_EQ(gradients[1].item(), 2);
  EXPECT_FALSE(x.grad().defined());
}

TEST(FourSystemsTest, ZeroGradFreesTheBytes_D3) {
  const Tensor x = requires_grad_(ones({100}, f64));
  const Bytes before = live();
  backward(sum(square(x)));
  EXPECT_GE(live(), before + 800);
  zero_grad(std::array{x});
  EXPECT_FALSE(x.grad().defined());
  EXPECT_EQ(live(), before);
}

TEST(FourSystemsTest, DroppingTheHandleIsEnough_D8) {
  const Tensor x = leaf({2});
  const Bytes before = live();
  Tensor f = pow(x, 4.0);
  Tensor first = grad(f, {x}, {.create_graph = true})[0];
  Tensor second = grad(first, {x}, {.create_graph = true})[0];
  EXPECT_EQ(second.item(), 48);
  f = Tensor();
  first = Tensor();
  EXPECT_EQ(grad(second, {x})[0].item(), 48);  // it has what it needs
  second = Tensor();
  EXPECT_EQ(live(), before);
}

TEST(FourSystemsTest, ADiamondIsRight_D9) {
  const Tensor x = leaf({3});
  const Tensor y = leaf({4});
  backward(x * y + x);
  EXPECT_EQ(x.grad().item(), 5);
  EXPECT_EQ(y.grad().item(), 3);
}

// Both results stand on one temporary; whichever goes first, the other is
// whole.
TEST(FourSystemsTest, TwoResultsOverOneTemporaryNeverHarmOneAnother_D9) {
  for (const bool first_goes : {true, false}) {
    const Tensor x = leaf({2});
    const Bytes before = live();
    Tensor sine;
    Tensor cosine;
    {
      const Tensor shared = square(x);
      sine = sin(shared);
      cosine = cos(shared);
    }
    Tensor& dropped = first_goes ? sine : cosine;
    Tensor& kept = first_goes ? cosine : sine;
    dropped = Tensor();
    backward(kept);
    const double expected = first_goes ? -std::sin(4.0) : std::cos(4.0);
    EXPECT_DOUBLE_EQ(x.grad().item(), expected * 4);
    kept = Tensor();
    zero_grad(std::array{x});
    EXPECT_EQ(live(), before);
  }
}

TEST(FourSystemsTest, LoopsWithDerivativesLeaveNothing_D10) {
  const Tensor x = leaf({0.7, 1.1});
  Bytes after_first = 0;
  for (int i = 0; i < 1000; ++i) {
    const Tensor f = sum(exp(sin(x)));
    const auto first = grad(f, {x}, {.create_graph = true});
    const auto second = grad(sum(first[0]), {x});
    if (i == 0) {
      after_first = live();
    }
    ASSERT_EQ(live(), after_first);
  }
}

TEST(FourSystemsTest, AssigningWritesIntoTheSameStorage_D11) {
  const Tensor workspace = zeros({3}, f64);
  const void* place = workspace.values<double>().data();
  const Tensor also = workspace.alias();
  for (int i = 1; i <= 3; ++i) {
    copy_(workspace, row({1, 2, 3}) * i);
  }
  EXPECT_EQ(workspace.values<double>().data(), place);
  EXPECT_THAT(numbers(also), ElementsAre(3, 6, 9));
}

TEST(FourSystemsTest, ResultsGoIntoTensorsThatExist_D11) {
  const Tensor x = row({1, 2, 3});
  const Tensor y = row({4, 5, 6});
  const Tensor workspace = zeros({3}, f64);
  memory::domain().reset_peak();
  const Bytes before = live();
  for (int i = 0; i < 3; ++i) {
    compute_into(workspace, ops::kMul, {x, y});
    add_(workspace, x);
  }
  EXPECT_EQ(memory::domain().stats().live_peak, before);
  EXPECT_THAT(numbers(workspace), ElementsAre(5, 12, 21));
}

TEST(FourSystemsTest, TheBackwardThatNeedsTheOldValueNamesBothPlaces_D11) {
  const Tensor x = row({1, 2});
  const Tensor w = leaf({3, 4});
  const Tensor loss = sum(x * w);
  const int recorded = __LINE__ - 1;
  copy_(x, row({5, 6}));
  const int written = __LINE__ - 1;
  EXPECT_THAT(numbers(x), ElementsAre(5, 6));  // the write succeeds
  const std::string text = refusal<GraphError>([&] { backward(loss); });
  EXPECT_THAT(text, HasSubstr("'mul'"));
  EXPECT_THAT(text,
              HasSubstr("diffstruc_test.cpp:" + std::to_string(recorded)));
  EXPECT_THAT(text, HasSubstr("diffstruc_test.cpp:" + std::to_string(written)));
  EXPECT_FALSE(w.grad().defined());
}

TEST(FourSystemsTest, WhatAGraphRecordsIsNotOverwritten_D11) {
  const Tensor x = leaf({1, 2});
  const Tensor y = square(x);
  EXPECT_THAT(refusal<GraphError>([&] {
                copy_(y, row({0, 0}));
              }),
              Not(IsEmpty()));
  EXPECT_THAT(refusal<GraphError>([&] {
                copy_(x, row({0, 0}));
              }),
              Not(IsEmpty()));
  const NoGrad guard;
  copy_(x, row({7, 8}));
  EXPECT_THAT(numbers(x), ElementsAre(7, 8));
}

// Their limits are 1000 levels and 32 entries.
TEST(FourSystemsTest, NoRecursionAndNoLimit_D12) {
  tests::on_small_stack([] {
    const Tensor x = leaf({1});
    Tensor y = x;
    for (int i = 0; i < 200'000; ++i) {
      y = y * 1.0 + 0.0;
    }
    const Tensor first = grad(y, {x}, {.create_graph = true})[0];
    EXPECT_EQ(first.item(), 1);
  });
}

TEST(FourSystemsTest, AGraphOfAnyWidth_D12) {
  const Tensor x = leaf({1});
  std::vector<Tensor> terms;
  for (int i = 0; i < 5'000; ++i) {
    terms.push_back(x * static_cast<double>(i));
  }
  backward(sum(concat(terms)));
  EXPECT_EQ(x.grad().item(), 5'000.0 * 4'999 / 2);
}

TEST(FourSystemsTest, ALeakIsReportedWithItsOwnerAndLine_D13) {
  const report::Baseline baseline;
  {
    const Tensor goes = ones({10}, f64);
    EXPECT_THAT(baseline.format(), Not(IsEmpty()));
  }
  EXPECT_THAT(baseline.format(), IsEmpty());
  const Tensor stays = ones({1000}, f64);
  const int line = __LINE__ - 1;
  EXPECT_THAT(baseline.format(),
              AllOf(HasSubstr("8 000 B in 1 block"),
                    HasSubstr("diffstruc_test.cpp:" + std::to_string(line))));
}

TEST(FourSystemsTest, CopiesDetachedHandlesAndElements_D14) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor y = reshape(x, {2, 2});
  const Tensor twin = copy(y);
  EXPECT_FALSE(twin.is_alias_of(y));
  EXPECT_EQ(numbers(twin), numbers(y));
  const Tensor cut = y.detach();
  EXPECT_TRUE(cut.is_alias_of(x));
  EXPECT_FALSE(cut.requires_grad());
  EXPECT_EQ(y.at({1, 0}), 3);
  EXPECT_THAT(numbers(select(y, 1, 1)), ElementsAre(2, 4));
  EXPECT_THAT(numbers(slice(y, 0, 1)), ElementsAre(3, 4));
  requires_grad_(x, false);
  EXPECT_FALSE(square(x).requires_grad());
  const Tensor own = copy(cut);
  own.alias().mutable_values<double>()[0] = 9;
  EXPECT_THAT(numbers(own), ElementsAre(9, 2, 3, 4));
  EXPECT_EQ(x.at({0}), 1);
}

}  // namespace
}  // namespace neap::four_systems
