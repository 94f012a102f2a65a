// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/image_form.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "neap/files/temporary_folder.hpp"

namespace neap::models {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ImageFormTest : public testing::Test {
 protected:
  ImageForm form(const PretrainedConfig& model) const {
    return read_image_form(folder_.path(), model).value();
  }
  void preprocessor(const std::string& text) const {
    folder_.put("preprocessor_config.json", text);
  }
  void refuse(const std::string& text, const std::string& says) const {
    preprocessor(text);
    const auto found = read_image_form(folder_.path(), vit_);
    ASSERT_FALSE(found.has_value()) << text;
    EXPECT_EQ(found.error().kind, FailureKind::kUnsupported);
    EXPECT_THAT(found.error().message, HasSubstr(says));
  }

  files::TemporaryFolder folder_;
  PretrainedConfig vit_ = VitOptions{.image = 32};
  PretrainedConfig resnet_ = ResNetOptions{};
};

TEST_F(ImageFormTest, HasTheUsualNumbersWhereNoFileSaysOthers) {
  folder_.put("config.json", "{}");
  const ImageForm vit = form(vit_);
  EXPECT_EQ(vit.size, 32);
  EXPECT_EQ(vit.shorter_side, 32);
  EXPECT_THAT(vit.mean, ElementsAre(0.5, 0.5, 0.5));
  EXPECT_EQ(vit.said_by, "");
  const ImageForm resnet = form(resnet_);
  EXPECT_EQ(resnet.size, 224);
  EXPECT_EQ(resnet.shorter_side, 256);  // timm's and torchvision's share, 0.875
  EXPECT_THAT(resnet.mean, ElementsAre(0.485, 0.456, 0.406));
  EXPECT_THAT(resnet.deviation, ElementsAre(0.229, 0.224, 0.225));
}

TEST_F(ImageFormTest, ReadsWhatTimmSays) {
  folder_.put("config.json", R"({"architecture": "resnet18", "pretrained_cfg": {
      "mean": [0.1, 0.2, 0.3], "std": [0.5, 0.25, 1], "crop_pct": 0.95,
      "input_size": [3, 160, 160], "interpolation": "bicubic"}})");
  const ImageForm found = form(resnet_);
  EXPECT_EQ(found.size, 160);
  EXPECT_EQ(found.shorter_side, 168);
  EXPECT_THAT(found.mean, ElementsAre(0.1, 0.2, 0.3));
  EXPECT_THAT(found.deviation, ElementsAre(0.5, 0.25, 1.0));
  EXPECT_EQ(found.said_by, "config.json");
}

TEST_F(ImageFormTest, ReadsWhatTransformersSays) {
  preprocessor(R"({"image_mean": [0.1, 0.2, 0.3], "image_std": 0.25,
      "size": {"height": 32, "width": 32}, "resample": 3,
      "rescale_factor": 0.00392156862745098})");
  const ImageForm found = form(vit_);
  EXPECT_THAT(found.mean, ElementsAre(0.1, 0.2, 0.3));
  EXPECT_THAT(found.deviation, ElementsAre(0.25, 0.25, 0.25));
  EXPECT_EQ(found.said_by, "preprocessor_config.json");
  preprocessor(R"({"size": {"shortest_edge": 40}, "crop_size": 32})");
  EXPECT_EQ(form(vit_).size, 32);
  EXPECT_EQ(form(vit_).shorter_side, 40);
  preprocessor(R"({"size": {"shortest_edge": 224}, "crop_pct": 0.875})");
  EXPECT_EQ(form(resnet_).size, 224);
  EXPECT_EQ(form(resnet_).shorter_side, 256);
  preprocessor(R"({"size": 32, "do_normalize": false})");
  EXPECT_THAT(form(vit_).mean, ElementsAre(0.0, 0.0, 0.0));
  EXPECT_THAT(form(vit_).deviation, ElementsAre(1.0, 1.0, 1.0));
}

TEST_F(ImageFormTest, RefusesWhatCannotBeDone) {
  refuse(R"({"size": 64})", "images of 64, where");
  refuse(R"({"size": {"height": 32, "width": 30}})", "other than a square");
  refuse(R"({"size": [32]})", "size is");
  refuse(R"({"image_std": [0.5, 0.5, 0]})", "not positive");
  refuse(R"({"image_mean": [0.5, 1e300, 0.5]})", "no mean or deviation");
  refuse(R"({"image_std": [0.5, 1e300, 0.5]})", "no mean or deviation");
  refuse(R"({"image_mean": [0.5, 1e999, 0.5]})", "image_mean is");
  refuse(R"({"image_mean": [[0.5], 0.5, 0.5]})", "image_mean is");
  refuse(R"({"image_mean": []})", "image_mean has 0 numbers");
  refuse(R"({"do_rescale": false})", "1/255");
  refuse(R"({"crop_pct": 0})", "crop_pct is 0");
  vit_ = VitOptions{.image = 32, .channels = 2};
  refuse("{}", "2 channels");
  preprocessor("[]");
  EXPECT_EQ(read_image_form(folder_.path(), vit_).error().kind,
            FailureKind::kCorrupt);
}

}  // namespace
}  // namespace neap::models
