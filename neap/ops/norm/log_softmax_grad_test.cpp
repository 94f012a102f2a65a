// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/log_softmax_grad.hpp"

#include <cmath>

#include "neap/ops/norm/softmax_test.hpp"

namespace neap::testing {
namespace {

// g - e^y sum(g) along the last axis.
std::vector<double> rule(std::span<const HostArray> x) {
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

OpTable table() {
  return softmax_grad_table({.name = "log_softmax_grad",
                             .op = &ops::kLogSoftmaxGrad,
                             .fn = ops::log_softmax_grad,
                             .reference = rule});
}

const Listed kListed(table);

}  // namespace
}  // namespace neap::testing
