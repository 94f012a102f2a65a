// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/custom_op.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "neap/autograd/backward.hpp"
#include "neap/autograd/jvp.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/element.hpp"
#include "neap/tensor/generator.hpp"
#include "neap/testing/elementwise.hpp"
#include "neap/testing/fail_sweep.hpp"
#include "neap/testing/gtest.hpp"
#include "neap/threads/executor.hpp"

namespace neap {
namespace {

using testing::each;
using testing::expect_ok;
using testing::Inputs;
using testing::OpTable;
using testing::uniform;

using Forward = CustomOp::Forward;
using Jvp = CustomOp::Jvp;
using Specs = CustomOp::Specs;
using OutSpecs = CustomOp::OutSpecs;
using Vjp = CustomOp::Vjp;

// --- rules -----------------------------------------------------------------

// Any layout, both floating dtypes, a number as state.
struct Scaled {
  static constexpr std::string_view name = "scaled_square";
  static constexpr std::string_view formula = "y = a x^2";
  static constexpr int inputs = 1;
  static constexpr CustomOp::Facts facts{.vjp_reads = {{{.inputs = 0b1}}},
                                         .donates = 0b1};
  double a = 1.0;

  void shape(Specs in, OutSpecs out) const {
    if (!is_floating(in[0].dtype)) {
      throw DTypeError("scaled_square: expected f32 or f64");
    }
    out[0] = in[0];
  }
  void forward(const Forward& c) const noexcept {
    const auto& x = c.input(0);
    tensor::with_type(x.dtype, [&]<class T>(T*) {
      T* y = c.output(0).as<T>();
      tensor::for_each_offset(x.shape, x.strides, [&](std::int64_t at) {
        const double value = tensor::element_as_double(x, at);
        *y++ = tensor::to_element<T>(a * value * value);
      });
    });
  }
  void vjp(Vjp& c) const {
    c.set(0, mul(c.take_cotangent(), 2.0 * a * c.input(0)));
  }
  void jvp(Jvp& c) const { c.set(0, mul(c.tangent(), 2.0 * a * c.input(0))); }
};

// Dense operands, scratch, threads, and a vjp that reads what is wanted.
struct RunningProduct {
  static constexpr std::string_view name = "running_product";
  static constexpr int inputs = 2;
  static constexpr bool dense = true;
  static constexpr CustomOp::Facts facts{
      .vjp_reads = {{{.inputs = 0b10}, {.inputs = 0b01}}}};

  void shape(Specs in, OutSpecs out) const {
    if (in[0] != in[1]) {
      throw ShapeError("running_product: operands differ");
    }
    out[0] = in[0];
  }
  Bytes scratch(const Forward& c) const noexcept {
    return 8 * c.input(0).shape.element_count();
  }
  void forward(const Forward& c) const noexcept {
    if (c.input(0).dtype == f32) {
      multiply<float>(c);
    } else {
      multiply<double>(c);
    }
  }
  template <class T>
  void multiply(const Forward& c) const noexcept {
    const auto a = c.values<T>(0);
    const auto b = c.values<T>(1);
    const auto y = c.results<T>();
    const auto products = c.scratch<double>();
    threads::parallel_for(c.executor(), static_cast<std::int64_t>(a.size()), 2,
                          [&](std::int64_t begin, std::int64_t end) noexcept {
                            for (auto i = static_cast<std::size_t>(begin);
                                 i < static_cast<std::size_t>(end); ++i) {
                              products[i] = static_cast<double>(a[i]) *
                                            static_cast<double>(b[i]);
                              y[i] = static_cast<T>(products[i]);
                            }
                          });
  }
  void vjp(Vjp& c) const {
    if (c.needs(0)) {
      c.set(0, mul(c.cotangent(), c.input(1)));
    }
    if (c.needs(1)) {
      c.set(1, mul(c.cotangent(), c.input(0)));
    }
  }
  void jvp(Jvp& c) const {
    Tensor sum;
    if (c.tangent(0).defined()) {
      sum = mul(c.tangent(0), c.input(1));
    }
    if (c.tangent(1).defined()) {
      Tensor other = mul(c.input(0), c.tangent(1));
      sum = sum.defined() ? add(sum, other) : other;
    }
    c.set(0, sum);
  }
};

// Two results.
struct Squares {
  static constexpr std::string_view name = "two_squares";
  static constexpr int inputs = 1;
  static constexpr int outputs = 2;
  static constexpr bool dense = true;
  static constexpr CustomOp::Facts facts{.vjp_reads = {{{.inputs = 0b1}}}};

  void shape(Specs in, OutSpecs out) const { out[0] = out[1] = in[0]; }
  void forward(const Forward& c) const noexcept {
    for (std::size_t i = 0; i < c.values<double>(0).size(); ++i) {
      const double x = c.values<double>(0)[i];
      c.results<double>(0)[i] = x * x;
      c.results<double>(1)[i] = -x * x;
    }
  }
  void vjp(Vjp& c) const {
    Tensor d;
    if (c.cotangent(0).defined()) {
      d = c.cotangent(0);
    }
    if (c.cotangent(1).defined()) {
      const Tensor minus = neg(c.cotangent(1));
      d = d.defined() ? add(d, minus) : minus;
    }
    c.set(0, mul(d, 2.0 * c.input(0)));
  }
};

// A draw for each call.
struct Noise {
  static constexpr std::string_view name = "noise_sign";
  static constexpr bool dense = true;
  static constexpr CustomOp::Facts facts{.effect = CustomOp::Effect::kRandom};

  void shape(Specs in, OutSpecs out) const { out[0] = in[0]; }
  void forward(const Forward& c) const noexcept {
    const bool flips = (c.draw().block(0)[0] & 1U) != 0;
    for (std::size_t i = 0; i < c.values<double>(0).size(); ++i) {
      const double x = c.values<double>(0)[i];
      c.results<double>(0)[i] = flips ? -x : x;
    }
  }
  void vjp(Vjp& c) const {
    const bool flips = (c.draw().block(0)[0] & 1U) != 0;
    c.set(0, flips ? neg(c.take_cotangent()) : c.take_cotangent());
  }
};

// Neither derivative.
struct Plain {
  static constexpr std::string_view name = "plain";
  static constexpr bool dense = true;
  void shape(Specs in, OutSpecs out) const { out[0] = in[0]; }
  void forward(const Forward& c) const noexcept {
    std::copy(c.values<double>(0).begin(), c.values<double>(0).end(),
              c.results<double>(0).begin());
  }
};

// A vjp that a test gives.
struct Given : Plain {
  static constexpr std::string_view name = "given";
  static constexpr int inputs = 1;
  explicit Given(void (*made)(Vjp&)) : rule(made) {}
  void vjp(Vjp& c) const { rule(c); }
  void (*rule)(Vjp&);
};

// Holds a table.
struct Table : Plain {
  explicit Table(Tensor made) : table(std::move(made)) {}
  void vjp(Vjp& c) const { c.set(0, c.take_cotangent()); }
  Tensor table;
};

// Its vjp differentiates a graph of its own.
struct Cube : Plain {
  static constexpr CustomOp::Facts facts{.vjp_reads = {{{.inputs = 0b1}}}};
  void vjp(Vjp& c) const {
    const EnableGrad guard;
    const Tensor own = requires_grad_(c.input(0).detach());
    backward(mul(mul(own, own), own));
    c.set(0, mul(c.take_cotangent(), own.grad()));
  }
};

struct Undeclared : Plain {
  static constexpr std::string_view name = "undeclared";
  void jvp(Jvp& c) const { c.set(0, mul(c.tangent(), c.input(0))); }
};

struct Nameless : Plain {
  static constexpr std::string_view name{};
};

struct Many : Plain {
  static constexpr int outputs = 5;
};

// --- the harness -----------------------------------------------------------

TEST(CustomOpTest, PassesTheHarnessOfTheLibrarysOps) {
  const CustomOp op(Scaled{.a = 1.5});
  expect_ok(testing::check(
      OpTable{.name = "scaled_square",
              .op = &op.op(),
              .rows = {{.name = "plain",
                        .fn = [op](Inputs x) { return op(x[0]); },
                        .inputs = {uniform({3, 4}, -2, 2)},
                        .reference = each([](double x) { return 1.5 * x * x; }),
                        .zero_size = {{{0, 4}}}}},
              .errors = {{.name = "integers",
                          .fn = [op](Inputs x) { return op(x[0]); },
                          .inputs = {testing::integers({2}, 0, 5).as(i32)},
                          .error = typeid(DTypeError)},
                         {.name = "operands",
                          .fn = [op](Inputs x) { return op(x[0], x[0]); },
                          .inputs = {uniform({2}, 0, 1)},
                          .error = typeid(ValueError)},
                         {.name = "a number",
                          .fn = [op](Inputs /*x*/) { return op(1.0); },
                          .inputs = {uniform({2}, 0, 1)},
                          .error = typeid(DTypeError)}}}));
}

TEST(CustomOpTest, PassesTheHarnessWithScratchThreadsAndDenseOperands) {
  const CustomOp op(RunningProduct{});
  expect_ok(testing::check(OpTable{
      .name = "running_product",
      .op = &op.op(),
      .rows = {{.name = "plain",
                .fn = [op](Inputs x) { return op(x[0], x[1]); },
                .inputs = {uniform({3, 5}, -2, 2), uniform({3, 5}, -2, 2)},
                .reference = testing::each_pair(
                    [](double a, double b) { return a * b; }),
                .zero_size = {{{0, 5}, {0, 5}}}}}}));
}

// --- tests -----------------------------------------------------------------

class CustomOpStateTest : public ::testing::Test {
 protected:
  ~CustomOpStateTest() override { EXPECT_EQ(domain_->stats().live, 0); }
  Bytes live() const { return domain_->stats().live; }
  static Tensor leaf(double value) {
    return requires_grad_(scalar(value, f64));
  }
  Domain::Handle domain_ = Domain::create();
  UseDomain use_{*domain_};
};

template <class E, class F>
void expect_error(const F& f, std::string_view says) {
  try {
    f();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const E& error) {
    EXPECT_NE(std::string_view(error.what()).find(says), std::string_view::npos)
        << error.what();
  }
}

TEST_F(CustomOpStateTest, DifferentiatesToAnyOrder_D15) {
  const CustomOp op(Scaled{.a = 3.0});
  const Tensor x = leaf(2.0);
  const Tensor y = op(op(x));  // 27 x^4
  EXPECT_EQ(y.item(), 432.0);
  const auto first = grad(y, {x}, {.create_graph = true});
  EXPECT_EQ(first[0].item(), 864.0);
  const auto second = grad(first[0], {x});
  EXPECT_EQ(second[0].item(), 1296.0);
}

TEST_F(CustomOpStateTest, ReturnsSeveralResults) {
  const CustomOp op(Squares{});
  const Tensor x = leaf(3.0);
  const auto both = op.all({x});
  EXPECT_EQ(both[0].item(), 9.0);
  EXPECT_EQ(both[1].item(), -9.0);
  backward(add(mul(both[0], 5.0), both[1]));
  EXPECT_EQ(x.grad().item(), 24.0);
  expect_error<ValueError>([&] { op(x); }, "two_squares: gives 2 results");
}

TEST_F(CustomOpStateTest, TakesADrawACall) {
  const CustomOp op(Noise{});
  Generator generator(3);
  const UseGenerator use(generator);
  bool had_both[2] = {false, false};  // NOLINT(*-avoid-c-arrays)
  for (int i = 0; i < 20; ++i) {
    const Tensor x = leaf(2.0);
    const Tensor y = op(x);
    backward(y);
    EXPECT_EQ(x.grad().item(), y.item() / 2.0);
    had_both[y.item() > 0 ? 1 : 0] = true;
  }
  EXPECT_EQ(generator.state().draw, 20U);
  EXPECT_TRUE(had_both[0] && had_both[1]);
}

TEST_F(CustomOpStateTest, StateLivesAsLongAsTheOpOrANodeThatNeedsIt) {
  const Bytes before = live();
  Tensor y;
  {
    const Tensor x = leaf(2.0);
    const CustomOp op(Table(zeros({1000}, f64)));
    y = op(x);
  }
  EXPECT_GT(live(), before + 8000);
  backward(y, {.retain_graph = true});
  EXPECT_GT(live(), before + 8000);
  backward(y);
  EXPECT_LT(live(), before + 2000);
  // The retired node still knows its op's name.
  expect_error<GraphError>([&] { backward(y); }, "'plain'");
}

TEST_F(CustomOpStateTest, StateIsCountedWithOwnerAndCallSite) {
  const memory::OwnerId owner = domain_->owner("calibration");
  const memory::ContextGuard guard(
      [&](memory::Context& c) { c.owner = owner; });
  const CustomOp op(Scaled{});
  std::array<memory::Row, 32> rows;
  const int count = domain_->live_rows(rows);
  bool is_found = false;
  for (int i = 0; i < count; ++i) {
    const memory::Tag& tag = rows[static_cast<std::size_t>(i)].tag;
    is_found = is_found || (tag.owner == owner && tag.site.value != 0 &&
                            base::format_site(tag.site).find(
                                "custom_op_test.cpp") != std::string::npos);
  }
  EXPECT_TRUE(is_found);
}

TEST_F(CustomOpStateTest, CopiesShareOneState) {
  const CustomOp op(Table(zeros({1000}, f64)));
  const Bytes one = live();
  const CustomOp copy = op;  // NOLINT(performance-unnecessary-copy-init*)
  EXPECT_EQ(live(), one);
  EXPECT_EQ(&copy.op(), &op.op());
}

TEST_F(CustomOpStateTest, BackwardInsideAVjpWorks) {
  const CustomOp op(Cube{});
  const Tensor x = leaf(2.0);
  backward(mul(op(mul(x, 1.0)), 10.0));
  EXPECT_EQ(x.grad().item(), 120.0);
}

// Each op's state holds the result before it: their ends do not nest.
TEST_F(CustomOpStateTest, AChainThroughStatesEndsOnAConstantStack) {
  const Tensor x = leaf(1.0);
  Tensor y = x;
  for (int i = 0; i < 100'000; ++i) {
    y = CustomOp(Table(y))(y);
  }
  const Tensor z = CustomOp(Table(y))(x);
  y = Tensor();
  backward(z);
  EXPECT_EQ(x.grad().item(), 1.0);
}

TEST_F(CustomOpStateTest, ReportsAndErrorsNameAnOpThatIsGone) {
  const Tensor x = leaf(2.0);
  Tensor made;
  {
    const Tensor y = CustomOp(Table(zeros({10}, f64)))(x);
    made = mul(y, 2.0);
    const Tensor other = mul(y, 3.0);
    backward(other);  // consumes y's node, and so `made`'s is unavailable
  }
  expect_error<GraphError>([&] { backward(made); }, "'plain' recorded at");
}

TEST_F(CustomOpStateTest, WithoutADerivativeRuleItSaysSo) {
  const CustomOp op(Plain{});
  const Tensor x = leaf(2.0);
  expect_error<GraphError>([&] { backward(op(x)); },
                           "plain: its rule has no vjp");
  EXPECT_FALSE(x.grad().defined());
  expect_error<GraphError>(
      [&] {
        jvp([&](std::span<const Tensor> v) { return op(v[0]); },
            std::span(&x, 1), std::span(&x, 1));
      },
      "plain");
  const NoGrad guard;
  EXPECT_EQ(op(x).item(), 2.0);
}

TEST_F(CustomOpStateTest, ChecksWhatAVjpReturns) {
  const auto fails = [](void (*rule)(Vjp&)) {
    return [rule] {
      const Tensor x = requires_grad_(ones({2}, f64));
      const Tensor w = ones({2}, f64);
      const CustomOp op{Given(rule)};
      backward(op(x), {.cotangent = w});
    };
  };
  expect_error<ShapeError>(
      fails([](Vjp& c) { c.set(0, sum(c.take_cotangent())); }),
      "given: its rule gives the cotangent of input 0 the shape []");
  expect_error<DTypeError>(
      fails([](Vjp& c) { c.set(0, cast(c.cotangent(), f32)); }),
      "given: its rule gives the cotangent of input 0 as f32, expected f64");
  expect_error<ValueError>(fails([](Vjp& c) { c.set(1, c.take_cotangent()); }),
                           "given: its rule asks for input 1 of 1");
  expect_error<ValueError>(
      fails([](Vjp& c) {
        c.set(0, c.cotangent());
        c.set(0, c.cotangent());
      }),
      "given: its vjp gives the cotangent of input 0 twice");
  expect_error<GraphError>(
      fails([](Vjp& c) { c.set(0, mul(c.cotangent(), c.input(0))); }),
      "given: its vjp reads input 0, which its facts do not declare");
  expect_error<ValueError>(fails([](Vjp& c) { c.cotangent(1); }),
                           "given: its rule asks for output 1 of 1");
}

TEST_F(CustomOpStateTest, ChecksWhatAJvpReads) {
  const CustomOp op(Undeclared{});
  const Tensor x = scalar(2.0, f64);
  expect_error<GraphError>(
      [&] {
        jvp([&](std::span<const Tensor> v) { return op(v[0]); },
            std::span(&x, 1), std::span(&x, 1));
      },
      "undeclared: its jvp reads input 0, which its facts do not declare");
}

TEST_F(CustomOpStateTest, RefusesRulesThatMakeNoSense) {
  expect_error<ValueError>([] { CustomOp op(Nameless{}); }, "empty name");
  expect_error<ValueError>([] { CustomOp op(Many{}); }, "5 outputs");
}

TEST_F(CustomOpStateTest, SurvivesEveryFailedAllocation) {
  const auto result = testing::sweep_allocation_failures(*domain_, [] {
    const Tensor x = requires_grad_(ones({2, 3}, f64));
    const CustomOp op(RunningProduct{});
    backward(sum(op(transpose(x), transpose(x))));
  });
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.problems[0]);
  EXPECT_GT(result.failures, 10);
}

}  // namespace
}  // namespace neap
