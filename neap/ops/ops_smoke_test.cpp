// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Every op once: its derivative by reverse and by forward mode against central
// differences in f64, and the same of its derivative.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/autograd/jvp.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/activation/activations.hpp"
#include "neap/ops/activation/relu.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/assign.hpp"
#include "neap/ops/elementwise/cast.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/elementwise/dropout.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/elementwise/extremes.hpp"
#include "neap/ops/elementwise/where.hpp"
#include "neap/ops/indexing/embedding.hpp"
#include "neap/ops/linalg/linear.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/loss/cross_entropy.hpp"
#include "neap/ops/loss/losses.hpp"
#include "neap/ops/norm/softmax.hpp"
#include "neap/ops/op_list.hpp"
#include "neap/ops/operators.hpp"
#include "neap/ops/reduction/extremes.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/slice.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

using Inputs = std::span<const Tensor>;
using Function = std::function<Tensor(Inputs)>;

struct Case {
  const char* name;
  std::vector<Shape> shapes;
  Function f;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

Tensor labels() {
  return from_values({2, 0, 1}, {3}, i64);
}

const Shape s{3, 4};  // of most inputs

// Twice differentiable wherever the inputs of make_inputs() lie.
std::vector<Case> elementwise_cases() {
  return {
      {"add", {s, {4}}, [](Inputs x) { return x[0] + x[1]; }},
      {"sub", {{3, 1}, s}, [](Inputs x) { return x[0] - x[1]; }},
      {"sub_number", {s}, [](Inputs x) { return 2.0 - x[0]; }},
      {"mul", {s, {3, 1}}, [](Inputs x) { return x[0] * x[1]; }},
      {"div", {{}, s}, [](Inputs x) { return x[0] / x[1]; }},
      {"div_wide", {s, {4}}, [](Inputs x) { return x[0] / x[1]; }},
      {"maximum", {s, {4}}, [](Inputs x) { return maximum(x[0], x[1]); }},
      {"minimum", {{4}, s}, [](Inputs x) { return minimum(x[0], x[1]); }},
      {"neg", {s}, [](Inputs x) { return -x[0]; }},
      {"abs", {s}, [](Inputs x) { return abs(x[0] - 1.0); }},
      {"exp", {s}, [](Inputs x) { return exp(x[0]); }},
      {"log", {s}, [](Inputs x) { return log(x[0]); }},
      {"sqrt", {s}, [](Inputs x) { return sqrt(x[0]); }},
      {"square", {s}, [](Inputs x) { return square(x[0]); }},
      {"reciprocal", {s}, [](Inputs x) { return reciprocal(x[0]); }},
      {"relu", {s}, [](Inputs x) { return relu(x[0] - 1.0); }},
      {"tanh", {s}, [](Inputs x) { return tanh(x[0]); }},
      {"sigmoid", {s}, [](Inputs x) { return sigmoid(x[0]); }},
      {"where",
       {s, {4}},
       [](Inputs x) { return where(x[0].detach() > 1.0, x[0], x[1]); }},
      {"where_number",
       {s},
       [](Inputs x) { return where(x[0].detach() > 1.0, 3.0, x[0]); }},
      {"cast", {s}, [](Inputs x) { return cast(cast(x[0], f64), f64); }},
      {"copy", {s}, [](Inputs x) { return copy(transpose(x[0])); }},
  };
}

std::vector<Case> layout_cases() {
  return {
      {"sum", {s}, [](Inputs x) { return sum(x[0]); }},
      {"sum_axis", {s}, [](Inputs x) { return sum(x[0], {-1}); }},
      {"mean_keep", {s}, [](Inputs x) { return mean(x[0], {0}, true); }},
      {"amax", {s}, [](Inputs x) { return amax(x[0], {1}); }},
      {"sum_of_squares", {s}, [](Inputs x) { return sum_of_squares(x[0]); }},
      {"reshape",
       {s},
       [](Inputs x) {
         return reshape(x[0], {2, -1});
       }},
      {"reshape_copy",
       {s},
       [](Inputs x) {
         return reshape(transpose(x[0]), {6, 2});
       }},
      {"permute",
       {{2, 3, 4}},
       [](Inputs x) {
         return permute(x[0], {2, 0, 1});
       }},
      {"expand",
       {{3, 1}},
       [](Inputs x) {
         return expand(x[0], {2, 3, 4});
       }},
      {"slice", {s}, [](Inputs x) { return slice(x[0], 1, 0, kEnd, 2); }},
      {"slice_empty", {s}, [](Inputs x) { return slice(x[0], 1, 2, 2); }},
      {"select", {s}, [](Inputs x) { return select(x[0], 0, -1); }},
      {"flatten", {s}, [](Inputs x) { return flatten(unsqueeze(x[0], 1)); }},
  };
}

std::vector<Case> product_cases() {
  return {
      {"matmul",
       {{2, 3, 4}, {4, 5}},
       [](Inputs x) { return matmul(x[0], x[1]); }},
      {"matmul_row",
       {{4}, {4, 2}},
       [](Inputs x) { return matmul(x[0], x[1]); }},
      {"matmul_inner", {{4}, {4}}, [](Inputs x) { return matmul(x[0], x[1]); }},
      {"linear",
       {{2, 3, 4}, {5, 4}, {5}},
       [](Inputs x) { return linear(x[0], x[1], x[2]); }},
      {"linear_plain",
       {s, {2, 4}},
       [](Inputs x) { return linear(x[0], x[1]); }},
      {"dropout",
       {s},
       [](Inputs x) {
         Generator fixed(3);
         const UseGenerator use(fixed);
         return dropout(x[0], 0.4);
       }},
      {"log_softmax", {s}, [](Inputs x) { return log_softmax(x[0], 0); }},
      {"softmax", {s}, [](Inputs x) { return softmax(x[0]); }},
      {"cross_entropy",
       {s},
       [](Inputs x) { return cross_entropy(x[0], labels()); }},
      {"nll_loss",
       {s},
       [](Inputs x) { return nll_loss(log_softmax(x[0]), labels()); }},
      {"mse_loss", {s, s}, [](Inputs x) { return mse_loss(x[0], x[1]); }},
      {"rank_0", {{}, {}}, [](Inputs x) { return x[0] * exp(x[1]); }},
      {"no_elements", {{0, 3}, {3}}, [](Inputs x) { return x[0] * x[1]; }},
      {"no_rows",
       {{0, 3}, {2, 3}, {2}},
       [](Inputs x) { return linear(x[0], x[1], x[2]); }},
  };
}

std::vector<Case> cases() {
  std::vector<Case> all = elementwise_cases();
  for (auto* more : {layout_cases, product_cases}) {
    for (Case& c : more()) {
      all.push_back(std::move(c));
    }
  }
  return all;
}

// Positive, all different, at least 0.02 apart from each other and from 1.
std::vector<Tensor> make_inputs(const Case& c, int from = 0) {
  std::vector<Tensor> out;
  int n = from;
  for (const Shape& shape : c.shapes) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < shape.element_count(); ++i) {
      ++n;
      values.push_back(0.33 + 0.02 * ((n * 37) % 67) + 0.0003 * n);
    }
    out.push_back(from_values(values, shape, f64));
  }
  return out;
}

// A scalar of f in which every element counts differently.
Tensor weighted(const Function& f, Inputs x) {
  const Tensor y = f(x);
  Tensor weights = arange(y.element_count(), f64) * 0.1 + 0.3;
  return sum(y * reshape(weights, y.shape()));
}

double dot(Inputs a, Inputs b) {
  double total = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    total += sum(a[i] * b[i]).item();
  }
  return total;
}

// The derivative of a scalar function in the direction v, by differences.
double difference(const std::function<double(Inputs)>& f, Inputs x, Inputs v) {
  constexpr double kStep = 1e-5;
  const auto at = [&](double step) {
    std::vector<Tensor> moved;
    for (std::size_t i = 0; i < x.size(); ++i) {
      moved.push_back(x[i].detach() + v[i] * step);
    }
    return f(moved);
  };
  return (at(kStep) - at(-kStep)) / (2 * kStep);
}

std::vector<Tensor> tracked(Inputs x) {
  std::vector<Tensor> out;
  for (const Tensor& tensor : x) {
    out.push_back(requires_grad_(copy(tensor.detach())));
  }
  return out;
}

GradOptions options(bool create_graph) {
  GradOptions out;
  out.create_graph = create_graph;
  out.unused = GradOptions::Unused::kZeros;
  return out;
}

Gradients gradient(const Tensor& y, Inputs x, bool create_graph) {
  return grad(std::span(&y, 1), x, options(create_graph));
}

// <gradient of weighted(f), v>, itself differentiable.
Tensor slope(const Function& f, Inputs x, Inputs v) {
  const Gradients g = gradient(weighted(f, x), x, true);
  Tensor total = scalar(0.0, f64);
  for (std::size_t i = 0; i < g.size(); ++i) {
    total = total + sum(g[i] * v[i]);
  }
  return total;
}

class OpsSmokeTest : public ::testing::TestWithParam<Case> {
 protected:
  const Function& f() const { return GetParam().f; }
  std::vector<Tensor> x_ = make_inputs(GetParam());
  std::vector<Tensor> v_ = make_inputs(GetParam(), 100);
  std::function<double(Inputs)> value_ = [this](Inputs x) {
    return weighted(f(), x).item();
  };
};

TEST_P(OpsSmokeTest, ReverseModeAgreesWithDifferences) {
  const std::vector<Tensor> x = tracked(x_);
  const double got = dot(gradient(weighted(f(), x), x, false), v_);
  const double wanted = difference(value_, x_, v_);
  EXPECT_NEAR(got, wanted, 1e-6 * (1 + std::abs(wanted)));
}

TEST_P(OpsSmokeTest, ForwardModeAgreesWithDifferences) {
  const JvpResult got =
      jvp([this](Inputs x) { return weighted(f(), x); }, x_, v_);
  const double wanted = difference(value_, x_, v_);
  EXPECT_NEAR(got.tangent.item(), wanted, 1e-6 * (1 + std::abs(wanted)));
}

TEST_P(OpsSmokeTest, SecondDerivativeAgreesWithDifferences) {
  const auto slope_at = [this](Inputs x) {
    const std::vector<Tensor> leaves = tracked(x);
    return slope(f(), leaves, v_).item();
  };
  const std::vector<Tensor> x = tracked(x_);
  const Tensor once = slope(f(), x, v_);
  const double wanted = difference(slope_at, x_, v_);
  double got = 0.0;
  if (once.requires_grad()) {
    got = dot(gradient(once, x, false), v_);
  }
  EXPECT_NEAR(got, wanted, 1e-5 * (1 + std::abs(wanted)));
}

TEST_P(OpsSmokeTest, ForwardOverReverseAgreesWithDifferences) {
  const auto slope_of = [this](Inputs x) {
    std::vector<Tensor> leaves;
    for (const Tensor& tensor : x) {
      leaves.push_back(requires_grad_(tensor));
    }
    return slope(f(), leaves, v_);
  };
  const std::vector<Tensor> x = tracked(x_);
  const double wanted = difference(
      [&](Inputs at) { return slope_of(tracked(at)).item(); }, x_, v_);
  const double got = jvp(slope_of, x, v_).tangent.item();
  EXPECT_NEAR(got, wanted, 1e-5 * (1 + std::abs(wanted)));
}

std::string name_of_case(const ::testing::TestParamInfo<Case>& tested) {
  return tested.param.name;
}

INSTANTIATE_TEST_SUITE_P(Each, OpsSmokeTest, ::testing::ValuesIn(cases()),
                         name_of_case);

TEST(OpsTest, ComparesAndCounts) {
  const Tensor x = from_values({1, 2, 3}, {3});
  EXPECT_THAT((x < 2.0).to_vector(), testing::ElementsAre(1, 0, 0));
  EXPECT_THAT(eq(x, 2).to_vector(), testing::ElementsAre(0, 1, 0));
  EXPECT_EQ(logical_not(ne(x, 2)).to_vector(), eq(x, 2).to_vector());
  EXPECT_EQ(sum(x >= 2).item(), 2.0);
  EXPECT_EQ(argmax(x, 0).item(), 2.0);
  EXPECT_THAT(one_hot(from_values({1}, {1}, i64), 3).to_vector(),
              testing::ElementsAre(0, 1, 0));
}

TEST(OpsTest, EqualOperandsShareTheDerivative) {
  const Tensor x = requires_grad_(from_values({1, 1, 0}, {3}, f64));
  backward(amax(x));
  EXPECT_THAT(x.grad().to_vector(), testing::ElementsAre(0.5, 0.5, 0));
  const Tensor y = requires_grad_(from_values({1}, {1}, f64));
  backward(maximum(y, 1.0));
  EXPECT_EQ(y.grad().item(), 0.5);
}

TEST(OpsTest, DropoutThatFailsTakesNoDraw) {
  Generator source(5);
  const UseGenerator use(source);
  EXPECT_THROW(dropout(ones({2}, i32), 0.5), DTypeError);
  EXPECT_THROW(dropout(ones({2}), 1.0), ValueError);
  EXPECT_EQ(source.state().draw, 0U);
  dropout(ones({2}), 0.5);
  EXPECT_EQ(source.state().draw, 1U);
}

TEST(OpsTest, RefusesLabelsOutOfRange) {
  const Tensor bad = from_values({0, 4, 1}, {3}, i64);
  EXPECT_THROW(cross_entropy(zeros({3, 4}), bad), ValueError);
  EXPECT_THROW(one_hot(bad, 4), ValueError);
}

template <class T>
concept TakenByOpsOfOneTensor = requires(T x) {
  exp(x);
  reshape(x, {1});
  sum(x, {0});
};
static_assert(TakenByOpsOfOneTensor<Tensor>);
static_assert(TakenByOpsOfOneTensor<Operand>);
static_assert(!TakenByOpsOfOneTensor<int>);
static_assert(!TakenByOpsOfOneTensor<double>);

TEST(OpsTest, RefusesPlainNumbersAlone) {
  EXPECT_THROW(add(1, 2), DTypeError);
  EXPECT_THROW(relu(Operand(1)), DTypeError);
  EXPECT_THROW(reshape(Operand(1), {1}), DTypeError);
}

TEST(OpsTest, TakesOverATemporary) {
  Tensor x = ones({64});
  const void* elements = x.values<float>().data();
  const Tensor kept = relu(x);
  EXPECT_NE(kept.values<float>().data(), elements);
  const Tensor taken = relu(std::move(x));
  EXPECT_EQ(taken.values<float>().data(), elements);
}

TEST(AssignTest, WritesThroughViewsAndOverlaps) {
  const Tensor x = arange(4, f64);
  copy_(slice(x, 0, 1), slice(x, 0, 0, 3));
  EXPECT_THAT(x.to_vector(), testing::ElementsAre(0, 0, 1, 2));
  fill_(slice(x, 0, 0, kEnd, 2), 7);
  EXPECT_THAT(x.to_vector(), testing::ElementsAre(7, 0, 7, 2));
  EXPECT_THROW(fill_(expand(x, {2, 4}), 1), ShapeError);
}

TEST(AssignTest, RefusesWhatAGraphRecords) {
  const Tensor x = requires_grad_(ones({2}));
  EXPECT_THROW(fill_(x, 1), GraphError);
  const Tensor y = x * 2;
  const Tensor view = slice(y, 0, 0, 1);
  const NoGrad guard;
  EXPECT_THROW(fill_(y, 1), GraphError);
  EXPECT_THROW(copy_(view, ones({1})), GraphError);
}

TEST(AssignTest, BackwardRefusesOverwrittenValues) {
  const Tensor x = requires_grad_(ones({2}));
  const Tensor y = sum(x * x);
  {
    const NoGrad guard;
    fill_(x, 3);
  }
  EXPECT_THROW(backward(y), GraphError);
}

TEST(OpListTest, IsAlphabeticalAndComplete) {
  const auto all = ops::all_ops();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const graph::Op& op = *all[i];
    EXPECT_NE(op.infer, nullptr) << op.name;
    EXPECT_EQ((op.kernel != nullptr) + (op.view != nullptr) + op.transfer, 1)
        << op.name;
    EXPECT_EQ(op.vjp == nullptr, op.jvp == nullptr) << op.name;
    EXPECT_TRUE(i == 0 || all[i - 1]->name < op.name) << op.name;
  }
}

}  // namespace
}  // namespace neap
