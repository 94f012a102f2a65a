// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/images/image_transform.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "neap/base/philox.hpp"
#include "neap/data/images/golden_for_test.hpp"
#include "neap/data/images/jitter.hpp"

namespace neap::data {
namespace {

// Pixels come out as they are, 0 to 255.
constexpr std::array<PixelStatistics, 3> kPlain = {
    {{0.0, 1.0 / 255.0}, {0.0, 1.0 / 255.0}, {0.0, 1.0 / 255.0}}};

std::vector<float> sample(const ImageTransform& transform, const Image& image,
                          SampleId id = {}) {
  const ImageTransformOptions& o = transform.options();
  std::vector<float> out(
      static_cast<std::size_t>(o.height * o.width * image.channels));
  transform.apply(image, id, out);
  return out;
}

// Planes as the bytes of pixels that lie side by side.
std::string interleaved(const std::vector<float>& planes) {
  const std::size_t plane = planes.size() / 3;
  std::string bytes;
  for (std::size_t at = 0; at < plane; ++at) {
    for (std::size_t channel = 0; channel < 3; ++channel) {
      bytes += static_cast<char>(static_cast<unsigned char>(
          std::lround(planes[channel * plane + at])));
    }
  }
  return bytes;
}

Image of_greys(std::int64_t height, std::int64_t width,
               std::initializer_list<std::uint8_t> values) {
  Image image;
  image.height = height;
  image.width = width;
  image.channels = 1;
  image.pixels.assign(values);
  return image;
}

TEST(ImageTransformTest, CutsTheMiddleOutAsTorchvisionDoes) {
  const ImageTransform high(
      {.height = 20, .width = 17, .shorter_side = 24, .statistics = kPlain});
  EXPECT_EQ(interleaved(sample(high, pattern_image(37, 23))),
            golden("middle_24.rgb"));
  const ImageTransform wide(
      {.height = 30, .width = 31, .shorter_side = 31, .statistics = kPlain});
  EXPECT_EQ(interleaved(sample(wide, pattern_image(23, 40))),
            golden("middle_31.rgb"));
}

TEST(ImageTransformTest, ResizesStraightWithoutAShorterSide) {
  const ImageTransform transform(
      {.height = 16, .width = 10, .statistics = kPlain});
  EXPECT_EQ(interleaved(sample(transform, pattern_image(37, 23))),
            golden("resized_16x10.rgb"));
}

TEST(ImageTransformTest, StandardisesChannelByChannel) {
  Image image = of_greys(1, 1, {51, 102, 255});
  image.channels = 3;
  const ImageTransform transform(
      {.height = 1,
       .width = 1,
       .statistics = {{{0.5, 0.1}, {0.4, 0.2}, {0.0, 2.0}}}});
  EXPECT_THAT(sample(transform, image),
              testing::ElementsAre(testing::FloatEq(-3.0F),
                                   testing::FloatNear(0.0F, 1e-7F),
                                   testing::FloatEq(0.5F)));
}

TEST(ImageTransformTest, TakesThePartsThatTorchvisionsFormulaGives) {
  std::istringstream lines(golden("crops.txt"));
  int count = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  ImageTransformOptions o;
  o.random_resized_crop = true;
  SampleId id;
  ImageBox box;
  while (lines >> height >> width >> o.area.low >> o.area.high >> o.ratio.low >>
         o.ratio.high >> o.seed >> id.epoch >> id.index >> box.top >>
         box.left >> box.height >> box.width) {
    EXPECT_EQ(ImageTransform(o).part_of(height, width, id), box)
        << height << " " << width << " " << id.index;
    ++count;
  }
  EXPECT_EQ(count, 25);
}

TEST(ImageTransformTest, ResizesTheRandomPart) {
  const Image image = pattern_image(37, 23);
  const ImageTransform transform({.height = 8,
                                  .width = 9,
                                  .random_resized_crop = true,
                                  .statistics = kPlain,
                                  .seed = 5});
  std::set<std::string> seen;
  for (std::int64_t epoch = 0; epoch < 20; ++epoch) {
    const SampleId id{epoch, 3};
    const Image part =
        resize_image(image, transform.part_of(37, 23, id), 8, 9, {0, 0, 8, 9});
    EXPECT_EQ(interleaved(sample(transform, image, id)), bytes_of(part));
    seen.insert(bytes_of(part));
  }
  EXPECT_EQ(seen.size(), 20U);
}

TEST(ImageTransformTest, DrawsAreasUniformly) {
  const ImageTransform transform(
      {.random_resized_crop = true, .area = {0.2, 0.4}, .seed = 1});
  constexpr int kSamples = 4000;
  double sum = 0.0;
  double logs = 0.0;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    const ImageBox box = transform.part_of(1000, 1000, {2, i});
    const auto height = static_cast<double>(box.height);
    const auto width = static_cast<double>(box.width);
    sum += height * width / 1e6;
    logs += std::log(width / height);
    EXPECT_GE(height * width, 0.2e6 * 0.99);
    EXPECT_LE(height * width, 0.4e6 * 1.01);
  }
  EXPECT_NEAR(sum / kSamples, 0.3, 0.005);
  EXPECT_NEAR(logs / kSamples, 0.0, 0.01);
}

TEST(ImageTransformTest, MirrorsAsOftenAsItShould) {
  const Image image = of_greys(1, 2, {10, 20});
  const ImageTransform transform(
      {.height = 1, .width = 2, .flip = 0.25, .statistics = kPlain});
  int mirrored = 0;
  constexpr int kSamples = 8000;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    const auto out = sample(transform, image, {i % 3, i});
    ASSERT_TRUE(out[0] == 10.0F || out[0] == 20.0F);
    ASSERT_EQ(out[0] + out[1], 30.0F);
    mirrored += out[0] == 20.0F ? 1 : 0;
  }
  EXPECT_NEAR(mirrored, kSamples / 4.0, 150);
  const ImageTransform always(
      {.height = 1, .width = 2, .flip = 1.0, .statistics = kPlain});
  EXPECT_EQ(sample(always, image)[0], 20.0F);
}

TEST(ImageTransformTest, DrawsFactorsOfBrightnessUniformly) {
  const Image image = of_greys(1, 1, {100});
  const ImageTransform transform({.height = 1,
                                  .width = 1,
                                  .jitter = {.brightness = 0.5},
                                  .statistics = kPlain});
  double sum = 0.0;
  float least = 255.0F;
  float most = 0.0F;
  constexpr int kSamples = 4000;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    const float value = sample(transform, image, {0, i})[0];
    sum += value;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  EXPECT_EQ(least, 50.0F);
  EXPECT_EQ(most, 149.0F);
  EXPECT_NEAR(sum / kSamples, 99.5, 1.5);
}

// Contrast about the mean of two greys, and brightness: they do not commute.
TEST(ImageTransformTest, ChangesColoursInAnOrderThatIsDrawn) {
  const Image image = of_greys(1, 2, {100, 200});
  const ImageTransform transform(
      {.height = 1,
       .width = 2,
       .jitter = {.brightness = 0.9, .contrast = 0.9},
       .statistics = kPlain});
  int brightness_first = 0;
  int either = 0;
  const auto blend = [](double x, double d, double f) {
    return std::floor(std::clamp(d + f * (x - d), 0.0, 255.0));
  };
  constexpr int kSamples = 2000;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    const base::DrawKey key{0, (std::uint64_t{11} << 60U)};
    const auto w = key.block(static_cast<std::uint64_t>(i) * 32 + 13);
    const double b = 0.1 + 1.8 * base::uniform_f64(w[0], w[1]);
    const double c = 0.1 + 1.8 * base::uniform_f64(w[2], w[3]);
    const double first = blend(100, 0, b);
    const double second = blend(200, 0, b);
    const double mean = std::floor((first + second) / 2 + 0.5);
    const double one_way = blend(first, mean, c);
    const double other_way = blend(blend(100, 150, c), 0, b);
    const float value = sample(transform, image, {0, i})[0];
    brightness_first += std::abs(value - one_way) <= 1.0 ? 1 : 0;
    either +=
        std::min(std::abs(value - one_way), std::abs(value - other_way)) <= 1.0
            ? 1
            : 0;
  }
  EXPECT_EQ(either, kSamples);
  // Half of them, and those for which both orders agree.
  EXPECT_GT(brightness_first, kSamples * 0.5);
  EXPECT_LT(brightness_first, kSamples * 0.85);
}

Image of_one_colour(std::uint8_t red, std::uint8_t green, std::uint8_t blue) {
  Image image;
  image.height = 1;
  image.width = 1;
  image.channels = 3;
  image.pixels.assign({red, green, blue});
  return image;
}

// Red turned by a share of the circle up to a sixth has full red, and green for
// turns of one sign, blue for the other: six times the share.
TEST(ImageTransformTest, TurnsHuesUniformlyEitherWay) {
  const Image red = of_one_colour(255, 0, 0);
  const ImageTransform transform(
      {.height = 1, .width = 1, .jitter = {.hue = 0.1}, .statistics = kPlain});
  double sum = 0.0;
  float most = 0.0F;
  constexpr int kSamples = 4000;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    const auto out = sample(transform, red, {0, i});
    ASSERT_EQ(out[0], 255.0F);
    ASSERT_EQ(std::min(out[1], out[2]), 0.0F);
    sum += out[1] - out[2];
    most = std::max(most, std::max(out[1], out[2]));
  }
  EXPECT_EQ(most, 150.0F);  // 25 steps of 6
  EXPECT_NEAR(sum / kSamples, 0.0, 5.0);
}

// A pixel that becomes brighter than white loses its hue: they do not commute.
TEST(ImageTransformTest, PutsHueAmongTheOtherChanges) {
  const ImageTransform transform({.height = 1,
                                  .width = 1,
                                  .jitter = {.brightness = 0.9, .hue = 0.5},
                                  .statistics = kPlain});
  const auto floats_of = [](const Image& image) {
    return std::vector<float>(image.pixels.begin(), image.pixels.end());
  };
  int hue_first = 0;
  int brightness_first = 0;
  constexpr int kSamples = 1000;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    const base::DrawKey key{0, (std::uint64_t{11} << 60U)};
    const auto block = static_cast<std::uint64_t>(i) * 32;
    const auto w = key.block(block + 13);
    const auto further = key.block(block + 14);
    const auto factor =
        static_cast<float>(0.1 + 1.8 * base::uniform_f64(w[0], w[1]));
    const int shift = static_cast<int>(
        255.0 * (-0.5 + base::uniform_f64(further[2], further[3])));
    Image one = of_one_colour(200, 160, 40);
    images::change_hue(one, shift);
    images::change_brightness(one, factor);
    Image other = of_one_colour(200, 160, 40);
    images::change_brightness(other, factor);
    images::change_hue(other, shift);
    const auto out = sample(transform, of_one_colour(200, 160, 40), {0, i});
    const bool is_one = out == floats_of(one);
    const bool is_other = out == floats_of(other);
    ASSERT_TRUE(is_one || is_other) << i;
    hue_first += is_one && !is_other ? 1 : 0;
    brightness_first += is_other && !is_one ? 1 : 0;
  }
  const int both = hue_first + brightness_first;
  EXPECT_GT(both, kSamples / 3);
  EXPECT_NEAR(hue_first, both / 2.0, both / 8.0);
}

TEST(ImageTransformTest, DrawsEachChoiceForItself) {
  const Image image = pattern_image(40, 40);
  ImageTransformOptions o{.height = 40,
                          .width = 40,
                          .random_resized_crop = true,
                          .area = {0.5, 0.9},
                          .statistics = kPlain,
                          .seed = 11};
  const ImageBox part = ImageTransform(o).part_of(40, 40, {1, 2});
  o.flip = 0.5;
  o.jitter = {.saturation = 0.3};
  EXPECT_EQ(ImageTransform(o).part_of(40, 40, {1, 2}), part);
  o.jitter.hue = 0.1;
  EXPECT_EQ(ImageTransform(o).part_of(40, 40, {1, 2}), part);
  o.seed = 12;
  EXPECT_NE(ImageTransform(o).part_of(40, 40, {1, 2}), part);
}

TEST(ImageTransformTest, HasAFingerprintOfAllOptions) {
  std::set<std::uint64_t> seen;
  const auto add = [&](const auto& change) {
    ImageTransformOptions o{.height = 8, .width = 8};
    change(o);
    seen.insert(ImageTransform(o).fingerprint());
  };
  add([](auto&) {});
  add([](auto&) {});
  add([](auto& o) { o.height = 9; });
  add([](auto& o) { o.width = 9; });
  add([](auto& o) { o.shorter_side = 9; });
  add([](auto& o) { o.random_resized_crop = true; });
  add([](auto& o) { o.area.low = 0.1; });
  add([](auto& o) { o.area.high = 0.9; });
  add([](auto& o) { o.ratio.low = 0.7; });
  add([](auto& o) { o.ratio.high = 1.5; });
  add([](auto& o) { o.flip = 0.5; });
  add([](auto& o) { o.jitter.brightness = 0.1; });
  add([](auto& o) { o.jitter.contrast = 0.1; });
  add([](auto& o) { o.jitter.saturation = 0.1; });
  add([](auto& o) { o.jitter.hue = 0.1; });
  add([](auto& o) { o.statistics[2].mean = 0.1; });
  add([](auto& o) { o.statistics[1].deviation = 0.1; });
  add([](auto& o) { o.seed = 1; });
  EXPECT_EQ(seen.size(), 17U);
}

TEST(ImageTransformTest, RefusesOptionsThatMakeNoSense) {
  const double nan = std::nan("");
  const auto refuses = [](const auto& change) {
    ImageTransformOptions o{.height = 8, .width = 8};
    change(o);
    EXPECT_THROW(ImageTransform{o}, ValueError);
  };
  refuses([](auto& o) { o.height = 0; });
  refuses([](auto& o) { o.width = 65'536; });
  refuses([](auto& o) { o.shorter_side = 7; });
  refuses([](auto& o) { o.shorter_side = -1; });
  refuses([](auto& o) { o.area = {0.0, 1.0}; });
  refuses([](auto& o) { o.area = {0.5, 1.1}; });
  refuses([](auto& o) { o.area = {0.5, 0.4}; });
  refuses([](auto& o) { o.ratio = {0.0, 1.0}; });
  refuses([&](auto& o) { o.ratio = {nan, 1.0}; });
  refuses([](auto& o) { o.flip = 1.5; });
  refuses([&](auto& o) { o.flip = nan; });
  refuses([](auto& o) { o.jitter.contrast = -0.1; });
  refuses([&](auto& o) { o.jitter.saturation = nan; });
  refuses([](auto& o) { o.jitter.brightness = 1e300; });
  refuses([](auto& o) { o.jitter.hue = 0.51; });
  refuses([&](auto& o) { o.jitter.hue = nan; });
  refuses([](auto& o) { o.statistics[1].deviation = 0.0; });
  refuses([&](auto& o) { o.statistics[0].mean = nan; });
}

TEST(ImageTransformTest, RefusesImagesThatDoNotFit) {
  const ImageTransform transform({.height = 8, .width = 8});
  std::vector<float> out(3 * 64);
  EXPECT_THROW(transform.apply(Image{}, {}, out), ValueError);
  EXPECT_THROW(
      transform.apply(pattern_image(4, 4), {}, std::span(out).first(9)),
      ValueError);
}

}  // namespace
}  // namespace neap::data
