// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rows B1, B2, B5, B7 to B10: which graph nodes can still matter.
#include <array>

#include "support.hpp"

namespace neap::four_systems {
namespace {

std::int64_t requests_of_an_op(const Tensor& x) {
  const std::int64_t before = memory::domain().requests();
  const Tensor y = tanh(x);
  return memory::domain().requests() - before;
}

// An op asks as often, and for as much, beside a huge live graph.
TEST(FourSystemsTest, RegisteringANodeCostsTheSameBesideAnyGraph_B1) {
  const Tensor x = leaf({1});
  const std::int64_t alone = requests_of_an_op(x);
  const Bytes before = live();
  const Tensor one = tanh(x);
  const Bytes bytes = live() - before;
  std::vector<Tensor> graph = {one};
  for (int i = 0; i < 100'000; ++i) {
    graph.push_back(neg(graph.back()));
  }
  EXPECT_EQ(requests_of_an_op(x), alone);
  const Bytes between = live();
  const Tensor another = tanh(x);
  EXPECT_EQ(live() - between, bytes);
}

Tensor layers(const Tensor& x, int count) {
  Tensor y = x;
  for (int i = 0; i < count; ++i) {
    y = tanh(y);
  }
  return y;
}

TEST(FourSystemsTest, BackwardFreesResidualsAsItPassesThem_B2) {
  constexpr int kLayers = 20;
  constexpr Bytes kOne = 80'000;
  const Tensor x = requires_grad_(full({10'000}, 0.1, f64));
  const Bytes before = live();
  const Tensor loss = sum(layers(x, kLayers));
  EXPECT_GT(live() - before, kLayers * kOne);
  memory::domain().reset_peak();
  const Bytes at_start = live();
  backward(loss);
  // A cotangent takes the place of the residual that went.
  EXPECT_LT(memory::domain().stats().live_peak - at_start, 3 * kOne);
  EXPECT_LT(live() - before, 2 * kOne);  // the gradient, and the loss
}

TEST(FourSystemsTest, AForwardOnlyLoopIsFlatWithNoBackwardAndNoSweep_B5) {
  const Tensor w = requires_grad_(full({4}, 0.5, f64));
  Tensor last = sum(tanh(w));
  const Bytes after_first = live();
  for (int i = 0; i < 10'000; ++i) {
    last = sum(tanh(w));
    ASSERT_EQ(live(), after_first);
  }
}

TEST(FourSystemsTest, ASecondBackwardIsRefusedBeforeAnyDamage_B7) {
  const Tensor x = leaf({2});
  const Tensor other = leaf({5});
  const Tensor shared = square(x);
  backward(shared * 3.0);
  const int consumed = __LINE__ - 1;
  EXPECT_EQ(x.grad().item(), 12);
  const Tensor fresh = exp(other);
  const Tensor mixed = fresh * shared;
  const std::string text = refusal<GraphError>([&] { backward(mixed); });
  EXPECT_THAT(text, HasSubstr("burn_test.cpp:" + std::to_string(consumed)));
  EXPECT_EQ(x.grad().item(), 12);
  EXPECT_FALSE(other.grad().defined());
}

TEST(FourSystemsTest, FreshBranchesOverUnconsumedPartsStayUsable_B7) {
  const Tensor x = leaf({2});
  const Tensor shared = square(x);
  const auto first = grad(shared * 3.0, {shared});  // ends at `shared`
  EXPECT_EQ(first[0].item(), 3);
  backward(exp(shared));
  EXPECT_DOUBLE_EQ(x.grad().item(), std::exp(4.0) * 4);
}

TEST(FourSystemsTest, RetainGraphKeepsEverything_B7) {
  const Tensor x = leaf({2});
  const Tensor loss = pow(x, 3.0);
  const Bytes before = live();
  backward(loss, {.retain_graph = true});
  zero_grad(std::array{x});
  EXPECT_EQ(live(), before);
  backward(loss);
  EXPECT_EQ(x.grad().item(), 12);
}

TEST(FourSystemsTest, AContainerOfGradientsToLookUpTakeOutAndReplace_B8) {
  const Tensor x = leaf({1, 2});
  const Tensor w = leaf({3, 4});
  Gradients gradients = grad(sum(x * w), {x, w});
  EXPECT_EQ(gradients.size(), 2U);
  EXPECT_THAT(numbers(gradients.get(x)), ElementsAre(3, 4));
  gradients.replace(w, row({7, 8}));
  EXPECT_THAT(numbers(gradients[1]), ElementsAre(7, 8));
  const Bytes before = live();
  {
    const Tensor taken = gradients.take(x);
    EXPECT_THAT(numbers(taken), ElementsAre(3, 4));
  }
  EXPECT_LT(live(), before);  // whoever takes it decides when it goes
  EXPECT_FALSE(gradients[0].defined());
  EXPECT_THROW(gradients.get(row({1})), ValueError);
  EXPECT_FALSE(x.grad().defined());
  backward(sum(x * w));
  EXPECT_THAT(numbers(x.grad()), ElementsAre(3, 4));
}

// Four layers that keep a good deal, with dropout.
Tensor block(const Tensor& x, const Tensor& w) {
  Tensor y = x;
  for (int i = 0; i < 4; ++i) {
    y = dropout(tanh(exp(y * w) * 0.1), 0.2);
  }
  return y;
}

struct Outcome {
  std::vector<double> value;
  std::vector<double> by_x;
  std::vector<double> by_w;
  Bytes kept = 0;
};

template <class Function>
Outcome outcome_of(const Function& function, const Tensor& w) {
  seed(11);
  const Tensor x = requires_grad_(full({1000}, 0.3, f64));
  const Bytes before = live();
  const Tensor y = function(x);
  Outcome result;
  result.value = numbers(y);
  result.kept = live() - before;
  const auto gradients = grad(sum(y), {x, w});
  result.by_x = numbers(gradients[0]);
  result.by_w = numbers(gradients[1]);
  return result;
}

// w is captured, not given: it gets its gradient all the same.
TEST(FourSystemsTest, ARematerialisedSegmentKeepsLessAndHasTheSameBits_B9) {
  const Tensor w = requires_grad_(full({1000}, 0.7, f64));
  const Bytes before = live();
  {
    const auto plain = [&](const Tensor& x) { return block(x, w); };
    const auto segment = rematerialise(plain);
    const auto nested =
        rematerialise([&](const Tensor& x) { return segment(segment(x)); });
    const Outcome kept = outcome_of(plain, w);
    const Outcome again = outcome_of(segment, w);
    EXPECT_EQ(again.value, kept.value);
    EXPECT_EQ(again.by_x, kept.by_x);
    EXPECT_EQ(again.by_w, kept.by_w);
    EXPECT_LT(again.kept, 2 * 8'000);
    EXPECT_GT(kept.kept, 8 * 8'000);
    const Outcome twice =
        outcome_of([&](const Tensor& x) { return plain(plain(x)); }, w);
    const Outcome inside = outcome_of(nested, w);
    EXPECT_EQ(inside.value, twice.value);
    EXPECT_EQ(inside.by_x, twice.by_x);
    EXPECT_EQ(inside.by_w, twice.by_w);
    EXPECT_LT(inside.kept, 2 * 8'000);
  }
  EXPECT_EQ(live(), before);  // nothing is left over
}

TEST(FourSystemsTest, CheapOpsAloneAreComputedAgainOnRequest_B9) {
  const Tensor w = requires_grad_(full({40, 40}, 0.01, f64));
  const auto network = [&](const Tensor& x) {
    const Tensor wide = reshape(x, {25, 40});
    return reshape(tanh(exp(tanh(matmul(wide, w)))), {1000});
  };
  const Outcome all = outcome_of(network, w);
  const Outcome some =
      outcome_of(rematerialise(network, {.keep = Keep::kComputeBound}), w);
  EXPECT_EQ(some.by_w, all.by_w);
  EXPECT_LT(some.kept, all.kept);
}

const void* place_of(const Tensor& x) {
  return x.values<double>().data();
}

TEST(FourSystemsTest, ATemporaryMayBeTakenOver_B10) {
  Tensor x = row({1, 2, 3});
  const void* place = place_of(x);
  const Tensor y = exp(std::move(x));
  EXPECT_EQ(place_of(y), place);
}

TEST(FourSystemsTest, ANamedVariableNever_B10) {
  const Tensor x = row({1, 2, 3});
  const Tensor y = exp(x);
  EXPECT_NE(place_of(y), place_of(x));
  EXPECT_THAT(numbers(x), ElementsAre(1, 2, 3));
}

TEST(FourSystemsTest, NorATemporaryThatSomeoneElseHolds_B10) {
  Tensor x = row({1, 2, 3});
  const Tensor also = x;
  const Tensor y = exp(std::move(x));
  EXPECT_THAT(numbers(also), ElementsAre(1, 2, 3));
  const Tensor w = leaf({1, 2, 3});
  Tensor residual = exp(w);  // its vjp reads it
  const Tensor twice = neg(std::move(residual));
  backward(sum(twice));
  EXPECT_DOUBLE_EQ(w.grad().at({2}), -std::exp(3.0));
}

}  // namespace
}  // namespace neap::four_systems
