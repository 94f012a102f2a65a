// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A product of no rows with a matrix of 1 MiB or more read an empty list of
// vectors: such matrices are read once, for few rows.
#include <gtest/gtest.h>

#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

TEST(ProductsOfNoRowsTest, AreEmpty) {
  for (const DType dtype : {f32, f64}) {
    const Tensor w = randn({1000, 300}, dtype);
    const Tensor bias = randn({1000}, dtype);
    const Tensor x = zeros({0, 300}, dtype);
    EXPECT_EQ(linear(x, w).shape(), Shape({0, 1000}));
    EXPECT_EQ(linear(x, w, bias).shape(), Shape({0, 1000}));
    EXPECT_EQ(matmul(x, transpose(w)).shape(), Shape({0, 1000}));
    EXPECT_EQ(matmul(w, transpose(x)).shape(), Shape({1000, 0}));
  }
}

}  // namespace
}  // namespace neap
