// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Refusals of a rematerialised segment, and the state after a failure.
#include <stdexcept>

#include "neap/autograd/backward.hpp"
#include "neap/autograd/rematerialise_test.hpp"
#include "neap/ops/custom_op.hpp"
#include "neap/tensor/generator.hpp"

namespace neap {
namespace {

TEST_F(RematerialiseTest, RefusesWhatWasOverwrittenSince) {
  const Tensor w = leaf(2.0);
  const Tensor plain = scalar(7.0, f64);
  const Tensor x = leaf(3.0);
  const auto segment =
      rematerialise([&](const Tensor& in) { return mul(mul(in, w), plain); });
  for (const Tensor& changed : {x, w, plain}) {
    const Tensor y = segment(x);
    {
      const NoGrad guard;
      fill_(changed, 4.0);
    }
    EXPECT_THROW(backward(y), GraphError);
    EXPECT_FALSE(x.grad().defined());
    EXPECT_FALSE(w.grad().defined());
  }
}

TEST_F(RematerialiseTest, RefusesAFunctionThatDoesOtherThingsTheSecondTime) {
  const Tensor x = leaf(3.0);
  int runs = 0;
  const Tensor y = rematerialise([&runs](const Tensor& in) {
    return ++runs == 1 ? mul(in, in) : mul(mul(in, in), in);
  })(x);
  expect_error<GraphError>([&] { backward(y); }, "did other things");
  Tensor other = leaf(1.0);
  const Tensor z =
      rematerialise([&other](const Tensor& in) { return mul(in, other); })(x);
  other = leaf(1.0);
  expect_error<GraphError>([&] { backward(z); }, "did not use in its forward");
  EXPECT_FALSE(x.grad().defined());
}

TEST_F(RematerialiseTest, RefusesInnerValuesThatWereNotReturned) {
  const Tensor x = leaf(3.0);
  Tensor leaked;
  const Tensor y = rematerialise([&leaked](const Tensor& in) {
    leaked = mul(in, in);
    return mul(leaked, in);
  })(x);
  expect_error<GraphError>([&] { backward(mul(leaked, 2.0)); },
                           "inside a rematerialised segment");
}

struct Stateful {
  static constexpr std::string_view name = "stateful";
  static constexpr bool dense = true;
  static constexpr CustomOp::Facts facts{.effect = CustomOp::Effect::kStateful};
  void shape(CustomOp::Specs in, CustomOp::OutSpecs out) const {
    out[0] = in[0];
  }
  void forward(const CustomOp::Forward& c) const noexcept {
    c.results<double>()[0] = c.values<double>(0)[0];
  }
};

TEST_F(RematerialiseTest, RefusesStatefulOps) {
  const CustomOp op(Stateful{});
  const Tensor x = leaf(3.0);
  expect_error<GraphError>(
      [&] { rematerialise([&](const Tensor& in) { return op(in); })(x); },
      "'stateful' is stateful");
}

TEST_F(RematerialiseTest, AThrowLeavesEverythingUnchanged) {
  Generator generator(9);
  const UseGenerator use(generator);
  const Tensor x = requires_grad_(ones({100}, f64));
  int runs = 0;
  const auto segment = rematerialise([&runs](const Tensor& in) {
    const Tensor y = dropout(in, 0.5);
    if (++runs != 2) {
      throw std::runtime_error("no");
    }
    return mul(y, y);
  });
  const Bytes before = live();
  EXPECT_THROW(segment(x), std::runtime_error);
  EXPECT_EQ(live(), before);
  EXPECT_EQ(generator.state().draw, 0U);
  {
    const Tensor y = sum(segment(x));
    EXPECT_EQ(generator.state().draw, 1U);
    EXPECT_THROW(backward(y), std::runtime_error);
    EXPECT_FALSE(x.grad().defined());
  }
  EXPECT_EQ(live(), before);
}

}  // namespace
}  // namespace neap
