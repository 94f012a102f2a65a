// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/softmax.hpp"

#include <cmath>

#include "neap/ops/norm/softmax_test.hpp"

namespace neap::testing {
namespace {

// Along the last axis.
std::vector<double> probabilities(std::span<const HostArray> x) {
  std::vector<double> y = x[0].values;
  const std::int64_t n = x[0].shape.back();
  for (auto row = y.begin(); row < y.end(); row += n) {
    double sum = 0.0;
    for (auto at = row; at < row + n; ++at) {
      sum += std::exp(*at);
    }
    for (auto at = row; at < row + n; ++at) {
      *at = std::exp(*at) / sum;
    }
  }
  return y;
}

OpTable table() {
  OpTable table =
      softmax_table({.name = "softmax",
                     .op = &ops::kSoftmax,
                     .along_last = [](Inputs x) { return softmax(x[0]); },
                     .along = softmax,
                     .reference = probabilities,
                     .of_columns = {0.5, 0, 0.5, 1}});
  table.rows.push_back({.name = "long rows",
                        .fn = [](Inputs x) { return softmax(x[0], 1); },
                        .inputs = {uniform({2, 1500}, -2, 2)},
                        .reference = probabilities,
                        .second_derivative = false});
  return table;
}

const Listed kSoftmaxListed(table);

// y (g - sum(g y)) along the last axis.
std::vector<double> rule(std::span<const HostArray> x) {
  std::vector<double> out = x[0].values;
  const auto n = static_cast<std::size_t>(x[0].shape.back());
  for (std::size_t start = 0; start < out.size(); start += n) {
    double sum = 0.0;
    for (std::size_t i = start; i < start + n; ++i) {
      sum += x[0].values[i] * x[1].values[i];
    }
    for (std::size_t i = start; i < start + n; ++i) {
      out[i] = x[1].values[i] * (x[0].values[i] - sum);
    }
  }
  return out;
}

OpTable softmax_grad_rows() {
  return softmax_grad_table({.name = "softmax_grad",
                             .op = &ops::kSoftmaxGrad,
                             .fn = ops::softmax_grad,
                             .reference = rule});
}

const Listed kSoftmaxGradListed(softmax_grad_rows);

// Along the last axis.
std::vector<double> logs(std::span<const HostArray> x) {
  std::vector<double> y = x[0].values;
  const std::int64_t n = x[0].shape.back();
  for (auto row = y.begin(); row < y.end(); row += n) {
    double sum = 0.0;
    for (auto at = row; at < row + n; ++at) {
      sum += std::exp(*at);
    }
    for (auto at = row; at < row + n; ++at) {
      *at -= std::log(sum);
    }
  }
  return y;
}

OpTable log_softmax_table() {
  return softmax_table(
      {.name = "log_softmax",
       .op = &ops::kLogSoftmax,
       .along_last = [](Inputs x) { return log_softmax(x[0]); },
       .along = log_softmax,
       .reference = logs,
       .of_columns = {-std::log(2.0), -1000, -std::log(2.0), 0}});
}

const Listed kLogSoftmaxListed(log_softmax_table);

// g - e^y sum(g) along the last axis.
std::vector<double> log_softmax_grad_rule(std::span<const HostArray> x) {
  std::vector<double> out = x[0].values;
  const auto n = static_cast<std::size_t>(x[0].shape.back());
  for (std::size_t start = 0; start < out.size(); start += n) {
    double sum = 0.0;
    for (std::size_t i = start; i < start + n; ++i) {
      sum += x[0].values[i];
    }
    for (std::size_t i = start; i < start + n; ++i) {
      out[i] -= std::exp(x[1].values[i]) * sum;
    }
  }
  return out;
}

OpTable log_softmax_grad_rows() {
  return softmax_grad_table({.name = "log_softmax_grad",
                             .op = &ops::kLogSoftmaxGrad,
                             .fn = ops::log_softmax_grad,
                             .reference = log_softmax_grad_rule});
}

const Listed kLogSoftmaxGradListed(log_softmax_grad_rows);

}  // namespace
}  // namespace neap::testing
