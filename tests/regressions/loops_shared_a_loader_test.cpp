// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A loop over an epoch's batches ended early, or went on with another epoch's,
// where something else asked the same loader for batches.
#include <gtest/gtest.h>

#include <array>
#include <type_traits>

#include "neap/data/loader.hpp"
#include "neap/data/tensor_set.hpp"
#include "neap/nn/linear.hpp"
#include "neap/tensor/create.hpp"
#include "neap/train/fit.hpp"

namespace neap {
namespace {

class LoopsSharedALoaderTest : public testing::Test {
 protected:
  // RETURNS: how many batches a loop saw that does so after each.
  template <class Then>
  int loop(Then then) {
    batches_ = 0;
    for (const data::Batch& batch : loader_.epoch(0)) {
      batches_ += static_cast<int>(batch.size()) / 2;
      then();
    }
    return batches_;
  }

  data::TensorSet points_{ones({10, 1}), zeros({10}, i64)};
  data::Loader loader_{points_, {.batch = 2, .shuffle = true, .seed = 1}};
  int batches_ = 0;
};

TEST_F(LoopsSharedALoaderTest, AnEvaluationInsideALoopIsNoticed) {
  nn::Linear model(1, 2);
  const auto evaluation = [&] { train::evaluate(model, loader_); };
  EXPECT_THROW(loop(evaluation), ValueError);
  EXPECT_EQ(batches_, 1);
}

TEST_F(LoopsSharedALoaderTest, ABatchThatIsTakenByHandIsNoticed) {
  const auto next = [&] { loader_.next(); };
  EXPECT_THROW(loop(next), ValueError);
  EXPECT_EQ(batches_, 1);
}

TEST_F(LoopsSharedALoaderTest, ALoopInsideALoopIsNoticed) {
  const auto first_of_another = [&] {
    for (const data::Batch& batch : loader_.epoch(1)) {
      EXPECT_EQ(batch.size(), 2);
      break;
    }
  };
  EXPECT_THROW(loop(first_of_another), ValueError);
  EXPECT_EQ(batches_, 1);
  EXPECT_EQ(loop([] {}), 5);
}

TEST_F(LoopsSharedALoaderTest, AnEpochBeginsWithItsLoop) {
  std::int64_t number = 0;
  for (const auto& epoch : std::array{loader_.epoch(0), loader_.epoch(1)}) {
    int batches = 0;
    for (const data::Batch& batch : epoch) {
      EXPECT_EQ(batch.size(), 2);
      EXPECT_EQ(loader_.epoch(), number);
      ++batches;
    }
    EXPECT_EQ(batches, 5);
    ++number;
  }
}

TEST_F(LoopsSharedALoaderTest, ALoopThatWasLeftIsNoOthersBusiness) {
  for (int i = 0; i < 3; ++i) {
    int batches = 0;
    for (const data::Batch& batch : loader_.epoch(i)) {
      EXPECT_EQ(batch.size(), 2);
      if (++batches == 2) {
        break;
      }
    }
    EXPECT_EQ(loader_.next_batch(), 2);
  }
}

// Data sets and loaders that are gone when the first batch is asked for.
static_assert(!std::is_constructible_v<data::Loader, data::TensorSet,
                                       const data::LoaderOptions&>);
static_assert(std::is_constructible_v<data::Loader, data::TensorSet&,
                                      const data::LoaderOptions&>);
template <class L>
concept GivesEpochs = requires(L&& loader) {
  std::forward<L>(loader).epoch(0);
};
static_assert(GivesEpochs<data::Loader&> && !GivesEpochs<data::Loader>);

}  // namespace
}  // namespace neap
