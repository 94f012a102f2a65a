// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/tensor_set.hpp"

#include <gmock/gmock.h>

#include <array>
#include <optional>

#include "neap/data/loader.hpp"
#include "neap/memory/scope.hpp"
#include "neap/tensor/create.hpp"

namespace neap::data {
namespace {

using ::testing::ElementsAre;

Tensor numbers(const Shape& shape, DType dtype = f32) {
  Tensor x = arange(shape.element_count(), dtype);
  return Tensor(tensor::Array::make(x.array()->storage(),
                                    tensor::dense_layout(dtype, shape)));
}

TEST(TensorSetTest, ReturnsRowsAsSamples) {
  const TensorSet points(numbers({3, 2}), numbers({3}, i64));
  EXPECT_EQ(points.size(), 3);
  EXPECT_EQ(points.spec().input, (Shape{2}));
  EXPECT_EQ(points.spec().target, Shape());
  EXPECT_EQ(points.spec().target_dtype, i64);
  Loader loader(points, {.batch = 2});
  std::vector<double> inputs;
  std::vector<double> targets;
  for (const Batch& batch : loader.epoch(0)) {
    for (const double x : batch.input.to_vector()) {
      inputs.push_back(x);
    }
    for (const double y : batch.target.to_vector()) {
      targets.push_back(y);
    }
  }
  EXPECT_THAT(inputs, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(targets, ElementsAre(0, 1, 2));
}

TEST(TensorSetTest, SharesTheElements) {
  Tensor x = zeros({2, 1});
  const TensorSet points(x, numbers({2}));
  x.mutable_values<float>()[1] = 7.0F;
  Loader loader(points, {.batch = 2});
  EXPECT_THAT(loader.epoch(0).begin()->input.to_vector(), ElementsAre(0, 7));
}

TEST(TensorSetTest, OutlivesTheScopeOfItsTensors) {
  std::optional<TensorSet> points;
  {
    const Scope scope;
    points.emplace(numbers({2, 2}), numbers({2}));
  }
  Loader loader(*points, {.batch = 2});
  EXPECT_THAT(loader.epoch(0).begin()->input.to_vector(),
              ElementsAre(0, 1, 2, 3));
}

TEST(TensorSetTest, RefusesWhatHasNoRowsInCommon) {
  EXPECT_THROW(TensorSet(numbers({3, 2}), numbers({2})), ShapeError);
  EXPECT_THROW(TensorSet(scalar(1), numbers({1})), ShapeError);
  EXPECT_THROW(TensorSet(Tensor(), numbers({1})), UseAfterRelease);
  const Tensor wide = numbers({3, 2});
  const Tensor gapped(
      tensor::Array::make(wide.array()->storage(),
                          tensor::sliced(wide.array()->layout(), 1, 0, 1, 1)));
  EXPECT_THROW(TensorSet(gapped, numbers({3})), ShapeError);
}

TEST(TensorSetTest, KnowsItsElementsAndShapes) {
  const TensorSet one(numbers({4, 2}), numbers({4}));
  const TensorSet same(numbers({4, 2}), numbers({4}));
  const TensorSet other(numbers({4, 1, 2}), numbers({4}));
  EXPECT_EQ(one.fingerprint(), same.fingerprint());
  EXPECT_NE(one.fingerprint(), other.fingerprint());
  EXPECT_NE(one.fingerprint(),
            TensorSet(numbers({4, 2}), ones({4})).fingerprint());
}

TEST(TensorSetTest, ThatWasMovedFromThrows) {
  TensorSet points(numbers({2, 1}), numbers({2}));
  const TensorSet taken = std::move(points);
  EXPECT_EQ(taken.size(), 2);
  // NOLINTNEXTLINE(bugprone-use-after-move): what the test is about
  EXPECT_THROW(points.size(), UseAfterRelease);
}

TEST(TensorSetTest, HasNoSamplesButItsOwn) {
  const TensorSet points(numbers({3, 2}), numbers({3}, i64));
  std::array<std::byte, 16> bytes{};
  const auto load = [&](std::int64_t index, std::size_t input,
                        std::size_t target) {
    return points
        .load(index, std::span(bytes).first(input),
              std::span(bytes).last(target))
        .has_value();
  };
  EXPECT_TRUE(load(2, 8, 8));
  EXPECT_FALSE(load(-1, 8, 8));
  EXPECT_FALSE(load(3, 8, 8));
  EXPECT_FALSE(load(0, 4, 8));
  EXPECT_FALSE(load(0, 8, 4));
  // A loader knows the samples that there were.
  static_assert(!std::is_copy_assignable_v<TensorSet> &&
                !std::is_move_assignable_v<TensorSet>);
}

TEST(TensorSetTest, MayBeUsedInADryRun) {
  const auto rehearsal = memory::Domain::create({.is_rehearsal = true});
  const memory::UseDomain use(*rehearsal);
  const TensorSet points(numbers({6, 2}), zeros({6}, i64));
  Loader loader(points, {.batch = 4});
  std::int64_t samples = 0;
  for (const Batch& batch : loader.epoch(0)) {
    samples += batch.size();
  }
  EXPECT_EQ(samples, 6);
  EXPECT_EQ(points.fingerprint(), points.fingerprint());
}

TEST(TensorSetTest, OfNoRowsHasNoBatches) {
  const TensorSet points(zeros({0, 3}), zeros({0}));
  Loader loader(points, {.batch = 2});
  for (const Batch& batch : loader.epoch(0)) {
    FAIL() << "a batch of " << batch.size();
  }
}

}  // namespace
}  // namespace neap::data
