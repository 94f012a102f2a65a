// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// For the tests that compare models with figures recorded from PyTorch.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/nn/module.hpp"
#include "neap/ops/assign.hpp"
#include "neap/tensor/create.hpp"

namespace neap::models::testing {

struct Projection {
  const char* name;
  double value;  // the sum of its gradient times cos(0.3 i)
};

/// Of a figure, or of one where it is smaller.
inline constexpr double kTolerance = 1e-11;

inline void expect_figure(double got, double want, std::string_view name) {
  EXPECT_NEAR(got, want, kTolerance * std::max(1.0, std::abs(want))) << name;
}

template <class ValueOf>
Tensor wave(const Shape& shape, const ValueOf& value_of, DType dtype = f64) {
  std::vector<double> values(static_cast<std::size_t>(shape.element_count()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = value_of(static_cast<double>(i));
  }
  return from_values(values, shape, dtype);
}

/// The p-th parameter's element i: 0.3 sin(1.7 i + 0.9 p), and 1 more for a
/// norm's weight.
inline void fill(const nn::Module& model) {
  const NoGrad guard;
  double p = 0;
  for (const nn::Parameter& parameter : model.parameters()) {
    const bool is_norm = parameter.tensor.rank() == 1 &&
                         std::string_view(parameter.name).ends_with("weight");
    const Tensor values = wave(parameter.tensor.shape(), [&](double i) {
      return (is_norm ? 1.0 : 0.0) + 0.3 * std::sin(1.7 * i + 0.9 * p);
    });
    copy_(parameter.tensor, values);
    p += 1;
  }
}

inline void expect_near(const Tensor& got, std::span<const double> want) {
  const memory::Vector<double> values = got.to_vector();
  ASSERT_EQ(values.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    expect_figure(values[i], want[i], std::to_string(i));
  }
}

inline void expect_gradients(const nn::Module& model,
                             std::span<const Projection> wanted) {
  const nn::ParameterList parameters = model.parameters();
  ASSERT_EQ(parameters.size(), wanted.size());
  for (std::size_t p = 0; p < wanted.size(); ++p) {
    EXPECT_EQ(std::string_view(parameters[p].name), wanted[p].name);
    const memory::Vector<double> dx = parameters[p].tensor.grad().to_vector();
    double projection = 0;
    for (std::size_t i = 0; i < dx.size(); ++i) {
      projection += dx[i] * std::cos(0.3 * static_cast<double>(i));
    }
    expect_figure(projection, wanted[p].value, wanted[p].name);
  }
}

}  // namespace neap::models::testing
