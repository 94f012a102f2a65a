// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/mish_grad.hpp"

#include <cmath>

#include "neap/ops/slope_test.hpp"

namespace neap::testing {
namespace {

double logistic(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

OpTable mish_grad_table() {
  return slope_table(
      {.name = "mish_grad",
       .op = &ops::kMishGrad,
       .fn = [](const Tensor& g,
                const Tensor& v) { return ops::mish_grad(g, v); },
       .reference =
           [](double g, double v) {
             const double w = std::tanh(std::log1p(std::exp(v)));
             return g * (w + v * (1.0 - w * w) * logistic(v));
           },
       .domain = uniform({}, -3, 3)});
}

const Listed kMishListed(mish_grad_table);

}  // namespace
}  // namespace neap::testing
