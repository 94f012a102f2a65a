// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Plain numbers as arguments: the bits are those of the plain function that is
// given a C++ number.
#include <gtest/gtest.h>

#include <cmath>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/compile/trace_test.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

class CompileNumbersTest : public ::testing::TestWithParam<DType> {
 protected:
  static Tensor random(const Shape& shape) {
    Generator generator(3);
    const UseGenerator use(generator);
    return randn(shape, GetParam());
  }
};

// Plain descent on a weighted loss; a number is a double or a tensor.
struct Descent {
  Tensor w;

  template <class Number>
  Tensor operator()(const Tensor& x, const Number& weight,
                    const Number& lr) const {
    Tensor loss = sum(square(matmul(x, w))) * weight;
    backward(loss);
    {
      const NoGrad none;
      sub_(w, w.grad() * (lr * 0.3));
    }
    set_grad(w, {});
    return loss;
  }
};

TEST_P(CompileNumbersTest, AStepHasTheBitsOfDoubles) {
  const Descent plain{requires_grad_(random({4, 2}))};
  const Descent compiled{requires_grad_(random({4, 2}))};
  auto step =
      neap::compile([&](const Tensor& x, const Tensor& weight,
                        const Tensor& lr) { return compiled(x, weight, lr); });
  const Tensor x = random({8, 4});
  for (int i = 1; i <= 5; ++i) {
    const double weight = 0.1 * i;
    const double lr = 1e-3 / i;
    EXPECT_EQ(bits_of(step(x, weight, lr)), bits_of(plain(x, weight, lr)));
    EXPECT_EQ(bits_of(compiled.w), bits_of(plain.w)) << i;
  }
  EXPECT_EQ(step.traces(), 1);
}

TEST_P(CompileNumbersTest, EachUseConvertsAsEagerDoes) {
  const auto plain = [](const Tensor& x, const auto& a) {
    const Tensor more = where(x > a, x * a, a - x);
    return more / a;
  };
  auto step = neap::compile(
      [&](const Tensor& x, const Tensor& a) { return plain(x, a); });
  const Tensor x = random({17});
  for (const double a : {0.1, -1.0 / 3.0, 1e-30}) {
    EXPECT_EQ(bits_of(step(x, a)), bits_of(plain(x, a))) << a;
  }
}

TEST_P(CompileNumbersTest, AWriteTakesOneToo) {
  const Tensor one = random({3});
  const Tensor two = random({3});
  const auto plain = [&](const Tensor& x, double decay) {
    mul_(one, decay);
    add_(one, x);
  };
  auto step = neap::compile([&](const Tensor& x, const Tensor& decay) {
    mul_(two, decay);
    add_(two, x);
  });
  for (int i = 0; i < 3; ++i) {
    plain(random({3}), 0.9 + 0.01 * i);
    step(random({3}), 0.9 + 0.01 * i);
    EXPECT_EQ(bits_of(one), bits_of(two)) << i;
  }
  EXPECT_EQ(step.programs(), 1);
}

TEST_P(CompileNumbersTest, PrepareAsksForThem) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  auto step =
      neap::compile([](const Tensor& x, const Tensor& a) { return x * a; });
  const Tensor x = random({3});
  step.prepare({x.spec(), tensor::Spec{f64, {}}});
  const Bytes live = domain->stats().live;
  const std::int64_t requests = domain->requests();
  step(x, 0.5);
  EXPECT_EQ(domain->stats().live, live);
  EXPECT_EQ(domain->requests(), requests);
  EXPECT_EQ(step.traces(), 1);
}

INSTANTIATE_TEST_SUITE_P(DTypes, CompileNumbersTest,
                         ::testing::Values(f32, f64), [](const auto& which) {
                           return which.param == f32 ? "F32" : "F64";
                         });

TEST(CompileNumberTest, AnIntegerTensorTakesThemAsEagerDoes) {
  const Tensor x = full({3}, 7, i64);
  auto step =
      neap::compile([](const Tensor& in, const Tensor& a) { return in * a; });
  EXPECT_EQ(bits_of(step(x, 3)), bits_of(x * 3));
}

// A number that integers lack is refused whenever the step runs, not when it is
// traced.
TEST(CompileNumberTest, IntegersRefuseAFractionAsEagerDoes) {
  const Tensor x = full({3}, 7, i64);
  Tensor state = full({1}, 5, i64);
  auto step = neap::compile([&](const Tensor& in, const Tensor& a) {
    Tensor product = in * (a * 0.5);
    add_(state, a);
    copy_(state, a);
    return product;
  });
  EXPECT_EQ(bits_of(step(x, 2)), bits_of(x * 1));
  for (const double refused : {1.0, 5.0, 2.5, std::nan(""), 1e30}) {
    EXPECT_THROW(step(x, refused), DTypeError) << refused;
    EXPECT_EQ(state.item(), 2) << refused;
  }
  EXPECT_EQ(bits_of(step(x, 4)), bits_of(x * 2));
  EXPECT_EQ(step.programs(), 1);
}

TEST(CompileNumberTest, WhatIsRefusedOfTensorsIsRefused) {
  auto step = neap::compile([](const Tensor& x, const Tensor& y,
                               const Tensor& a) { return x * y * a; });
  const std::string message =
      message_of([&] { step(ones({2}), ones({2}, f64), 2.0); });
  EXPECT_NE(message.find("operands are f32 and f64"), std::string::npos)
      << message;
  EXPECT_EQ(step.programs(), 0);
  EXPECT_EQ(step(ones({2}, f64), ones({2}, f64), 2.0).dtype(), f64);
}

TEST(CompileNumberTest, InsideAnotherStepTheyAreOfTheTensorsDtype) {
  auto inner =
      neap::compile([](const Tensor& x, const Tensor& a) { return x * a; });
  auto outer = neap::compile([&](const Tensor& x) { return inner(x, 0.1); });
  const Tensor x = full({2}, 3.0, f64);
  EXPECT_EQ(bits_of(outer(x)), bits_of(x * 0.1));
}

}  // namespace
}  // namespace neap::compiler
