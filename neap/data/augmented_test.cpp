// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/augmented.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <vector>

#include "neap/data/loader.hpp"
#include "neap/tensor/create.hpp"

namespace neap::data {
namespace {

using testing::ElementsAre;

// n images of the shape, whose pixels count from 1; labels count from 0. Pixels
// come out as they are.
ImageSet counting(const Shape& shape) {
  std::vector<double> pixels(static_cast<std::size_t>(shape.element_count()));
  std::iota(pixels.begin(), pixels.end(), 1.0);
  std::vector<double> labels(static_cast<std::size_t>(shape[0]));
  std::iota(labels.begin(), labels.end(), 0.0);
  ImageSet set(from_values(pixels, shape, u8),
               from_values(labels, {shape[0]}, u8), 10);
  set.standardise(PixelStatistics{.mean = 0.0, .deviation = 1.0 / 255.0});
  return set;
}

std::vector<int> sample(const Augmented& set, SampleId id) {
  std::vector<float> pixels(
      static_cast<std::size_t>(set.spec().input.element_count()));
  std::int64_t label = -1;
  set.load(id, std::as_writable_bytes(std::span(pixels)),
           std::as_writable_bytes(std::span(&label, 1)));
  EXPECT_EQ(label, id.index);
  std::vector<int> whole;
  for (const float pixel : pixels) {
    whole.push_back(static_cast<int>(std::lround(pixel)));
  }
  return whole;
}

TEST(AugmentedTest, PadsWithPixelsOfValueZero) {
  const ImageSet set = counting({2, 2, 2});
  const Augmented padded(set, {.padding = 1});
  EXPECT_EQ(padded.spec().input, (Shape{1, 4, 4}));
  EXPECT_THAT(sample(padded, {0, 1}), ElementsAre(0, 0, 0, 0,  //
                                                  0, 5, 6, 0,  //
                                                  0, 7, 8, 0,  //
                                                  0, 0, 0, 0));
}

TEST(AugmentedTest, StandardisesWhatItPadsWithChannelByChannel) {
  ImageSet set = counting({1, 2, 1, 1});
  set.standardise_channels(
      std::vector<PixelStatistics>{{.mean = 2.0, .deviation = 1.0 / 255.0},
                                   {.mean = 3.0, .deviation = 1.0 / 255.0}});
  EXPECT_THAT(sample(Augmented(set, {.padding = 1, .height = 1}), {}),
              ElementsAre(-510, -509, -510, -765, -763, -765));
  EXPECT_THROW(set.standardise_channels(std::vector<PixelStatistics>(3)),
               ShapeError);
}

TEST(AugmentedTest, TakesTheMiddleUnlessTheCropIsRandom) {
  const ImageSet set = counting({1, 3, 4});
  EXPECT_THAT(sample(Augmented(set, {.height = 1, .width = 2}), {}),
              ElementsAre(6, 7));
  EXPECT_THAT(
      sample(Augmented(set, {.padding = 1, .height = 2, .width = 3}), {}),
      ElementsAre(1, 2, 3, 5, 6, 7));
}

TEST(AugmentedTest, MirrorsLeftAndRight) {
  const ImageSet set = counting({1, 2, 2, 2});
  EXPECT_THAT(sample(Augmented(set, {.flip = 1.0}), {}),
              ElementsAre(2, 1, 4, 3, 6, 5, 8, 7));
  EXPECT_THAT(
      sample(Augmented(set, {.padding = 1, .width = 3, .flip = 1.0}), {}),
      ElementsAre(0, 0, 0, 2, 1, 0, 4, 3, 0, 0, 0, 0,  //
                  0, 0, 0, 6, 5, 0, 8, 7, 0, 0, 0, 0));
}

TEST(AugmentedTest, CropsEveryPlaceAndMirrorsAsOftenAsItShould) {
  const ImageSet set = counting({1, 2, 2});
  const Augmented random(
      set, {.padding = 1, .random_crop = true, .flip = 0.25, .seed = 3});
  EXPECT_EQ(random.spec().input, (Shape{1, 2, 2}));
  std::map<std::vector<int>, int> seen;
  constexpr int kEpochs = 36'000;
  for (std::int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    ++seen[sample(random, {epoch, 0})];
  }
  EXPECT_EQ(seen.size(), 18U);  // 3 x 3 places, mirrored or not
  EXPECT_NEAR((seen[{1, 2, 3, 4}]), kEpochs / 9.0 * 0.75, 250);
  EXPECT_NEAR((seen[{2, 1, 4, 3}]), kEpochs / 9.0 * 0.25, 150);
  EXPECT_NEAR((seen[{0, 0, 0, 1}]), kEpochs / 9.0 * 0.75, 250);
  EXPECT_NEAR((seen[{0, 4, 0, 0}]), kEpochs / 9.0 * 0.25, 150);
}

TEST(AugmentedTest, IsTheSameWhoeverReads) {
  const ImageSet set = counting({9, 5, 5});
  const Augmented random(
      set, {.padding = 2, .random_crop = true, .flip = 0.5, .seed = 3});
  Loader plain(random, {.batch = 4, .shuffle = true});
  Loader ahead(random, {.batch = 4, .shuffle = true, .prefetch = 2});
  plain.start(5);
  ahead.start(5, 1);
  plain.next();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(plain.next()->input.to_vector(), ahead.next()->input.to_vector());
  }
  EXPECT_NE(sample(random, {5, 1}), sample(random, {6, 1}));
}

TEST(AugmentedTest, RefusesOptionsThatMakeNoSense) {
  const ImageSet set = counting({1, 3, 4});
  EXPECT_THROW(Augmented(set, {.padding = -1}), ValueError);
  EXPECT_THROW(Augmented(set, {.height = 4}), ValueError);
  EXPECT_THROW(Augmented(set, {.width = -1}), ValueError);
  EXPECT_THROW(Augmented(set, {.flip = 1.5}), ValueError);
  EXPECT_THROW(Augmented(counting({2, 5}), {}), ShapeError);
}

}  // namespace
}  // namespace neap::data
