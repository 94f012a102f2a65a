// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// For the tests that compare models with figures recorded from PyTorch.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>

#include "neap/autograd/backward.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/nn/module.hpp"
#include "neap/ops/elementwise/assign.hpp"
#include "neap/ops/figures_for_test.hpp"

namespace neap::models::testing {

using neap::testing::expect_near;
using neap::testing::wave;

struct Projection {
  const char* name;
  double value;  // of its gradient
};

/// Tolerance relative to a golden value, or to 1 where that is smaller.
inline double tolerance_of(DType dtype) {
  return dtype == f64 ? 1e-11 : 1e-4;
}

/// `slack`: times the usual tolerance.
inline void expect_figure(double got, double want, DType dtype,
                          std::string_view name, double slack = 1.0) {
  const double tolerance = slack * tolerance_of(dtype);
  EXPECT_NEAR(got, want, tolerance * std::max(1.0, std::abs(want))) << name;
}

inline void expect_loss(const Tensor& loss, double want, double slack = 1.0) {
  expect_figure(loss.item(), want, loss.dtype(), "loss", slack);
}

/// For tests of figures in each dtype that models compute in.
class FiguresTest : public ::testing::TestWithParam<DType> {
 protected:
  static DType dtype() { return GetParam(); }
};

inline std::string dtype_of_case(const ::testing::TestParamInfo<DType>& info) {
  return std::string(name_of(info.param));
}

/// The p-th parameter's element i: 0.3 sin(1.7 i + 0.9 p), and 1 more for a
/// norm's weight.
inline void fill(const nn::Module& model) {
  const NoGrad guard;
  double p = 0;
  for (const nn::Parameter& parameter : model.parameters()) {
    const bool is_norm = parameter.tensor.rank() == 1 &&
                         std::string_view(parameter.name).ends_with("weight");
    const Tensor values = wave(
        parameter.tensor.shape(),
        [&](double i) {
          return (is_norm ? 1.0 : 0.0) + 0.3 * std::sin(1.7 * i + 0.9 * p);
        },
        parameter.tensor.dtype());
    copy_(parameter.tensor, values);
    p += 1;
  }
}

/// The sum of element i times cos(0.3 i).
inline double projection(const Tensor& x) {
  double sum = 0;
  double i = 0;
  for (const double value : x.to_vector()) {
    sum += value * std::cos(0.3 * i);
    i += 1;
  }
  return sum;
}

inline void expect_gradients(const nn::Module& model,
                             std::span<const Projection> wanted,
                             double slack = 1.0) {
  const nn::ParameterList parameters = model.parameters();
  ASSERT_EQ(parameters.size(), wanted.size());
  for (std::size_t p = 0; p < wanted.size(); ++p) {
    EXPECT_EQ(std::string_view(parameters[p].name), wanted[p].name);
    const Tensor grad = parameters[p].tensor.grad();
    expect_figure(projection(grad), wanted[p].value, grad.dtype(),
                  wanted[p].name, slack);
  }
}

}  // namespace neap::models::testing
