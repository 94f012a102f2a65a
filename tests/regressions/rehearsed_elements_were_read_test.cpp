// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A tensor of a rehearsal has no elements. An op at a real door took whatever
// lay in its memory for them, so that a copy of such a model had made-up
// weights.
#include <gtest/gtest.h>

#include "neap/nn/linear.hpp"
#include "neap/ops/elementwise/assign.hpp"
#include "neap/ops/operators.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

TEST(RehearsedElementsTest, AreNotReadInARealDomain) {
  const memory::Domain::Handle rehearsal =
      memory::Domain::create({.is_rehearsal = true});
  Tensor hollow;
  std::unique_ptr<nn::Linear> layer;
  {
    const UseDomain use(*rehearsal);
    hollow = ones({3});
    layer = std::make_unique<nn::Linear>(3, 2);
    EXPECT_NO_THROW(copy(hollow + 1));
    EXPECT_NO_THROW(copy_(hollow, ones({3})));
  }
  const Tensor z = full({3}, 7.0);
  EXPECT_ANY_THROW(copy(hollow));
  EXPECT_ANY_THROW(z + hollow);
  EXPECT_ANY_THROW(copy_(z, hollow));
  EXPECT_ANY_THROW(layer->clone());
  EXPECT_EQ(z.to_vector()[0], 7.0);
}

}  // namespace
}  // namespace neap
