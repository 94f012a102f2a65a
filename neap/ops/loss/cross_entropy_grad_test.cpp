// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/loss/cross_entropy_grad.hpp"

#include <cmath>

#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/loss/reduction.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

// Of each row of (N, C), the logarithm of its sum of e^x.
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

const Listed kListed(cross_entropy_grad_table);

}  // namespace
}  // namespace neap::testing
