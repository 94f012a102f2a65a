// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// For the tests that compare results with figures recorded from PyTorch.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <span>
#include <vector>

#include "neap/tensor/create.hpp"

namespace neap::testing {

/// Element i, row by row, is value_of(i).
template <class ValueOf>
Tensor wave(const Shape& shape, const ValueOf& value_of, DType dtype = f64) {
  std::vector<double> values(static_cast<std::size_t>(shape.element_count()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = value_of(static_cast<double>(i));
  }
  return from_values(values, shape, dtype);
}

/// The elements of one after the other.
inline std::vector<double> elements_of(std::initializer_list<Tensor> tensors) {
  std::vector<double> all;
  for (const Tensor& tensor : tensors) {
    const memory::Vector<double> values = tensor.to_vector();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

inline void expect_near(std::span<const double> got,
                        std::span<const double> want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(got[i], want[i], tolerance) << i;
  }
}

inline void expect_near(const Tensor& got, std::span<const double> want,
                        double tolerance) {
  expect_near(got.to_vector(), want, tolerance);
}

}  // namespace neap::testing
