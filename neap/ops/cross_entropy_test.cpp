// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/cross_entropy.hpp"

#include <cmath>

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

std::vector<double> mean_loss(std::span<const HostArray> x) {
  const std::vector<double> log_sum = log_sums(x[0]);
  const auto classes = static_cast<std::size_t>(x[0].shape[1]);
  double total = 0.0;
  for (std::size_t n = 0; n < log_sum.size(); ++n) {
    const auto label = static_cast<std::size_t>(x[1].values[n]);
    total += log_sum[n] - x[0].values[n * classes + label];
  }
  return {log_sum.empty() ? 0.0 : total / static_cast<double>(log_sum.size())};
}

Tensor loss(Inputs x) {
  return cross_entropy(x[0], x[1]);
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
  table.errors = {
      {.name = "label",
       .fn = loss,
       .inputs = {uniform({2, 3}, 0, 1), literal({2}, {0, 3}).as(i64)},
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

const Listed kListed(cross_entropy_table);

}  // namespace
}  // namespace neap::testing
