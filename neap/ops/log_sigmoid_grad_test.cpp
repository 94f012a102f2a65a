// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/log_sigmoid_grad.hpp"

#include <cmath>

#include "neap/ops/slope_test.hpp"

namespace neap::testing {
namespace {

OpTable log_sigmoid_grad_table() {
  return slope_table(
      {.name = "log_sigmoid_grad",
       .op = &ops::kLogSigmoidGrad,
       .fn = [](const Tensor& g,
                const Tensor& v) { return ops::log_sigmoid_grad(g, v); },
       .reference = [](double g, double v) { return g * (1.0 - std::exp(v)); },
       .domain = uniform({}, -3, -0.1)});
}

const Listed kLogSigmoidListed(log_sigmoid_grad_table);

}  // namespace
}  // namespace neap::testing
