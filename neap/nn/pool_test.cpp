// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/pool.hpp"

#include <gmock/gmock.h>

#include "neap/nn/layers.hpp"
#include "neap/nn/sequential.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/door_test.hpp"

namespace neap::nn {
namespace {

using ::testing::ElementsAre;

class PoolTest : public DoorTest {};

TEST_F(PoolTest, EachIsItsFunction) {
  const Tensor x = from_values({1, 2, 3, 4, 5, 6, 7, 9}, {1, 1, 2, 4});
  const auto flat = [](const Tensor& y) { return y.to_vector(); };
  EXPECT_THAT(flat(MaxPool2d({.kernel = 2})(x)), ElementsAre(6, 9));
  EXPECT_THAT(flat(AvgPool2d({.kernel = 2})(x)), ElementsAre(3.5, 5.75));
  EXPECT_THAT(flat(AdaptiveAvgPool2d({1, 2})(x)), ElementsAre(3.5, 5.75));
  EXPECT_THAT(flat(AdaptiveMaxPool2d(1)(x)), ElementsAre(9));
  EXPECT_THAT(flat(Upsample({.size = {1, 2}})(x)), ElementsAre(1, 3));
  const Tensor row = from_values({1, 2, 3, 4}, {1, 1, 4});
  EXPECT_THAT(flat(MaxPool1d({.kernel = 2})(row)), ElementsAre(2, 4));
  EXPECT_THAT(flat(AvgPool1d({.kernel = 2, .stride = 1})(row)),
              ElementsAre(1.5, 2.5, 3.5));
}

TEST_F(PoolTest, ClonesHaveTheSameOptions) {
  MaxPool2d layer({.kernel = {3, 2}, .stride = 1});
  MaxPool2d copy = layer.clone();
  EXPECT_EQ(copy.options().kernel[0], 3);
  EXPECT_EQ(copy(ones({1, 1, 4, 4})).shape(), (Shape{1, 1, 2, 3}));
}

}  // namespace
}  // namespace neap::nn
