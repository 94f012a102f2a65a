// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/loss/cross_entropy.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/loss/reduction.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/create.hpp"
#include "neap/testing/elementwise.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

// The logarithm of the sum of e^x of each row of (N, C).
std::vector<double> log_sums(const HostArray& x) {
  std::vector<double> out;
  const std::int64_t classes = x.shape[1];
  for (std::int64_t n = 0; n < x.shape[0]; ++n) {
    double sum = 0.0;
    for (std::int64_t c = 0; c < classes; ++c) {
      sum += std::exp(x.values[static_cast<std::size_t>(n * classes + c)]);
    }
    out.push_back(std::log(sum));
  }
  return out;
}

// The loss of every sample, and of those that count.
struct Losses {
  std::vector<double> each;
  double total = 0.0;
  double counted = 0.0;
};

Losses losses(std::span<const HostArray> x, double smoothing = 0.0) {
  const std::vector<double> log_sum = log_sums(x[0]);
  const auto classes = static_cast<std::size_t>(x[0].shape[1]);
  Losses out;
  for (std::size_t n = 0; n < log_sum.size(); ++n) {
    double target = 0.0;
    for (std::size_t c = 0; c < classes; ++c) {
      const bool is_label = static_cast<double>(c) == x[1].values[n];
      target += x[0].values[n * classes + c] *
                ((is_label ? 1.0 - smoothing : 0.0) +
                 smoothing / static_cast<double>(classes));
    }
    const bool counts = x[1].values[n] != -100.0;
    out.each.push_back(counts ? log_sum[n] - target : 0.0);
    out.total += out.each.back();
    out.counted += counts ? 1.0 : 0.0;
  }
  return out;
}

std::vector<double> mean_loss(std::span<const HostArray> x) {
  const Losses all = losses(x);
  return {all.counted == 0.0 ? 0.0 : all.total / all.counted};
}

Tensor loss(Inputs x) {
  return cross_entropy(x[0], x[1]);
}

constexpr double kSmoothing = 0.2;

// Few classes and many, which kernels treat differently.
std::vector<OpRow> rows_with_options(std::int64_t classes) {
  const std::vector<InputSpec> inputs{
      uniform({4, classes}, -2, 2),
      literal({4}, {2, -100, 0, static_cast<double>(classes - 1)}).as(i64)};
  OpRow smooth_mean{.name = "smoothed mean, one ignored",
                    .fn =
                        [](Inputs x) {
                          return cross_entropy(x[0], x[1],
                                               {.label_smoothing = kSmoothing});
                        },
                    .inputs = inputs,
                    .reference = [](auto x) -> std::vector<double> {
                      const Losses all = losses(x, kSmoothing);
                      return {all.total / all.counted};
                    },
                    .shape = Shape{}};
  OpRow sum{.name = "sum, one ignored",
            .fn =
                [](Inputs x) {
                  return cross_entropy(x[0], x[1],
                                       {.reduction = Reduction::kSum});
                },
            .inputs = inputs,
            .reference = [](auto x) -> std::vector<double> {
              return {losses(x).total};
            }};
  OpRow none{.name = "each, smoothed, one ignored",
             .fn =
                 [](Inputs x) {
                   return cross_entropy(x[0], x[1],
                                        {.reduction = Reduction::kNone,
                                         .label_smoothing = kSmoothing});
                 },
             .inputs = inputs,
             .reference = [](auto x) { return losses(x, kSmoothing).each; },
             .shape = Shape{4}};
  return {smooth_mean, sum, none};
}

OpTable cross_entropy_table() {
  OpTable table{.name = "cross_entropy", .op = &ops::kCrossEntropy};
  table.rows = {
      {.name = "plain",
       .fn = loss,
       .inputs = {uniform({4, 5}, -2, 2), integers({4}, 0, 5).as(i64)},
       .reference = mean_loss,
       .shape = Shape{},
       .zero_size = {{{0, 5}, {0}}}},
      {.name = "large",
       .fn = loss,
       .inputs = {uniform({700, 33}, -2, 2), integers({700}, 0, 33).as(i64)},
       .reference = mean_loss,
       .second_derivative = false},
      {.name = "huge logits",
       .fn = loss,
       .inputs = {literal({2, 2}, {1000, 0, -1000, 0}),
                  literal({2}, {1, 1}).as(i64)},
       .expected = {500},
       .expected_vjp = {{0.5, -0.5, 0, 0}},
       .smooth = false}};
  for (const std::int64_t classes : {5, 150}) {
    for (OpRow& row : rows_with_options(classes)) {
      table.rows.push_back(row);
    }
  }
  table.rows.push_back(value_row(
      "all ignored", loss,
      {uniform({2, 3}, -2, 2), literal({2}, {-100, -100}).as(i64)}, {0}));
  table.errors = {
      {.name = "label",
       .fn = loss,
       .inputs = {uniform({2, 3}, 0, 1), literal({2}, {0, 3}).as(i64)},
       .error = typeid(ValueError)},
      {.name = "smoothing",
       .fn =
           [](Inputs x) {
             return cross_entropy(x[0], x[1], {.label_smoothing = 1.5});
           },
       .inputs = {uniform({2, 3}, 0, 1), literal({2}, {0, 1}).as(i64)},
       .error = typeid(ValueError)},
      {.name = "negative label",
       .fn = loss,
       .inputs = {uniform({2, 3}, 0, 1), literal({2}, {0, -1}).as(i64)},
       .error = typeid(ValueError)},
      {.name = "counts",
       .fn = loss,
       .inputs = {uniform({2, 3}, 0, 1), literal({3}, {0, 1, 2}).as(i64)},
       .error = typeid(ShapeError)},
      {.name = "labels' dtype",
       .fn = loss,
       .inputs = {uniform({2, 3}, 0, 1), literal({2}, {0, 1}).as(i32)},
       .error = typeid(DTypeError)}};
  return table;
}

const Listed kCrossEntropyListed(cross_entropy_table);

TEST(CrossEntropyTest, EveryPixelIsASample) {
  const Tensor rows = rand({12, 4});
  const Tensor labels = randint(0, 4, {2, 3, 2});
  const Tensor images =
      permute(reshape(rows, {2, 3, 2, 4}), {0, 3, 1, 2});  // (n, c, h, w)
  EXPECT_EQ(cross_entropy(images, labels).item(),
            cross_entropy(rows, reshape(labels, {12})).item());
  EXPECT_EQ(cross_entropy(images, labels, {.reduction = Reduction::kNone})
                .to_vector(),
            cross_entropy(rows, reshape(labels, {12}),
                          {.reduction = Reduction::kNone})
                .to_vector());
  EXPECT_THROW(cross_entropy(images, reshape(labels, {2, 2, 3})), ShapeError);
}

std::vector<double> gradient(std::span<const HostArray> x) {
  const HostArray& logits = x[1];
  const std::vector<double> log_sum = log_sums(logits);
  const auto classes = static_cast<std::size_t>(logits.shape[1]);
  std::vector<double> out;
  for (std::size_t i = 0; i < logits.values.size(); ++i) {
    const std::size_t n = i / classes;
    const bool is_label = static_cast<double>(i % classes) == x[2].values[n];
    const double p = std::exp(logits.values[i] - log_sum[n]);
    out.push_back(x[0].values[0] * (p - (is_label ? 1.0 : 0.0)) /
                  static_cast<double>(log_sum.size()));
  }
  return out;
}

// The log sums are a function of the logits; the op's rules know that.
Tensor grad_of(Inputs x) {
  const Tensor log_sum = log(sum(exp(x[1].detach()), {1}));
  return ops::cross_entropy_grad(x[0], x[1], x[2], log_sum);
}

const kernels::CrossEntropyAttrs kEach{.label_smoothing = 0.2,
                                       .reduction = Reduction::kNone};

std::vector<double> gradient_of_each(std::span<const HostArray> x) {
  const HostArray& logits = x[1];
  const std::vector<double> log_sum = log_sums(logits);
  const auto classes = static_cast<std::size_t>(logits.shape[1]);
  std::vector<double> out;
  for (std::size_t i = 0; i < logits.values.size(); ++i) {
    const std::size_t n = i / classes;
    const bool is_label = static_cast<double>(i % classes) == x[2].values[n];
    const double target =
        (is_label ? 0.8 : 0.0) + 0.2 / static_cast<double>(classes);
    const double p = std::exp(logits.values[i] - log_sum[n]);
    const bool counts = x[2].values[n] != -100.0;
    out.push_back(counts ? x[0].values[n] * (p - target) : 0.0);
  }
  return out;
}

Tensor grad_of_each(Inputs x) {
  const Tensor log_sum = log(sum(exp(x[1].detach()), {1}));
  return ops::cross_entropy_grad(x[0], x[1], x[2], log_sum, kEach);
}

OpTable cross_entropy_grad_table() {
  OpTable table{.name = "cross_entropy_grad", .op = &ops::kCrossEntropyGrad};
  table.rows = {{.name = "plain",
                 .fn = grad_of,
                 .inputs = {uniform({}, 1, 2), uniform({4, 5}, -2, 2),
                            integers({4}, 0, 5).as(i64)},
                 .reference = gradient,
                 .shape = Shape{4, 5},
                 .zero_size = {{{}, {0, 5}, {0}}}},
                {.name = "large",
                 .fn = grad_of,
                 .inputs = {uniform({}, 1, 2), uniform({700, 33}, -2, 2),
                            integers({700}, 0, 33).as(i64)},
                 .reference = gradient,
                 .second_derivative = false}};
  table.rows.push_back({.name = "each, smoothed, one ignored",
                        .fn = grad_of_each,
                        .inputs = {uniform({4}, 1, 2), uniform({4, 5}, -2, 2),
                                   literal({4}, {2, -100, 0, 4}).as(i64)},
                        .reference = gradient_of_each});
  table.errors = {{.name = "g",
                   .fn =
                       [](Inputs x) {
                         return ops::cross_entropy_grad(x[0], x[1], x[2], x[3]);
                       },
                   .inputs = {uniform({2}, 0, 1), uniform({2, 3}, 0, 1),
                              integers({2}, 0, 3).as(i64), uniform({2}, 0, 1)},
                   .error = typeid(ShapeError)}};
  return table;
}

const Listed kCrossEntropyGradListed(cross_entropy_grad_table);

}  // namespace
}  // namespace neap::testing
