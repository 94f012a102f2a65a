// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/embedding.hpp"

#include <gmock/gmock.h>

#include "neap/autograd/backward.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/door_test.hpp"

namespace neap::nn {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

class EmbeddingTest : public DoorTest {};

TEST_F(EmbeddingTest, ReturnsARowForEachId) {
  Embedding table(4, 2);
  const Tensor y = table(from_values({3, 0, 3}, {1, 3}, i64));
  EXPECT_EQ(y.shape(), (Shape{1, 3, 2}));
  EXPECT_EQ(y.at({0, 0, 1}), table.weight().at({3, 1}));
  EXPECT_EQ(y.at({0, 1, 0}), table.weight().at({0, 0}));
}

TEST_F(EmbeddingTest, HasGradientsOfTheRowsThatWereUsed) {
  Embedding table(4, 2, -1);
  backward(sum(table(from_values({3, 0, 0}, {3}, i64))));
  EXPECT_THAT(table.weight().grad().to_vector(),
              ElementsAre(2, 2, 0, 0, 0, 0, 0, 0));
  table.zero_grad();
}

TEST_F(EmbeddingTest, BeginsAsNormalNumbersAndZerosForPadding) {
  const Embedding table(100, 50, 7);
  double sum = 0.0;
  double squares = 0.0;
  for (const double w : table.weight().to_vector()) {
    sum += w;
    squares += w * w;
  }
  EXPECT_NEAR(sum / 4950, 0.0, 0.05);
  EXPECT_NEAR(squares / 4950, 1.0, 0.05);
  EXPECT_EQ(table.weight().at({7, 49}), 0.0);
  EXPECT_EQ(*Embedding(9, 2, -2).padding(), 7);
}

TEST_F(EmbeddingTest, DrawsNothingWhereItFails) {
  for (int n = 1;; ++n) {
    domain_->fail_at(n);
    try {
      const Embedding table(4, 4, 0);
      domain_->fail_at(0);
      EXPECT_GT(n, 3);
      break;
    } catch (const OutOfMemory&) {
      domain_->fail_at(0);
      EXPECT_EQ(generator_.state().draw, 0U) << n;
      EXPECT_EQ(domain_->stats().live, 0) << n;
    }
  }
  EXPECT_EQ(generator_.state().draw, 1U);
}

TEST_F(EmbeddingTest, RefusesWhatIsNoTable) {
  EXPECT_THROW(Embedding(0, 2), ValueError);
  EXPECT_THROW(Embedding(2, 2, 2), ValueError);
  EXPECT_THROW(Embedding(2, 2, -3), ValueError);
  EXPECT_THROW(Embedding(2, 2, std::nullopt, i32), DTypeError);
  Embedding table(2, 2);
  EXPECT_THROW(table(from_values({2}, {1}, i64)), ValueError);
}

}  // namespace
}  // namespace neap::nn
