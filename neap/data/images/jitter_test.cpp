// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/images/jitter.hpp"

#include <gtest/gtest.h>

#include "neap/data/images/golden_for_test.hpp"

namespace neap::data::images {
namespace {

struct Case {
  void (*change)(Image&, float);
  const char* name;
  float factor;
};

TEST(JitterTest, GivesTheBytesOfPil) {
  const auto brightness = [](Image& image, float factor) {
    change_brightness(image, factor);
  };
  const auto contrast = [](Image& image, float factor) {
    change_contrast(image, factor);
  };
  const auto saturation = [](Image& image, float factor) {
    change_saturation(image, factor);
  };
  for (const Case& each :
       {Case{brightness, "brightness_0", 0.0F},
        Case{brightness, "brightness_60", 0.6F},
        Case{brightness, "brightness_170", 1.7F},
        Case{contrast, "contrast_0", 0.0F}, Case{contrast, "contrast_30", 0.3F},
        Case{contrast, "contrast_190", 1.9F}, Case{saturation, "color_0", 0.0F},
        Case{saturation, "color_45", 0.45F},
        Case{saturation, "color_180", 1.8F}}) {
    Image image = pattern_image(13, 17);
    each.change(image, each.factor);
    EXPECT_EQ(bytes_of(image), golden(std::string(each.name) + ".rgb"))
        << each.name;
    Image same = pattern_image(13, 17);
    each.change(same, 1.0F);
    EXPECT_EQ(bytes_of(same), bytes_of(pattern_image(13, 17)));
  }
}

TEST(JitterTest, TurnsHuesToTheBytesOfTorchvision) {
  for (const int shift : {0, 25, 127, -127, -63}) {
    Image image = pattern_image(13, 17);
    change_hue(image, shift);
    EXPECT_EQ(bytes_of(image), golden("hue_" + std::to_string(shift) + ".rgb"))
        << shift;
  }
}

// A digest of all 2^24 colours after a turn, by PIL 12.
TEST(JitterTest, TurnsHuesOfAllColoursAsPilDoes) {
  Image image;
  image.height = 256;
  image.width = 256 * 256;
  image.channels = 3;
  for (unsigned colour = 0; colour < (1U << 24U); ++colour) {
    for (const unsigned place : {16U, 8U, 0U}) {
      image.pixels.push_back(static_cast<std::uint8_t>(colour >> place));
    }
  }
  change_hue(image, 37);
  std::uint64_t digest = 0;
  for (const std::uint8_t value : image.pixels) {
    digest = digest * 31 + value;
  }
  EXPECT_EQ(digest, 6361117717605220636ULL);
}

TEST(JitterTest, LeavesTheHueOfAGreyImage) {
  Image image;
  image.height = 1;
  image.width = 2;
  image.channels = 1;
  image.pixels.assign({10, 200});
  change_hue(image, 100);
  EXPECT_EQ(image.pixels[0], 10);
  EXPECT_EQ(image.pixels[1], 200);
}

TEST(JitterTest, TakesAGreyImageForItsOwnGreys) {
  Image image;
  image.height = 1;
  image.width = 3;
  image.channels = 1;
  image.pixels.assign({10, 20, 62});
  change_saturation(image, 0.0F);
  EXPECT_EQ(image.pixels[2], 62);
  Image mean = image;
  change_contrast(mean, 0.0F);
  EXPECT_EQ(mean.pixels[0], 31);  // of 92 / 3
  change_contrast(image, 2.0F);
  EXPECT_EQ(image.pixels[0], 0);  // 31 - 42 is out of range
  EXPECT_EQ(image.pixels[1], 9);
  EXPECT_EQ(image.pixels[2], 93);
}

}  // namespace
}  // namespace neap::data::images
