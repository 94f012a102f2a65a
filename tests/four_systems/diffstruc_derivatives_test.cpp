// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rows D4 to D7: what users of diffstruc differentiate, in both modes.
#include <array>
#include <cctype>
#include <cmath>
#include <functional>

#include "support.hpp"

namespace neap::four_systems {
namespace {

using Function = std::function<Tensor(std::span<const Tensor>)>;

double derivative(const Tensor& of, const Tensor& in) {
  return grad(of, {in}, {.retain_graph = true})[0].item();
}

// d of / d in, recorded.
Tensor recorded(const Tensor& of, const Tensor& in) {
  return grad(of, {in}, {.create_graph = true})[0];
}

TEST(FourSystemsTest, DerivativesOfAnyOrder_D4) {
  const Tensor x = leaf({2});
  Tensor f = pow(x, 5.0);
  for (const double expected : {80.0, 160.0, 240.0, 240.0, 120.0, 0.0}) {
    f = recorded(f, x);
    EXPECT_DOUBLE_EQ(f.item(), expected);
  }
}

TEST(FourSystemsTest, MixedPartialsInEitherOrder_D4) {
  const Tensor x = leaf({2});
  const Tensor y = leaf({3});
  const Tensor f = square(x) * pow(y, 3.0);
  EXPECT_DOUBLE_EQ(derivative(recorded(f, x), y), 6 * 2 * 9);
  EXPECT_DOUBLE_EQ(derivative(recorded(f, y), x), 6 * 2 * 9);
  EXPECT_DOUBLE_EQ(derivative(recorded(f, y), y), 6 * 4 * 3);
}

TEST(FourSystemsTest, ADirectionForEachInput_D4) {
  const std::array at = {row({1, 2}), row({3, 4})};
  const std::array along = {row({1, 0}), row({0, 1})};
  const Function f = [](std::span<const Tensor> x) { return x[0] * x[1]; };
  const auto [value, tangent] = jvp(f, at, along);
  EXPECT_THAT(numbers(value), ElementsAre(3, 8));
  EXPECT_THAT(numbers(tangent), ElementsAre(3, 2));
}

TEST(FourSystemsTest, ForwardOverReverse_D4) {
  // The Hessian of x^2 + x y + y^2 is [2 1; 1 2].
  const Function gradient = [](std::span<const Tensor> at) {
    const Tensor x = requires_grad_(at[0]);
    const Tensor first = select(x, 0, 0);
    const Tensor second = select(x, 0, 1);
    const Tensor f = square(first) + first * second + square(second);
    return grad(f, {x})[0];
  };
  const std::array at = {row({1, 1})};
  EXPECT_THAT(numbers(jvp(gradient, at, std::array{row({1, 0})}).tangent),
              ElementsAre(2, 1));
  EXPECT_THAT(numbers(jvp(gradient, at, std::array{row({0, 1})}).tangent),
              ElementsAre(1, 2));
}

TEST(FourSystemsTest, ForwardModeOfForwardModeOfForwardMode_D4) {
  const std::array one = {row({1})};
  const Function f = [](std::span<const Tensor> x) { return pow(x[0], 4.0); };
  const Function first = [&](std::span<const Tensor> x) {
    return jvp(f, x, one).tangent;
  };
  const Function second = [&](std::span<const Tensor> x) {
    return jvp(first, x, one).tangent;
  };
  EXPECT_DOUBLE_EQ(jvp(second, std::array{row({2})}, one).tangent.item(), 48);
}

// u(x; w) = w0 sin x + w1 x^3, whose second derivative is known.
TEST(FourSystemsTest, ReverseOverAForwardDerivative_D5) {
  const Tensor w = leaf({2, 3});
  const std::array at = {row({0.5, 1.5})};
  const std::array one = {row({1, 1})};
  const Function u = [&](std::span<const Tensor> x) {
    return select(w, 0, 0) * sin(x[0]) + select(w, 0, 1) * pow(x[0], 3.0);
  };
  const Function slope = [&](std::span<const Tensor> x) {
    return jvp(u, x, one).tangent;
  };
  const Tensor bend = jvp(slope, at, one).tangent;
  backward(sum(square(bend)));
  double by_w0 = 0;
  double by_w1 = 0;
  for (const double x : {0.5, 1.5}) {
    const double second = -2 * std::sin(x) + 3 * 6 * x;
    by_w0 += 2 * second * -std::sin(x);
    by_w1 += 2 * second * 6 * x;
  }
  EXPECT_THAT(numbers(w.grad()),
              ElementsAre(DoubleNear(by_w0, 1e-10), DoubleNear(by_w1, 1e-10)));
}

TEST(FourSystemsTest, ProductsWithTheHessianByForwardOverReverse_D4) {
  const auto f = [](const Tensor& x) { return sum(pow(x, 3.0)); };
  const HvpResult result = hvp(f, row({1, 2}), row({1, 10}));
  EXPECT_EQ(result.value.item(), 9);
  EXPECT_THAT(numbers(result.gradient), ElementsAre(3, 12));
  EXPECT_THAT(numbers(result.product), ElementsAre(6, 120));
}

TEST(FourSystemsTest, JacobiansInEitherModeAndHessians_D4) {
  const auto polar = [](const Tensor& p) {
    const Tensor r = select(p, 0, 0);
    const Tensor t = select(p, 0, 1);
    return stack({r * cos(t), r * sin(t), r * r});
  };
  const Tensor at = row({2, 0.5});
  const double c = std::cos(0.5);
  const double s = std::sin(0.5);
  for (const JacobianMode mode :
       {JacobianMode::kForward, JacobianMode::kReverse}) {
    const Tensor j = jacobian(polar, at, {.mode = mode});
    EXPECT_EQ(j.shape(), (Shape{3, 2}));
    EXPECT_THAT(numbers(j),
                Pointwise(DoubleNear(1e-14), {c, -2 * s, s, 2 * c, 4.0, 0.0}));
  }
  const auto f = [](const Tensor& x) {
    return sum(square(x)) + select(x, 0, 0) * select(x, 0, 1);
  };
  EXPECT_THAT(numbers(hessian(f, row({1, 1}))), ElementsAre(2, 1, 1, 2));
}

TEST(FourSystemsTest, MixedDerivativesAlongDirections_D4) {
  const auto f = [](const Tensor& x) {
    return square(select(x, 0, 0)) * pow(select(x, 0, 1), 3.0);
  };
  const Tensor at = row({2, 3});
  const Tensor by_x = row({1, 0});
  const Tensor by_y = row({0, 1});
  EXPECT_DOUBLE_EQ(directional_derivative(f, at, {by_x, by_y}).item(), 108);
  EXPECT_DOUBLE_EQ(directional_derivative(f, at, {by_y, by_x, by_y}).item(),
                   6 * 2 * 2 * 3);
}

TEST(FourSystemsTest, ReverseOverForwardOverReverse_D5) {
  // f = x^4: the gradient of (f')' is f'''.
  const Tensor at = leaf({2});
  const Function gradient = [](std::span<const Tensor> x) {
    const Tensor inner = x[0].requires_grad() ? x[0] : requires_grad_(x[0]);
    return grad(pow(inner, 4.0), {inner}, {.create_graph = true})[0];
  };
  const Tensor second =
      jvp(gradient, std::array{at}, std::array{row({1})}).tangent;
  EXPECT_DOUBLE_EQ(second.item(), 12 * 4);
  EXPECT_DOUBLE_EQ(grad(second, {at})[0].item(), 24 * 2);
}

TEST(FourSystemsTest, AValueSharedBySamplesGetsTheSumOfTheirGradients_D6) {
  const Tensor samples = reshape(arange(12, f64), {4, 3});
  const Tensor shared = leaf({1, 2, 3});
  backward(sum(samples * shared));
  EXPECT_THAT(numbers(shared.grad()), ElementsAre(18, 22, 26));
}

TEST(FourSystemsTest, AnyAxisCanBeShared_D6) {
  const Tensor x = reshape(arange(24, f64), {2, 3, 4});
  for (const Shape& shape :
       {Shape{2, 3, 4}, Shape{1, 3, 4}, Shape{2, 1, 4}, Shape{2, 3, 1},
        Shape{1, 3, 1}, Shape{2, 1, 1}, Shape{4}, Shape{3, 1}, Shape{}}) {
    const Tensor shared = requires_grad_(ones(shape, f64));
    backward(sum(x * shared));
    // The sum over the axes that were stretched, which sum() states directly.
    Tensor expected = x;
    while (expected.rank() > shape.rank()) {
      expected = sum(expected, {0});
    }
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (shape[axis] == 1) {
        expected = sum(expected, {axis}, true);
      }
    }
    EXPECT_EQ(shared.grad().shape(), shape);
    EXPECT_EQ(numbers(shared.grad()), numbers(expected)) << format_shape(shape);
  }
}

// An operation of diffstruc, as a function of two rows of four numbers.
struct Operation {
  const char* theirs;
  std::function<Tensor(const Tensor& a, const Tensor& b)> fn;
};

Tensor square_of(const Tensor& row) {
  return reshape(row, {2, 2});
}

Tensor some() {
  return from_values({1, 0, 1, 1}, {4}, boolean);
}

const std::vector<Operation>& elementwise() {
  static const std::vector<Operation> all = {
      {"a + b", [](auto& a, auto& b) { return a + b; }},
      {"a + 2", [](auto& a, auto&) { return a + 2.0; }},
      {"2 - a", [](auto& a, auto&) { return 2.0 - a; }},
      {"a - b", [](auto& a, auto& b) { return a - b; }},
      {"a * b", [](auto& a, auto& b) { return a * b; }},
      {"a * mask", [](auto& a, auto&) { return a * cast(some(), f64); }},
      {"a / b", [](auto& a, auto& b) { return a / b; }},
      {"2 / a", [](auto& a, auto&) { return 2.0 / a; }},
      {"a ** b", [](auto& a, auto& b) { return pow(a, b); }},
      {"a ** 3", [](auto& a, auto&) { return pow(a, 3.0); }},
      {"2 ** a", [](auto& a, auto&) { return pow(2.0, a); }},
      {"-a", [](auto& a, auto&) { return -a; }},
      {"exp", [](auto& a, auto&) { return exp(a); }},
      {"log", [](auto& a, auto&) { return log(a); }},
      {"log10", [](auto& a, auto&) { return log10(a); }},
      {"sqrt", [](auto& a, auto&) { return sqrt(a); }},
      {"abs", [](auto& a, auto& b) { return abs(a - b); }},
      {"sign", [](auto& a, auto& b) { return sign(a - b) * a; }},
      {"sigmoid", [](auto& a, auto&) { return sigmoid(a); }},
      {"gaussian(mu, sigma)",
       [](auto& a, auto& b) { return normal_pdf(a, b, 0.7); }},
      {"sin", [](auto& a, auto&) { return sin(a); }},
      {"cos", [](auto& a, auto&) { return cos(a); }},
      {"tan", [](auto& a, auto&) { return tan(a); }},
      {"tanh", [](auto& a, auto&) { return tanh(a); }},
  };
  return all;
}

const std::vector<Operation>& of_shapes() {
  static const std::vector<Operation> all = {
      {"matmul",
       [](auto& a, auto& b) { return matmul(square_of(a), square_of(b)); }},
      {"outer_product", [](auto& a, auto& b) { return outer(a, b); }},
      {"dot_product", [](auto& a, auto& b) { return dot(a, b); }},
      {"transpose",
       [](auto& a, auto& b) { return transpose(square_of(a)) * square_of(b); }},
      {"sum", [](auto& a, auto& b) { return sum(square_of(a * b), {0}); }},
      {"mean", [](auto& a, auto& b) { return mean(square_of(a * b), {1}); }},
      {"sum into a larger array",
       [](auto& a, auto& b) {
         return pad(sum(square_of(a), {0}), {1, 1}) * b;
       }},
      {"spread",
       [](auto& a, auto& b) {
         return expand(unsqueeze(a, 0), {4, 4}) * unsqueeze(b, 1);
       }},
      {"unspread", [](auto& a, auto& b) { return sum(outer(a, b), {1}); }},
      {"max", [](auto& a, auto& b) { return maximum(a, b); }},
      {"maxval", [](auto& a, auto& b) { return amax(square_of(a * b), {1}); }},
      {"concat",
       [](auto& a, auto& b) {
         return concat({a, a * b});
       }},
      {"slice_left", [](auto& a, auto&) { return slice(a, 0, 0, 2); }},
      {"slice_right", [](auto& a, auto&) { return slice(a, 0, 2); }},
      {"ltrim", [](auto& a, auto&) { return slice(a, 0, 1); }},
      {"rtrim", [](auto& a, auto&) { return slice(a, 0, 0, -1); }},
      {".index.",
       [](auto& a, auto&) {
         return index_select(a, 0, from_values({2, 0, 2}, {3}, i64));
       }},
      {"reverse_index",
       [](auto& a, auto& b) {
         return index_add(a, 0, from_values({3, 1, 1, 0}, {4}, i64), b);
       }},
      {"pack", [](auto& a, auto&) { return pack(a, some()); }},
      {"unpack",
       [](auto& a, auto& b) { return unpack(slice(a, 0, 1), some(), b); }},
      {"reshape", [](auto& a, auto& b) { return square_of(a) * square_of(b); }},
      {"merge", [](auto& a, auto& b) { return where(a < b, a, b * b); }},
  };
  return all;
}

std::vector<Operation> operations() {
  std::vector<Operation> all = elementwise();
  all.insert(all.end(), of_shapes().begin(), of_shapes().end());
  return all;
}

// Sum of the elements of y, each multiplied by a fixed number, so that every
// element counts.
Tensor mixed(const Tensor& y) {
  const Tensor weights = arange(y.element_count(), f64) * 0.3 + 0.7;
  return sum(flatten(y) * weights);
}

class D7Operations : public ::testing::TestWithParam<Operation> {
 protected:
  static Tensor at() { return row({0.6, 1.3, 0.9, 1.7}); }
  static Tensor beside() { return row({1.1, 0.8, 1.4, 0.5}); }
  Tensor value(const Tensor& a, const Tensor& b) const {
    return mixed(GetParam().fn(a, b));
  }
  // The derivative in a direction of both operands, by central differences.
  double by_differences(const Tensor& da, const Tensor& db) const {
    constexpr double kStep = 1e-6;
    const double ahead = value(at() + kStep * da, beside() + kStep * db).item();
    const double behind =
        value(at() - kStep * da, beside() - kStep * db).item();
    return (ahead - behind) / (2 * kStep);
  }
};

TEST_P(D7Operations, HaveBothDerivatives) {
  const Tensor da = row({0.2, -0.5, 1.0, 0.4});
  const Tensor db = row({-0.3, 0.6, 0.1, 0.9});
  const Tensor a = requires_grad_(at());
  const Tensor b = requires_grad_(beside());
  const std::array outputs = {value(a, b)};
  const std::array inputs = {a, b};
  const auto gradients =
      grad(outputs, inputs, {.unused = GradOptions::Unused::kZeros});
  const double by_vjp =
      dot(gradients[0], da).item() + dot(gradients[1], db).item();
  const Function f = [&](std::span<const Tensor> x) {
    return value(x[0], x[1]);
  };
  const double by_jvp =
      jvp(f, std::array{at(), beside()}, std::array{da, db}).tangent.item();
  const double expected = by_differences(da, db);
  EXPECT_NEAR(by_vjp, expected, 1e-7 * (1 + std::abs(expected)));
  EXPECT_NEAR(by_jvp, by_vjp, 1e-12 * (1 + std::abs(by_vjp)));
}

std::string name_of(const ::testing::TestParamInfo<Operation>& operation) {
  std::string name;
  for (const char c : std::string(operation.param.theirs)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      name += c;
    }
  }
  return name + "_" + std::to_string(operation.index);
}

INSTANTIATE_TEST_SUITE_P(FourSystemsTest, D7Operations,
                         ::testing::ValuesIn(operations()), name_of);

TEST(FourSystemsTest, ComparisonsGiveMasksWithoutADerivative_D7) {
  const Tensor a = leaf({1, 2, 3});
  const Tensor b = row({2, 2, 2});
  EXPECT_THAT(numbers(a < b), ElementsAre(1, 0, 0));
  EXPECT_THAT(numbers(a <= b), ElementsAre(1, 1, 0));
  EXPECT_THAT(numbers(a > b), ElementsAre(0, 0, 1));
  EXPECT_THAT(numbers(a >= b), ElementsAre(0, 1, 1));
  EXPECT_FALSE((a < b).requires_grad());
}

// The rules as the docstrings state them.
TEST(FourSystemsTest, TiesHaveAStatedRule_D7) {
  const Tensor a = leaf({1, 5, 5, 5});
  backward(amax(a));
  EXPECT_THAT(
      numbers(a.grad()),
      ElementsAre(0, DoubleEq(1.0 / 3), DoubleEq(1.0 / 3), DoubleEq(1.0 / 3)));
  const Tensor first = leaf({5, 1, 5});
  backward(sum(max(first, 0).values));
  EXPECT_THAT(numbers(first.grad()), ElementsAre(1, 0, 0));
  const Tensor x = leaf({2, 3});
  const Tensor y = leaf({2, 1});
  backward(sum(maximum(x, y)));
  EXPECT_THAT(numbers(x.grad()), ElementsAre(0.5, 1));
  EXPECT_THAT(numbers(y.grad()), ElementsAre(0.5, 0));
}

TEST(FourSystemsTest, KinksHaveAStatedRule_D7) {
  const Tensor x = leaf({-1, 0, 1});
  backward(sum(abs(x)));
  EXPECT_THAT(numbers(x.grad()), ElementsAre(-1, 0, 1));
  zero_grad(std::array{x});
  backward(sum(relu(x)));
  EXPECT_THAT(numbers(x.grad()), ElementsAre(0, 0, 1));
}

}  // namespace
}  // namespace neap::four_systems
