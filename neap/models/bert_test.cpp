// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/bert.hpp"

#include <gtest/gtest.h>

#include "neap/base/error.hpp"
#include "neap/tensor/create.hpp"

namespace neap::models {
namespace {

class BertTest : public testing::Test {
 protected:
  Generator generator_{3};
  UseGenerator use_{generator_};
  Bert model_{{.vocab = 12,
               .block = 6,
               .layers = 2,
               .heads = 2,
               .dim = 8,
               .hidden = 12,
               .head = BertHead::kClasses,
               .classes = 3}};
};

TEST_F(BertTest, TokensAboveTheirMaskAreThoseOfRun) {
  const Tensor tokens = from_values({5, 1, 7, 0, 4, 2, 9, 3}, {2, 4}, i64);
  const Tensor mask =
      from_values({1, 1, 1, 0, 1, 1, 0, 0}, {2, 4}, DType::kBool);
  const Tensor both = from_values(
      {5, 1, 7, 0, 1, 1, 1, 0, 4, 2, 9, 3, 1, 1, 0, 0}, {2, 2, 4}, i64);
  const Tensor scores = model_(both);
  EXPECT_EQ(scores.shape(), (Shape{2, 3}));
  EXPECT_EQ(scores.to_vector(),
            model_.run({.tokens = tokens, .mask = mask}).to_vector());
  EXPECT_NE(scores.to_vector(), model_(tokens).to_vector());
}

TEST_F(BertTest, OtherShapesAreRefused) {
  EXPECT_THROW(model_(zeros({2, 3, 4}, i64)), ShapeError);
  EXPECT_THROW(model_(zeros({2, 2, 7}, i64)), ShapeError);
  EXPECT_THROW(model_(zeros({2, 7}, i64)), ShapeError);
}

}  // namespace
}  // namespace neap::models
