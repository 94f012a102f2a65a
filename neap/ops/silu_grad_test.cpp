// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/silu_grad.hpp"

#include <cmath>

#include "neap/ops/slope_test.hpp"

namespace neap::testing {
namespace {

double logistic(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

OpTable silu_grad_table() {
  return slope_table(
      {.name = "silu_grad",
       .op = &ops::kSiluGrad,
       .fn = [](const Tensor& g,
                const Tensor& v) { return ops::silu_grad(g, v); },
       .reference =
           [](double g, double v) {
             const double s = logistic(v);
             return g * s * (1.0 + v * (1.0 - s));
           },
       .domain = uniform({}, -3, 3)});
}

const Listed kSiluListed(silu_grad_table);

}  // namespace
}  // namespace neap::testing
