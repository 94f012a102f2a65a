// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// linear_cross_entropy beside linear and cross_entropy: the same bits, in a
// part of the memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "neap/autograd/backward.hpp"
#include "neap/autograd/jvp.hpp"
#include "neap/compile/compile.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/kernels/linalg/linear_cross_entropy.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/generator.hpp"
#include "neap/threads/pool.hpp"

namespace neap {
namespace {

// Classes so many that a block of logits is a few rows.
constexpr std::int64_t kMany = 8192;

std::int64_t block_rows(DType dtype) {
  return kernels::rows_of_logits_block(1 << 20, kMany, size_of(dtype));
}

Bytes block_bytes() {
  return block_rows(f32) * kMany * size_of(f32);
}

struct Case {
  std::int64_t rows = 0;
  std::int64_t classes = kMany;
  std::int64_t width = 3;
  DType dtype = f32;
  bool has_bias = true;
  CrossEntropyOptions options{};
  std::int64_t ignored = 0;  // rows, the last ones
  bool is_weighted = false;  // by weights of classes
};

struct Operands {
  explicit Operands(const Case& of) {
    Generator generator(5);
    const UseGenerator use(generator);
    x = requires_grad_(randn({of.rows, of.width}, of.dtype));
    w = requires_grad_(randn({of.classes, of.width}, of.dtype));
    if (of.has_bias) {
      bias = requires_grad_(randn({of.classes}, of.dtype));
    }
    g = rand(
        of.options.reduction == Reduction::kNone ? Shape{of.rows} : Shape{},
        of.dtype);
    const Tensor drawn = randint(0, of.classes, {of.rows});
    labels = of.ignored == 0
                 ? drawn
                 : where(lt(arange(of.rows, i64), of.rows - of.ignored), drawn,
                         full({of.rows}, -100, i64));
  }

  Tensor loss(bool is_whole, const CrossEntropyOptions& options) const {
    if (!is_whole) {
      return linear_cross_entropy(x, w, bias, labels, options);
    }
    return cross_entropy(bias.defined() ? linear(x, w, bias) : linear(x, w),
                         labels, options);
  }

  memory::Vector<Tensor> leaves() const {
    memory::Vector<Tensor> all{x, w};
    if (bias.defined()) {
      all.push_back(bias);
    }
    return all;
  }

  Tensor x, w, bias, labels, g;
};

using Bits = std::vector<std::vector<std::uint64_t>>;

void append(Bits& bits, const Tensor& tensor) {
  auto& own = bits.emplace_back();
  for (const double element : tensor.to_vector()) {
    own.push_back(std::bit_cast<std::uint64_t>(element));
  }
}

// The loss and all gradients, for a cotangent that is no power of two.
Bits bits_of(const Case& of, bool is_whole) {
  const Operands in(of);
  CrossEntropyOptions options = of.options;
  if (of.is_weighted) {
    Generator generator(9);
    const UseGenerator use(generator);
    options.weight = rand({of.classes}, of.dtype);
  }
  const Tensor loss = in.loss(is_whole, options);
  Bits bits;
  append(bits, loss);
  const auto leaves = in.leaves();
  for (const Tensor& gradient :
       grad(std::span(&loss, 1), leaves, {.cotangents = std::span(&in.g, 1)})) {
    append(bits, gradient);
  }
  return bits;
}

void expect_same_bits(const Case& of) {
  EXPECT_TRUE(bits_of(of, false) == bits_of(of, true))
      << of.rows << " rows, " << of.classes << " classes, "
      << name_of(of.dtype);
}

TEST(LinearCrossEntropyTest, HasTheBitsOfTheWholeForAnyNumberOfRows) {
  for (const DType dtype : {f32, f64}) {
    const std::int64_t block = block_rows(dtype);
    for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{2}, block - 1,
                                    block, block + 1, 2 * block + 7}) {
      expect_same_bits({.rows = rows, .dtype = dtype});
    }
    expect_same_bits({.rows = 0, .classes = 7, .dtype = dtype});
  }
}

TEST(LinearCrossEntropyTest, HasTheBitsOfTheWholeForAnyOptions) {
  const std::int64_t rows = 2 * block_rows(f32) + 5;
  for (const Reduction reduction :
       {Reduction::kMean, Reduction::kSum, Reduction::kNone}) {
    expect_same_bits({.rows = rows,
                      .has_bias = false,
                      .options = {.reduction = reduction},
                      .ignored = 11});
  }
  expect_same_bits({.rows = rows, .options = {.label_smoothing = 0.1}});
  expect_same_bits({.rows = rows, .ignored = rows});
}

TEST(LinearCrossEntropyTest, HasTheBitsOfTheWholeWithWeightsOfClasses) {
  for (const DType dtype : {f32, f64}) {
    const std::int64_t rows = 2 * block_rows(dtype) + 5;
    for (const Reduction reduction :
         {Reduction::kMean, Reduction::kSum, Reduction::kNone}) {
      expect_same_bits({.rows = rows,
                        .dtype = dtype,
                        .has_bias = false,
                        .options = {.reduction = reduction},
                        .ignored = 11,
                        .is_weighted = true});
    }
    expect_same_bits(
        {.rows = 7, .classes = 5, .dtype = dtype, .is_weighted = true});
    expect_same_bits({.rows = 7,
                      .classes = 5,
                      .dtype = dtype,
                      .ignored = 7,
                      .is_weighted = true});
  }
}

// -w[label] ln softmax(x w^T)[label] in doubles, over the weights.
TEST(LinearCrossEntropyTest, WeightsOfClassesAreThoseOfTheFormula) {
  const Operands in({.rows = 9, .classes = 4, .dtype = f64, .has_bias = false});
  const std::vector<double> weights{0.5, 2.0, 0.0, 1.25};
  const auto logits = linear(in.x, in.w).to_vector();
  const auto labels = in.labels.to_vector();
  double total = 0.0;
  double whole = 0.0;
  for (std::size_t i = 0; i < 9; ++i) {
    double sum = 0.0;
    for (std::size_t c = 0; c < 4; ++c) {
      sum += std::exp(logits[4 * i + c]);
    }
    const auto label = static_cast<std::size_t>(labels[i]);
    total += weights[label] * (std::log(sum) - logits[4 * i + label]);
    whole += weights[label];
  }
  const CrossEntropyOptions options{.weight = from_values(weights, {4}, f64)};
  EXPECT_NEAR(in.loss(false, options).item(), total / whole, 1e-14);
}

TEST(LinearCrossEntropyTest, HasTheBitsOfTheWholeForFewClasses) {
  for (const std::int64_t classes : {1, 2, 5, 33, 150}) {
    for (const std::int64_t rows : {1, 7, 1500}) {
      expect_same_bits({.rows = rows, .classes = classes, .width = 9});
      expect_same_bits(
          {.rows = rows, .classes = classes, .width = 9, .dtype = f64});
    }
  }
}

TEST(LinearCrossEntropyTest, HasTheBitsOfTheWholeInBf16) {
  if (!kernels::has_bf16_dot()) {
    GTEST_SKIP() << "no dot products of bf16 here";
  }
  const UsePrecision guard(Precision::kBf16);
  const std::int64_t block = block_rows(f32);
  for (const std::int64_t rows : {std::int64_t{1}, block + 1, 2 * block + 6}) {
    expect_same_bits({.rows = rows, .width = 17});
  }
}

TEST(LinearCrossEntropyTest, HasTheBitsOfTheWholeOnAnyNumberOfThreads) {
  const Case of{.rows = block_rows(f32) + 9, .width = 40};
  const auto on = [&](int threads, bool is_whole) {
    threads::Pool pool(threads);
    const tensor::ExecutionGuard use(
        [&](tensor::Execution& e) { e.executor = &pool; });
    return bits_of(of, is_whole);
  };
  const Bits whole = on(1, true);
  for (const int threads : {1, 2, 3}) {
    EXPECT_TRUE(on(threads, false) == whole) << threads;
  }
}

// Gradients are added to what a later use of x and w gave, as linear does.
TEST(LinearCrossEntropyTest, HasTheBitsOfTheWholeWhereOperandsAreUsedTwice) {
  const Case of{.rows = 41, .classes = 300, .width = 9};
  const auto run = [&](bool is_whole) {
    const Operands in(of);
    const Tensor loss = in.loss(is_whole, {}) * 0.3 +
                        in.loss(is_whole, {.label_smoothing = 0.2});
    Bits bits;
    for (const Tensor& gradient : grad(std::span(&loss, 1), in.leaves(), {})) {
      append(bits, gradient);
    }
    return bits;
  };
  EXPECT_TRUE(run(false) == run(true));
}

// Derivatives of second order are made of other operations: close.
TEST(LinearCrossEntropyTest, SecondDerivativesGoThroughSumsOfTwoUses) {
  const Case of{.rows = 6, .classes = 7, .width = 3, .dtype = f64};
  const auto run = [&](bool is_whole) {
    const Operands in(of);
    const Tensor loss = in.loss(is_whole, {}) * 0.3 +
                        in.loss(is_whole, {.label_smoothing = 0.2});
    const auto leaves = in.leaves();
    const auto first =
        grad(std::span(&loss, 1), leaves, {.create_graph = true});
    Tensor total = sum(sin(loss));
    for (const Tensor& gradient : first) {
      total = total + sum(gradient * gradient * gradient);
    }
    std::vector<double> seen;
    for (const Tensor& gradient : grad(std::span(&total, 1), leaves, {})) {
      for (const double element : gradient.to_vector()) {
        seen.push_back(element);
      }
    }
    return seen;
  };
  const auto here = run(false);
  const auto whole = run(true);
  ASSERT_EQ(here.size(), whole.size());
  for (std::size_t i = 0; i < here.size(); ++i) {
    EXPECT_NEAR(here[i], whole[i], 1e-14) << i;
  }
}

TEST(LinearCrossEntropyTest, ComputesTheGradientsAskedForAlone) {
  const Case of{.rows = 9, .classes = 30};
  const Operands in(of);
  const Bits all = bits_of(of, true);
  const auto leaves = in.leaves();
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const Tensor loss = in.loss(false, {});
    Bits one;
    append(one, grad(std::span(&loss, 1), std::span(&leaves[i], 1),
                     {.cotangents = std::span(&in.g, 1)})[0]);
    EXPECT_EQ(one[0], all[i + 1]) << i;
  }
}

TEST(LinearCrossEntropyTest, TakesLeadingAxesAsRows) {
  const Operands in({.rows = 12, .classes = 5});
  for (const Reduction reduction : {Reduction::kMean, Reduction::kNone}) {
    const Tensor loss = linear_cross_entropy(
        reshape(in.x, {2, 3, 2, 3}), in.w, in.bias,
        reshape(in.labels, {2, 3, 2}), {.reduction = reduction});
    EXPECT_EQ(loss.shape(),
              reduction == Reduction::kNone ? Shape({2, 3, 2}) : Shape());
    EXPECT_EQ(loss.to_vector(),
              in.loss(true, {.reduction = reduction}).to_vector());
  }
}

TEST(LinearCrossEntropyTest, TangentsHaveTheBitsOfTheWhole) {
  const Operands in({.rows = 12, .classes = 5});
  const std::array primals{in.x.detach(), in.w.detach()};
  const std::array tangents{exp(primals[0]), sin(primals[1])};
  const auto tangent = [&](bool is_whole) {
    const auto f = [&](std::span<const Tensor> x) {
      return is_whole ? cross_entropy(linear(x[0], x[1]), in.labels)
                      : linear_cross_entropy(x[0], x[1], {}, in.labels);
    };
    return jvp(f, primals, tangents).tangent.item();
  };
  EXPECT_EQ(tangent(false), tangent(true));
}

// --- memory
// -------------------------------------------------------------------

// The most bytes that a loss and its backward had beside what was there.
Bytes peak_of(const Case& of, bool is_whole) {
  const auto domain = memory::Domain::create({.name = "loss"});
  const memory::ContextGuard guard(
      [&](memory::Context& c) { c.domain = domain.get(); });
  const Operands in(of);
  const Bytes before = domain->stats().live;
  domain->reset_peak();
  backward(in.loss(is_whole, of.options));
  return domain->stats().live_peak - before;
}

TEST(LinearCrossEntropyTest, HasAtMostABlockOfLogits) {
  const Case of{.rows = 2048, .has_bias = false};
  const Bytes logits = of.rows * of.classes * size_of(f32);
  const Bytes gradients = (of.rows + of.classes) * of.width * size_of(f32);
  EXPECT_GE(peak_of(of, true), 2 * logits);
  EXPECT_LE(peak_of(of, false), block_bytes() + gradients + 4 * kMiB);
}

TEST(LinearCrossEntropyTest, KeepsANumberARowBesideItsOperands) {
  const auto domain = memory::Domain::create({.name = "loss"});
  const memory::ContextGuard guard(
      [&](memory::Context& c) { c.domain = domain.get(); });
  const Operands in({.rows = 1024, .classes = 700});
  const Bytes before = domain->stats().live;
  const Tensor loss = in.loss(false, {});
  EXPECT_LE(domain->stats().live - before, 1024 * size_of(f32) + 2 * kKiB);
}

TEST(LinearCrossEntropyTest, CompiledStepsHaveTheSameBitsAndWhatWasPredicted) {
  const Case of{.rows = block_rows(f32) + 3};
  const Operands in(of);
  auto step = compile(
      [&](const Tensor& labels) {
        const Tensor loss = linear_cross_entropy(in.x, in.w, in.bias, labels);
        memory::Vector<Tensor> out{loss};
        for (const Tensor& gradient :
             grad(std::span(&loss, 1), in.leaves(), {})) {
          out.push_back(gradient);
        }
        return out;
      },
      {});
  const auto made = step(in.labels);
  const Tensor loss = in.loss(false, {});
  Bits want;
  append(want, loss);
  for (const Tensor& gradient : grad(std::span(&loss, 1), in.leaves(), {})) {
    append(want, gradient);
  }
  Bits got;
  for (const Tensor& tensor : made) {
    append(got, tensor);
  }
  EXPECT_TRUE(got == want);
  const compiler::Prediction told = step.prediction();
  EXPECT_EQ(step.measured().arena, told.arena);
  EXPECT_GE(told.largest_scratch, block_bytes());
  EXPECT_LE(told.largest_scratch, block_bytes() + 4 * kMiB);
}

}  // namespace
}  // namespace neap
