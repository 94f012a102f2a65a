// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/images/image.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "neap/data/images/golden_for_test.hpp"
#include "neap/files/fault_door.hpp"
#include "neap/files/temporary_folder.hpp"

namespace neap::data {
namespace {

using files::system_door;

class GoldenPngTest : public testing::TestWithParam<const char*> {};

TEST_P(GoldenPngTest, HasThePixelsOfTheDefinition) {
  const std::string name = GetParam();
  const auto image = read_image(system_door(), golden_path(name + ".png"));
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(image->channels, 3);
  EXPECT_EQ(bytes_of(*image), golden(name + ".rgb"));
}

INSTANTIATE_TEST_SUITE_P(
    All, GoldenPngTest,
    testing::Values("grey1", "grey1_interlaced", "grey2", "grey2_interlaced",
                    "grey4", "grey4_interlaced", "grey8", "grey8_interlaced",
                    "grey16", "grey16_interlaced", "grey_alpha8",
                    "grey_alpha16", "rgb8", "rgb16", "rgba8_interlaced",
                    "rgba16_interlaced", "palette1", "palette2", "palette4",
                    "palette8", "one", "chunks"),
    [](const auto& each) { return std::string(each.param); });

class GoldenJpegTest : public testing::TestWithParam<const char*> {};

// A decoder may round its transforms by one step in another way than the one of
// the recording.
TEST_P(GoldenJpegTest, HasThePixelsThatPilReads) {
  const std::string name = GetParam();
  const auto image = read_image(system_door(), golden_path(name + ".jpg"));
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_LE(largest_difference(bytes_of(*image), golden(name + ".rgb")), 2);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenJpegTest,
                         testing::Values("sampled", "full", "restarts",
                                         "progressive", "grey",
                                         "grey_progressive", "cmyk", "pixel"),
                         [](const auto& each) {
                           return std::string(each.param);
                         });

TEST(ImageTest, HasTheSizeOfTheFile) {
  const auto image = read_image(system_door(), golden_path("sampled.jpg"));
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(image->height, 21);
  EXPECT_EQ(image->width, 27);
  const auto one = read_image(system_door(), golden_path("rgb8.png"));
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ(one->height, 11);
  EXPECT_EQ(one->width, 13);
}

TEST(ImageTest, MakesGreyOfColoursAsPilDoes) {
  // The file's pixels are the pattern's.
  const auto image =
      read_image(system_door(), golden_path("rgb8.png"), {.channels = 1});
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(image->channels, 1);
  EXPECT_EQ(bytes_of(*image), golden("luma.grey"));
}

TEST(ImageTest, TellsTheFormatByTheContent) {
  const files::TemporaryFolder folder;
  const std::string path = folder.put("picture.jpg", golden("rgb8.png"));
  const auto image = read_image(system_door(), path);
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(bytes_of(*image), golden("rgb8.rgb"));
}

TEST(ImageTest, CountsAllMemoryAtTheDoorAndFreesIt) {
  for (const char* name : {"rgb8.png", "rgba16_interlaced.png", "sampled.jpg",
                           "progressive.jpg"}) {
    const auto domain = Domain::create();
    const UseDomain use(*domain);
    {
      const auto image = read_image(system_door(), golden_path(name));
      ASSERT_TRUE(image) << image.error().message;
      EXPECT_EQ(domain->stats().live,
                static_cast<Bytes>(image->pixels.capacity()));
    }
    EXPECT_EQ(domain->stats().live, 0);
    EXPECT_GT(domain->stats().live_peak, 20'000) << name;
  }
}

TEST(ImageTest, SurvivesEveryFailureOfTheDoor) {
  for (const char* name : {"rgb8.png", "progressive.jpg"}) {
    std::int64_t n = 1;
    for (; n < 1000; ++n) {
      files::FaultDoor door(system_door(), {.fail_at = n, .longest_read = 100});
      const auto image = read_image(door, golden_path(name));
      if (image) {
        EXPECT_LE(
            largest_difference(bytes_of(*image),
                               golden(std::string(name).substr(
                                          0, std::string_view(name).find('.')) +
                                      ".rgb")),
            2);
        break;
      }
      ASSERT_EQ(image.error().kind, FailureKind::kIo);
    }
    EXPECT_GT(n, 5);
    EXPECT_LT(n, 1000);
  }
}

TEST(ImageTest, SurvivesEveryFailureOfMemory) {
  for (const char* name : {"rgba16_interlaced.png", "rgb8.png", "full.jpg",
                           "progressive.jpg", "cmyk.jpg"}) {
    const auto domain = Domain::create();
    const UseDomain use(*domain);
    std::int64_t n = 1;
    for (bool is_read = false; !is_read && n < 1000; ++n) {
      domain->fail_at(n);
      try {
        is_read = read_image(system_door(), golden_path(name)).has_value();
        EXPECT_TRUE(is_read) << name;  // no failure takes the place of a throw
      } catch (const OutOfMemory&) {
      }
      ASSERT_EQ(domain->stats().live, 0) << name << " " << n;
    }
    domain->fail_at(0);
    EXPECT_GT(n, 5) << name;
    EXPECT_LT(n, 1000) << name;
  }
}

TEST(ImageTest, RefusesLimitsThatMakeNoSense) {
  const std::string path = golden_path("one.png");
  EXPECT_THROW((void)read_image(system_door(), path, {.channels = 2}),
               ValueError);
  EXPECT_THROW((void)read_image(system_door(), path, {.pixels = 0}),
               ValueError);
  EXPECT_THROW(
      (void)read_image(system_door(), path, {.pixels = std::int64_t{1} << 41U}),
      ValueError);
}

TEST(ImageTest, SaysWhatReadingTakesAtMost) {
  // Eleven bytes a pixel, and what does not grow with the limit.
  const Bytes small = most_bytes_of_image({.pixels = 1});
  EXPECT_LT(small, kMiB);
  const Bytes most = most_bytes_of_image({.pixels = std::int64_t{1} << 26U});
  EXPECT_GT(most, std::int64_t{11} << 26U);
  EXPECT_LT(most, (std::int64_t{11} << 26U) + 52'000'000);
}

TEST(ImageTest, AHeaderSaysSizeAndWhatReadingTakesAtMost) {
  const auto domain = memory::Domain::create();
  const memory::UseDomain use(*domain);
  for (const char* name :
       {"rgb8.png", "palette4.png", "rgba16_interlaced.png", "grey1.png",
        "sampled.jpg", "progressive.jpg", "cmyk.jpg", "grey.jpg"}) {
    const std::string path = golden_path(name);
    const auto header = read_image_header(system_door(), path);
    ASSERT_TRUE(header.has_value()) << name;
    EXPECT_EQ(domain->stats().live, 0) << name;
    domain->reset_peak();
    const auto image = read_image(system_door(), path);
    EXPECT_EQ(header->height, image->height) << name;
    EXPECT_EQ(header->width, image->width) << name;
    EXPECT_LE(domain->stats().live_peak, header->most_bytes) << name;
    EXPECT_GE(header->most_bytes, 3 * image->height * image->width) << name;
  }
}

TEST(ImageTest, AHeaderIsRefusedAsTheImageIs) {
  const std::string path = golden_path("sampled.jpg");
  EXPECT_EQ(read_image_header(system_door(), path, {.pixels = 9}).error().kind,
            FailureKind::kTooLarge);
  EXPECT_EQ(
      read_image_header(system_door(), golden_path("rgb8.rgb")).error().kind,
      FailureKind::kUnsupported);
  EXPECT_EQ(read_image_header(system_door(), path + "x").error().kind,
            FailureKind::kNotFound);
}

}  // namespace
}  // namespace neap::data
