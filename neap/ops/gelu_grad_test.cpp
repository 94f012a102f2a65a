// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/gelu_grad.hpp"

#include <cmath>

#include "neap/ops/slope_test.hpp"

namespace neap::testing {
namespace {

constexpr double kPi = 3.14159265358979323846;

OpTable gelu_grad_table() {
  return slope_table(
      {.name = "gelu_grad",
       .op = &ops::kGeluGrad,
       .fn = [](const Tensor& g,
                const Tensor& v) { return ops::gelu_grad(g, v); },
       .reference =
           [](double g, double v) {
             return g * (0.5 * std::erfc(-v / std::sqrt(2.0)) +
                         v * std::exp(-v * v / 2.0) / std::sqrt(2.0 * kPi));
           },
       .domain = uniform({}, -3, 3)});
}

const Listed kGeluListed(gelu_grad_table);

OpTable gelu_tanh_grad_table() {
  return slope_table(
      {.name = "gelu_tanh_grad",
       .op = &ops::kGeluTanhGrad,
       .fn = [](const Tensor& g,
                const Tensor& v) { return ops::gelu_tanh_grad(g, v); },
       .reference =
           [](double g, double v) {
             const double k = std::sqrt(2.0 / kPi);
             const double t = std::tanh(k * (v + 0.044715 * v * v * v));
             return g * (0.5 * (1.0 + t) + 0.5 * v * (1.0 - t * t) * k *
                                               (1.0 + 3 * 0.044715 * v * v));
           },
       .domain = uniform({}, -3, 3)});
}

const Listed kGeluTanhListed(gelu_tanh_grad_table);

}  // namespace
}  // namespace neap::testing
