// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rows D3, D8 to D10 and D15: the graph that an array carries, looked
// at, released on purpose, and extended by operations of the user's own.
#include <array>
#include <memory>

#include "support.hpp"

namespace neap::four_systems {
namespace {

TEST(FourSystemsTest, RetainGradKeepsTheGradientOfAnIntermediate_D3) {
  const Tensor x = leaf({2});
  const Tensor inner = square(x);
  retain_grad(inner);
  backward(exp(inner));
  EXPECT_DOUBLE_EQ(inner.grad().item(), std::exp(4.0));
  EXPECT_DOUBLE_EQ(x.grad().item(), std::exp(4.0) * 4);
}

TEST(FourSystemsTest, ReleaseFreesWhatOnlyItNeeded_D8) {
  const Tensor x = requires_grad_(full({1000}, 0.5, f64));
  backward(sum(x));
  const Tensor shared = square(x);
  const Tensor other = sin(shared);
  const Bytes before = live();
  const Tensor t = sum(exp(tanh(shared)));
  const double value = t.item();
  EXPECT_GT(live() - before, 16'000);
  graph::release(t);
  const int line = __LINE__ - 1;
  EXPECT_LT(live() - before, 1'000);
  EXPECT_EQ(t.item(), value);      // its value stays readable
  EXPECT_EQ(x.grad().at({0}), 1);  // a leaf's gradient stays
  EXPECT_THAT(refusal<GraphError>([&] { backward(t); }),
              HasSubstr("released at diffstruc_graph_test.cpp:" +
                        std::to_string(line)));
  backward(sum(other));  // what another live result needs stays
  EXPECT_DOUBLE_EQ(x.grad().at({0}), 1 + std::cos(0.25) * 1.0);
}

TEST(FourSystemsTest, ReleasingALeafOrTwiceIsNothing_D8) {
  const Tensor x = leaf({2});
  graph::release(x);
  graph::release(row({1}));
  const Tensor y = square(x);
  graph::release(y);
  graph::release(y);
  backward(square(x));
  EXPECT_EQ(x.grad().item(), 4);
}

TEST(FourSystemsTest, FunctionAndDerivativesAreReleasedInAnyOrder_D8) {
  constexpr std::array<std::array<int, 3>, 6> kOrders = {
      {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
  const Tensor x = leaf({2});
  const Bytes before = live();
  for (const auto& order : kOrders) {
    std::array<Tensor, 3> all;
    all[0] = pow(x, 4.0);
    all[1] = grad(all[0], {x}, {.create_graph = true})[0];
    all[2] = grad(all[1], {x}, {.create_graph = true})[0];
    for (const int i : order) {
      graph::release(all[static_cast<std::size_t>(i)]);
    }
    EXPECT_EQ(all[2].item(), 48);
    all = {};
    EXPECT_EQ(live(), before);
  }
}

TEST(FourSystemsTest, ReleasingOneResultNeverHarmsAnother_D9) {
  for (const bool first_goes : {true, false}) {
    const Tensor x = leaf({2});
    const Tensor shared = square(x);
    const Tensor sine = sin(shared);
    const Tensor cosine = cos(shared);
    graph::release(first_goes ? sine : cosine);
    backward(first_goes ? cosine : sine);
    EXPECT_DOUBLE_EQ(x.grad().item(),
                     (first_goes ? -std::sin(4.0) : std::cos(4.0)) * 4);
  }
}

TEST(FourSystemsTest, AHookThatHoldsNothingOfItsTensorGoesWithIt_D10) {
  const Bytes before = live();
  const auto counter = std::make_shared<int>(0);
  {
    const Tensor x = leaf({1});
    register_hook(x, [counter](const Tensor&) { ++*counter; });
    backward(square(x));
  }
  EXPECT_EQ(*counter, 1);
  EXPECT_EQ(counter.use_count(), 1);
  EXPECT_EQ(live(), before);
}

// y = a x^2, as a user would add it.
struct ScaledSquare {
  static constexpr std::string_view name = "scaled_square";
  static constexpr int inputs = 1;
  static constexpr bool dense = true;
  static constexpr CustomOp::Facts facts{.vjp_reads = {{{.inputs = 0b1}}}};
  double a = 1.0;

  void shape(CustomOp::Specs in, CustomOp::OutSpecs out) const {
    if (in[0].dtype != f64) {
      throw DTypeError("scaled_square: f64 is needed");
    }
    out[0] = in[0];
  }
  Bytes scratch(const CustomOp::Forward& c) const noexcept {
    return 8 * c.input(0).shape.element_count();
  }
  void forward(const CustomOp::Forward& c) const noexcept {
    const auto x = c.values<double>(0);
    const auto squares = c.scratch<double>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      squares[i] = x[i] * x[i];
      c.results<double>()[i] = a * squares[i];
    }
  }
  void vjp(CustomOp::Vjp& c) const {
    c.set(0, mul(c.take_cotangent(), 2.0 * a * c.input(0)));
  }
  void jvp(CustomOp::Jvp& c) const {
    c.set(0, mul(c.tangent(), 2.0 * a * c.input(0)));
  }
};

TEST(FourSystemsTest, ACustomOperationIsLikeAnyOther_D15) {
  const Bytes before = live();
  {
    const CustomOp scaled(ScaledSquare{.a = 3.0});
    EXPECT_GT(live(), before);  // its state is counted
    const Tensor x = leaf({1, 2});
    const Tensor y = scaled(x);
    EXPECT_THAT(numbers(y), ElementsAre(3, 12));
    const auto first = grad(sum(y), {x}, {.create_graph = true});
    EXPECT_THAT(numbers(first[0]), ElementsAre(6, 12));
    EXPECT_THAT(numbers(grad(sum(first[0]), {x})[0]), ElementsAre(6, 6));
    const auto [value, tangent] =
        jvp([&](std::span<const Tensor> at) { return scaled(at[0]); },
            std::array{row({1, 2})}, std::array{row({1, 10})});
    EXPECT_THAT(numbers(tangent), ElementsAre(6, 120));
    EXPECT_THROW(scaled(ones({2})), DTypeError);
  }
  EXPECT_EQ(live(), before);
}

}  // namespace
}  // namespace neap::four_systems
