// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// backward() into some tensors alone.
#include <gtest/gtest.h>

#include "neap/autograd/backward.hpp"
#include "neap/autograd/rematerialise.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/graph/lifetime.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

// Every test runs in a domain of its own and ends with nothing live.
class BackwardInputsTest : public testing::Test {
 protected:
  ~BackwardInputsTest() override { EXPECT_EQ(domain_->stats().live, 0); }
  static Tensor leaf(double value) {
    return requires_grad_(scalar(value, f64));
  }
  Domain::Handle domain_ = Domain::create();
  UseDomain use_{*domain_};
};

TEST_F(BackwardInputsTest, AddsToTheseLeavesAlone) {
  const Tensor x = leaf(3.0);
  const Tensor y = leaf(5.0);
  int calls = 0;
  const HookHandle hook = register_hook(y, [&](const Tensor& g) {
    ++calls;
    return g;
  });
  backward(mul(x, y), {x});
  backward(mul(x, y), {x});
  EXPECT_EQ(x.grad().item(), 10.0);
  EXPECT_FALSE(y.grad().defined());
  EXPECT_EQ(calls, 0);
}

TEST_F(BackwardInputsTest, AddsOnceToAnInputThatIsGivenTwice) {
  const Tensor x = leaf(3.0);
  backward(mul(x, x), {x, x});
  EXPECT_EQ(x.grad().item(), 6.0);
}

TEST_F(BackwardInputsTest, TakesInputsAmongTheOptions) {
  const Tensor x = leaf(3.0);
  const Tensor y = leaf(5.0);
  const Tensor inputs[] = {y};
  const Tensor cotangent = scalar(2.0, f64);
  backward(mul(x, y), {.cotangent = cotangent, .inputs = inputs});
  EXPECT_FALSE(x.grad().defined());
  EXPECT_EQ(y.grad().item(), 6.0);
}

TEST_F(BackwardInputsTest, StopsAtAResultThatRetainsItsGradient) {
  const Tensor x = leaf(3.0);
  const Tensor h = mul(x, x);
  retain_grad(h);
  backward(mul(h, 4.0), {h});
  EXPECT_EQ(h.grad().item(), 4.0);
  EXPECT_FALSE(x.grad().defined());
  backward(h);  // what lies below was not consumed
  EXPECT_EQ(x.grad().item(), 6.0);
}

TEST_F(BackwardInputsTest, LeavesOtherRetainedGradientsAlone) {
  const Tensor x = leaf(3.0);
  const Tensor h = mul(x, x);
  retain_grad(h);
  backward(mul(h, 4.0), {x});
  EXPECT_EQ(x.grad().item(), 24.0);
  EXPECT_FALSE(h.grad().defined());
}

TEST_F(BackwardInputsTest, RecordsTheDerivativeForAnother) {
  const Tensor x = leaf(3.0);
  const Tensor y = leaf(2.0);
  backward(mul(mul(x, x), y), {x}, {.create_graph = true});
  const Tensor first = x.grad();
  EXPECT_EQ(first.item(), 12.0);
  backward(first, {y});
  EXPECT_EQ(y.grad().item(), 6.0);
  set_grad(x, {});
}

TEST_F(BackwardInputsTest, RefusesWhatHasNoPlaceForAGradient) {
  const Tensor x = leaf(3.0);
  const Tensor frozen = leaf(2.0);
  const Tensor h = mul(x, frozen);
  const Tensor loss = mul(h, 4.0);
  requires_grad_(frozen, false);
  EXPECT_THROW(backward(loss, {scalar(1.0, f64)}), GraphError);
  EXPECT_THROW(backward(loss, {frozen}), GraphError);
  EXPECT_THROW(backward(loss, {x, h}), GraphError);       // not retained
  EXPECT_THROW(backward(loss, {leaf(1.0)}), GraphError);  // not used
  EXPECT_THROW(backward(loss, {Tensor()}), UseAfterRelease);
  EXPECT_THROW(backward(loss, {}), ValueError);
  EXPECT_FALSE(x.grad().defined());
  backward(loss, {x});  // nothing was consumed
  EXPECT_EQ(x.grad().item(), 8.0);
}

}  // namespace
}  // namespace neap
