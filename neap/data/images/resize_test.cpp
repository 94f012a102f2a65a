// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/images/resize.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "neap/data/images/golden_for_test.hpp"

namespace neap::data {
namespace {

using testing::ElementsAre;

Image of_values(std::int64_t height, std::int64_t width,
                std::initializer_list<std::uint8_t> values) {
  Image image;
  image.height = height;
  image.width = width;
  image.channels = 1;
  image.pixels.assign(values);
  return image;
}

TEST(ResizeTest, GivesTheBytesOfPil) {
  const Image image = pattern_image(37, 23);
  for (const auto& [height, width] :
       {std::pair(16, 10), std::pair(50, 61), std::pair(37, 10),
        std::pair(80, 23), std::pair(1, 1), std::pair(36, 22),
        std::pair(5, 90)}) {
    const Image small = resize_image(image, height, width);
    EXPECT_EQ(small.height, height);
    EXPECT_EQ(small.width, width);
    EXPECT_EQ(bytes_of(small), golden("resized_" + std::to_string(height) +
                                      "x" + std::to_string(width) + ".rgb"))
        << height << "x" << width;
  }
  EXPECT_EQ(bytes_of(resize_image(pattern_image(1, 1), 3, 4)),
            golden("pixel_3x4.rgb"));
}

TEST(ResizeTest, GivesTheBytesOfPilForGrey) {
  const Image colours = pattern_image(37, 23);
  Image grey = of_values(37, 23, {});
  for (std::size_t at = 0; at < colours.pixels.size(); at += 3) {
    const auto* pixel = &colours.pixels[at];
    grey.pixels.push_back(static_cast<std::uint8_t>(
        (19595 * pixel[0] + 38470 * pixel[1] + 7471 * pixel[2] + 32768) /
        65536));
  }
  EXPECT_EQ(bytes_of(resize_image(grey, 9, 14)), golden("resized_9x14.grey"));
}

// Pixels beside the part would shine in at its edges.
TEST(ResizeTest, TakesAPartForTheWholeImage) {
  const Image made = resize_image(
      pattern_image(37, 23), {.top = 5, .left = 3, .height = 29, .width = 11},
      12, 13, {0, 0, 12, 13});
  EXPECT_EQ(bytes_of(made), golden("part_12x13.rgb"));
}

TEST(ResizeTest, AveragesWhereItHalves) {
  // Triangles of two pixels' half width: (1, 3, 3, 1) / 8 inside.
  const Image made =
      resize_image(of_values(1, 8, {0, 0, 0, 0, 80, 80, 80, 80}), 1, 4);
  EXPECT_THAT(made.pixels, ElementsAre(0, 10, 70, 80));
}

TEST(ResizeTest, LeavesAnImageOfTheSameSize) {
  const Image image = pattern_image(9, 8);
  EXPECT_EQ(bytes_of(resize_image(image, 9, 8)), bytes_of(image));
}

TEST(ResizeTest, ComputesAWindowAsInTheWhole) {
  const Image image = pattern_image(19, 31);
  const Image whole = resize_image(image, 11, 40);
  const Image part = resize_image(image, {0, 0, 19, 31}, 11, 40, {3, 7, 5, 20});
  ASSERT_EQ(part.height, 5);
  ASSERT_EQ(part.width, 20);
  for (std::size_t row = 0; row < 5; ++row) {
    for (std::size_t at = 0; at < 20 * 3; ++at) {
      ASSERT_EQ(part.pixels[row * 20 * 3 + at],
                whole.pixels[((row + 3) * 40 + 7) * 3 + at]);
    }
  }
}

// A window of a result that would have 48 GB costs what the window costs.
TEST(ResizeTest, TakesMemoryForTheWindowAlone) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const Image image = pattern_image(2, 2000);
  domain->reset_peak();
  const Bytes before = domain->stats().live;
  const Image part = resize_image(image, {0, 0, 2, 2000}, 4000, 4'000'000,
                                  {1000, 2'000'000, 100, 100});
  EXPECT_EQ(part.pixels.size(), 30'000U);
  EXPECT_LT(domain->stats().live_peak - before, 100 * kKiB);
}

TEST(ResizeTest, RefusesPartsThatAreNotThere) {
  const Image image = pattern_image(4, 5);
  const ImageBox whole{0, 0, 4, 5};
  const ImageBox all{0, 0, 2, 2};
  EXPECT_NO_THROW((void)resize_image(image, whole, 2, 2, all));
  for (const ImageBox& bad :
       {ImageBox{0, 0, 5, 5}, ImageBox{0, 1, 4, 5}, ImageBox{-1, 0, 2, 2},
        ImageBox{0, 0, 0, 2}, ImageBox{2, 0, 3, 2}}) {
    EXPECT_THROW((void)resize_image(image, bad, 2, 2, all), ValueError);
    EXPECT_THROW((void)resize_image(image, whole, 4, 5, bad), ValueError);
  }
  EXPECT_THROW((void)resize_image(image, 0, 2), ValueError);
  EXPECT_THROW((void)resize_image(Image{}, 2, 2), ValueError);
  Image lies = pattern_image(4, 5);
  lies.height = 6;
  EXPECT_THROW((void)resize_image(lies, 2, 2), ValueError);
  lies = {};
  lies.height = lies.width = std::int64_t{1} << 32U;  // times itself: 0
  EXPECT_THROW((void)resize_image(lies, 2, 2), ValueError);
}

}  // namespace
}  // namespace neap::data
