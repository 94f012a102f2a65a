// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elu_grad.hpp"

#include <cmath>

#include "neap/ops/slope_test.hpp"

namespace neap::testing {
namespace {

OpTable elu_grad_table() {
  return slope_table(
      {.name = "elu_grad",
       .op = &ops::kEluGrad,
       .fn = [](const Tensor& g,
                const Tensor& v) { return ops::elu_grad(g, v, {0.75}); },
       .reference = [](double g,
                       double v) { return v > 0.0 ? g : g * (v + 0.75); },
       .domain = away_from({}, {0.0})});
}

const Listed kEluListed(elu_grad_table);

}  // namespace
}  // namespace neap::testing
