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
