// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The harness is tested on an op of our own, cube, and on copies of it with one
// thing wrong each: every one must be reported, and for the right reason.
#include "neap/testing/op_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "neap/graph/rules.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/element.hpp"
#include "neap/testing/gtest.hpp"
#include "neap/threads/executor.hpp"

namespace neap::testing {
namespace {

using graph::JvpContext;
using graph::Op;
using graph::OpArgs;
using graph::VjpContext;
using kernels::Args;
using kernels::Kernel;
using kernels::KernelList;
using ::testing::Contains;
using ::testing::HasSubstr;

// --- cube, right ---

template <class T>
void cube_kernel(const Args& args) noexcept {
  const T* x = args.in[0].as<T>();
  T* y = args.out[0].as<T>();
  tensor::for_each_offset(
      args.in[0].shape, args.in[0].strides,
      [&](std::int64_t at) { *y++ = x[at] * x[at] * x[at]; });
}

constexpr std::array<Kernel, 2> kCubeKernels{
    {{"cube.f32", f32, cube_kernel<float>},
     {"cube.f64", f64, cube_kernel<double>}}};
const KernelList kCubeList{"cube", kCubeKernels};

void infer_cube(const OpArgs& args, std::span<tensor::Spec> out) {
  const DType dtype = args.inputs[0].dtype;
  if (dtype != f32 && dtype != f64) {
    throw DTypeError("cube: computes in f32 and f64");
  }
  out[0].dtype = dtype;
  out[0].shape = args.inputs[0].shape;
}

Tensor slope_of(const Tensor& x) {
  return mul(mul(x, x), 3.0);
}

const Op kCube{.name = "cube",
               .formula = "y = x^3",
               .infer = infer_cube,
               .kernel = &kCubeList,
               .vjp =
                   [](VjpContext& c) {
                     c.set(0, mul(c.cotangent(), slope_of(c.input(0))));
                   },
               .jvp =
                   [](JvpContext& c) {
                     c.set(0, mul(c.tangent(0), slope_of(c.input(0))));
                   },
               .facts = {.vjp_reads = {{{.inputs = 0b1}}}, .donates = 0b1}};

double cubed(double x) {
  return x * x * x;
}

OpTable table_for(const Op& op) {
  return {
      .name = "cube",
      .op = &op,
      .rows = {{.name = "plain",
                .fn = [&op](Inputs x) { return graph::apply(op, {x[0]}); },
                .inputs = {uniform({3, 4}, -2, 2)},
                .reference = each(cubed),
                .zero_size = {{{0, 4}}, {{3, 0}}}}},
      .errors = {{.name = "integers",
                  .fn = [&op](Inputs x) { return graph::apply(op, {x[0]}); },
                  .inputs = {integers({3}, 0, 5).as(i64)},
                  .error = typeid(DTypeError)}}};
}

// `op` is reported, with these words in one line.
void expect_reported(const OpTable& table, const char* words) {
  const Report report = check(table);
  EXPECT_FALSE(report.ok());
  EXPECT_THAT(report.failures, Contains(HasSubstr(words))) << report.text();
}

TEST(OpCheckTest, PassesAnOpThatIsRight) {
  const Report report = check(table_for(kCube));
  expect_ok(report);
}

TEST(OpCheckTest, MakesEveryKindOfCheck) {
  const Report report = check(table_for(kCube));
  for (const char* kind :
       {"call", "donation", "errors", "f32 derivative", "facts", "faults",
        "first derivative", "layouts", "second derivative", "second space",
        "threads", "value", "zero size"}) {
    EXPECT_TRUE(report.checks.contains(kind)) << kind;
  }
}

TEST(OpCheckTest, PassesACompositeWithTwoInputsThatBroadcast) {
  const OpTable table{
      .name = "x * y + x",
      .rows = {
          {.name = "broadcast",
           .fn = [](Inputs x) { return add(mul(x[0], x[1]), x[0]); },
           .inputs = {uniform({3, 1}, -2, 2), uniform({2, 1, 4}, -1, 1)},
           .reference = each_pair([](double a, double b) { return a * b + a; }),
           .shape = Shape{2, 3, 4},
           .zero_size = {{{0, 1}, {4}}}}}};
  expect_ok(check(table));
}

// --- values ---

TEST(OpCheckTest, ReportsAWrongValue) {
  OpTable table = table_for(kCube);
  table.rows[0].reference = each([](double x) { return x * x; });
  expect_reported(table, "value: result element 0");
}

TEST(OpCheckTest, ReportsAWrongShape) {
  OpTable table = table_for(kCube);
  table.rows[0].shape = Shape{4, 3};
  expect_reported(table, "result has shape [3, 4], expected [4, 3]");
}

template <class T>
void strideless_kernel(const Args& args) noexcept {
  const T* x = args.in[0].as<T>();
  T* y = args.out[0].as<T>();
  for (std::int64_t i = 0; i < args.out[0].shape.element_count(); ++i) {
    y[i] = x[i] * x[i] * x[i];
  }
}

TEST(OpCheckTest, ReportsAKernelThatIgnoresStrides) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "AddressSanitizer finds what this kernel reads by itself";
#endif
  static constexpr std::array<Kernel, 1> kKernels{
      {{"cube.f64", f64, strideless_kernel<double>}}};
  static const KernelList kList{"cube", kKernels};
  Op op = kCube;
  op.kernel = &kList;
  OpTable table = table_for(op);
  table.rows[0].dtypes = {f64};
  expect_reported(table, "layouts: transposed: value element");
}

void thread_kernel(const Args& args) noexcept {
  cube_kernel<double>(args);
  args.out[0].as<double>()[0] += args.executor->threads();
}

TEST(OpCheckTest, ReportsAKernelThatDependsOnTheThreadCount) {
  static constexpr std::array<Kernel, 1> kKernels{
      {{"cube.f64", f64, thread_kernel}}};
  static const KernelList kList{"cube", kKernels};
  Op op = kCube;
  op.kernel = &kList;
  OpTable table = table_for(op);
  table.rows[0].dtypes = {f64};
  table.rows[0].zero_size = {};
  expect_reported(table, "threads: 2 threads against 1");
}

// Writes a later element before it reads it: fine, unless y is x.
void shifted_kernel(const Args& args) noexcept {
  const std::int64_t n = args.out[0].shape.element_count();
  auto* y = args.out[0].as<double>();
  if (n > 0) {
    y[n - 1] = 0;
  }
  cube_kernel<double>(args);
}

TEST(OpCheckTest, ReportsAnInputThatCannotBeTakenOver) {
  static constexpr std::array<Kernel, 1> kKernels{
      {{"cube.f64", f64, shifted_kernel}}};
  static const KernelList kList{"cube", kKernels};
  Op op = kCube;
  op.kernel = &kList;
  OpTable table = table_for(op);
  table.rows[0].dtypes = {f64};
  expect_reported(table, "donation: donated input element 11");
}

// --- derivatives ---

TEST(OpCheckTest, ReportsAWrongSignInTheVjp) {
  Op op = kCube;
  op.vjp = [](VjpContext& c) {
    c.set(0, neg(mul(c.cotangent(), slope_of(c.input(0)))));
  };
  expect_reported(table_for(op), "vjp of input 0 along a direction");
}

TEST(OpCheckTest, ReportsAWrongJvp) {
  Op op = kCube;
  op.jvp = [](JvpContext& c) {
    c.set(0, mul(c.tangent(0), mul(c.input(0), c.input(0))));
  };
  expect_reported(table_for(op), "jvp of input 0 along a direction");
  expect_reported(table_for(op), "<jvp u, w> - <u, vjp w>");
}

TEST(OpCheckTest, ReportsAVjpThatCannotBeDifferentiated) {
  Op op = kCube;
  op.vjp = [](VjpContext& c) {
    c.set(0, mul(c.cotangent(), slope_of(c.input(0).detach())));
  };
  expect_reported(table_for(op),
                  "second derivative: derivative of the vjp by input 0");
}

TEST(OpCheckTest, ReportsAJvpThatCannotBeDifferentiated) {
  Op op = kCube;
  op.jvp = [](JvpContext& c) {
    c.set(0, mul(c.tangent(0), slope_of(c.input(0).detach())));
  };
  expect_reported(table_for(op), "second derivative, reverse over forward");
  expect_reported(table_for(op), "second derivative, forward twice");
}

TEST(OpCheckTest, ReportsAWrongSignInASecondOrderTerm) {
  // The slope at 2 a - x with a = x held: its value is right, its derivative
  // has the other sign.
  Op op = kCube;
  op.vjp = [](VjpContext& c) {
    const Tensor x = c.input(0);
    c.set(0, mul(c.cotangent(), slope_of(sub(mul(x.detach(), 2), x))));
  };
  expect_reported(table_for(op), "derivative of the vjp by input 0");
  expect_reported(table_for(op), "second derivative, reverse over forward");
}

TEST(OpCheckTest, ReportsAWrongThirdDerivative) {
  Op op = kCube;
  // 3 x^2 as 3 (2 x a - a^2) with a = x held: the first two derivatives are
  // right.
  const auto wrong = [](const Tensor& x) {
    const Tensor a = x.detach();
    return mul(sub(mul(mul(x, a), 2), mul(a, a)), 3);
  };
  static constexpr auto kSlope = wrong;
  op.vjp = [](VjpContext& c) {
    c.set(0, mul(c.cotangent(), kSlope(c.input(0))));
  };
  op.jvp = [](JvpContext& c) {
    c.set(0, mul(c.tangent(0), kSlope(c.input(0))));
  };
  expect_reported(table_for(op), "third derivative along a direction");
}

TEST(OpCheckTest, NamesARuleThatIsMissing) {
  Op op = kCube;
  op.vjp = nullptr;
  expect_reported(table_for(op), "row plain: the op has no vjp");
  op = kCube;
  op.jvp = nullptr;
  expect_reported(table_for(op), "row plain: the op has no jvp");
}

TEST(OpCheckTest, AcceptsAMissingRuleWhereTheRowSaysSo) {
  Op op = kCube;
  op.vjp = nullptr;
  op.jvp = nullptr;
  OpTable table = table_for(op);
  table.rows[0].differentiable = false;
  expect_ok(check(table));
}

TEST(OpCheckTest, ReportsAnotherDerivativeAtAKinkThanExpected) {
  OpTable table = table_for(kCube);
  table.rows[0].inputs = {literal({2}, {1, 2})};
  table.rows[0].reference = {};
  table.rows[0].expected = {1, 8};
  table.rows[0].zero_size = {};
  table.no_zero_size = "only these values";
  table.rows[0].expected_vjp = {{3, 12}};
  table.rows[0].expected_jvp = {3, 12};
  expect_ok(check(table));
  table.rows[0].expected_vjp = {{3, 0}};
  expect_reported(table, "expected derivative: cotangent of input 0 element 1");
}

// --- facts ---

TEST(OpCheckTest, ReportsAnUndeclaredRead) {
  Op op = kCube;
  op.facts.vjp_reads = {};
  expect_reported(table_for(op),
                  "its vjp reads input 0, which its facts do not declare");
}

TEST(OpCheckTest, ReportsAResidualKeptForNothing) {
  Op op = kCube;
  op.facts.vjp_reads[0].outputs = 0b1;
  expect_reported(table_for(op),
                  "reads output 0 for the cotangent of input 0, "
                  "but the cotangent never depends on it");
}

TEST(OpCheckTest, ReportsARowThatNeverCallsItsOp) {
  OpTable table = table_for(kCube);
  table.rows[0].fn = [](Inputs x) { return mul(mul(x[0], x[0]), x[0]); };
  expect_reported(table, "call: the row never calls 'cube'");
}

// --- state ---

TEST(OpCheckTest, ReportsATensorThatStays) {
  OpTable table = table_for(kCube);
  std::vector<Tensor> kept;
  table.rows[0].fn = [&](Inputs x) {
    Tensor y = graph::apply(kCube, {x[0]});
    if (kept.empty()) {
      kept.push_back(y);
    }
    return y;
  };
  expect_reported(table, "value: left ");
}

TEST(OpCheckTest, ReportsARowThatMixesSpaces) {
  OpTable table = table_for(kCube);
  table.rows[0].fn = [](Inputs x) {
    return mul(graph::apply(kCube, {x[0]}),
               ones({1}, x[0].dtype()));  // in host memory
  };
  expect_reported(table,
                  "second space: threw mul: operands lie in memory "
                  "spaces 1 and 0");
}

TEST(OpCheckTest, ReportsAnErrorOfAnotherType) {
  OpTable table = table_for(kCube);
  table.errors[0].error = typeid(ShapeError);
  expect_reported(table, "cube/integers errors: threw ");
}

TEST(OpCheckTest, ReportsAnErrorThatDoesNotCome) {
  OpTable table = table_for(kCube);
  table.errors[0].inputs = {uniform({3}, 0, 1)};
  expect_reported(table, "errors: did not throw");
}

TEST(OpCheckTest, ReportsAnErrorThatDoesNotNameTheOp) {
  OpTable table = table_for(kCube);
  table.errors[0].says = "sphere:";
  expect_reported(table, "expected \"sphere:\" in it");
}

TEST(OpCheckTest, ReportsAFailedCallThatUsedADrawUp) {
  OpTable table = table_for(kCube);
  table.errors[0].fn = [](Inputs x) {
    tensor::generator().advance();
    return graph::apply(kCube, {x[0]});
  };
  expect_reported(table, "the call that threw left a trace");
}

TEST(OpCheckTest, WantsAZeroSizeVariantOrTheReasonWhyNot) {
  OpTable table = table_for(kCube);
  table.rows[0].zero_size = {};
  expect_reported(table, "no row has a zero-size variant");
  table.no_zero_size = "needs an element";
  expect_ok(check(table));
}

TEST(OpCheckTest, RefusesATableThatMakesNoSense) {
  OpTable table = table_for(kCube);
  table.rows[0].reference = {};
  EXPECT_THROW(check(table), ValueError);
}

TEST(OpCheckTest, StartsTheGeneratorAnewForEveryCall) {
  OpTable random{.name = "x * rand", .no_zero_size = "not needed"};
  random.rows = {{.name = "plain",
                  .fn = [](Inputs x) { return mul(x[0], rand({5}, f64)); },
                  .inputs = {uniform({5}, -1, 1)},
                  .dtypes = {f64},
                  .second_space = false}};
  Generator generator(random.rows[0].seed);
  std::vector<double> factor;
  {
    const UseGenerator guard(generator);
    const auto drawn = rand({5}, f64).to_vector();
    factor.assign(drawn.begin(), drawn.end());
  }
  random.rows[0].reference = [&](std::span<const HostArray> x) {
    std::vector<double> y = x[0].values;
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] *= factor[i];
    }
    return y;
  };
  expect_ok(check(random));
}

}  // namespace
}  // namespace neap::testing
