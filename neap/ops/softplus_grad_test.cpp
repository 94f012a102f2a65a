// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/softplus_grad.hpp"

#include <cmath>

#include "neap/ops/slope_test.hpp"

namespace neap::testing {
namespace {

double logistic(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

// The rule changes where 2 v is 3.
InputSpec with_kink() {
  InputSpec spec = uniform({}, -3, 3);
  spec.avoided = {1.5};
  return spec;
}

OpTable softplus_grad_table() {
  return slope_table({.name = "softplus_grad",
                      .op = &ops::kSoftplusGrad,
                      .fn =
                          [](const Tensor& g, const Tensor& v) {
                            return ops::softplus_grad(g, v, {2.0, 3.0});
                          },
                      .reference =
                          [](double g, double v) {
                            return 2.0 * v > 3.0 ? g : g * logistic(2.0 * v);
                          },
                      .domain = with_kink()});
}

const Listed kSoftplusListed(softplus_grad_table);

}  // namespace
}  // namespace neap::testing
