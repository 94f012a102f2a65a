// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A folder of images through a loader, in whichever thread reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "neap/data/images/golden_for_test.hpp"
#include "neap/data/images/image_transform.hpp"
#include "neap/data/loader.hpp"
#include "neap/data/read_error.hpp"
#include "neap/files/temporary_folder.hpp"

namespace neap::data {
namespace {

using files::system_door;

class TransformedImagesTest : public testing::Test {
 protected:
  // Five images for each of two classes.
  ImageFolder make_folder() {
    for (const char* name : {"a", "b"}) {
      std::filesystem::create_directories(files_.at(name));
      for (const char* file : {"sampled.jpg", "progressive.jpg", "rgb8.png",
                               "palette4.png", "grey.jpg"}) {
        files_.put(std::string(name) + "/" + file, golden(file));
      }
    }
    return ImageFolder::open(system_door(), files_.path()).value();
  }
  // All batches of an epoch, from one on.
  std::vector<std::vector<double>> epoch(Loader& loader, std::int64_t number,
                                         std::int64_t first = 0) {
    std::vector<std::vector<double>> all;
    for (const Batch& batch : loader.epoch(number, first)) {
      for (const Tensor& tensor : {batch.input, batch.target}) {
        const auto values = tensor.to_vector();
        all.emplace_back(values.begin(), values.end());
      }
    }
    return all;
  }

  files::TemporaryFolder files_;
  ImageFolder folder_ = make_folder();
  ImageTransformOptions random_{.height = 12,
                                .width = 10,
                                .random_resized_crop = true,
                                .flip = 0.5,
                                .jitter = {0.4, 0.4, 0.4},
                                .seed = 3};
};

TEST_F(TransformedImagesTest, IsADataSet) {
  const TransformedImages set(folder_, {.height = 12, .width = 10});
  EXPECT_EQ(set.size(), 10);
  EXPECT_EQ(set.spec(), (SampleSpec{{3, 12, 10}, f32, {}, i64}));
  Loader loader(set, {.batch = 4});
  loader.start(0);
  loader.next();
  const Batch* batch = loader.next();
  ASSERT_NE(batch, nullptr);
  EXPECT_EQ(batch->input.shape(), (Shape{4, 3, 12, 10}));
  EXPECT_THAT(batch->target.to_vector(), testing::ElementsAre(0, 1, 1, 1));
}

TEST_F(TransformedImagesTest, IsGreyWhereTheFolderIs) {
  const ImageFolder grey =
      ImageFolder::open(system_door(), files_.path(), {.channels = 1}).value();
  const TransformedImages set(grey, {.height = 12, .width = 10});
  EXPECT_EQ(set.spec().input, (Shape{1, 12, 10}));
  Loader loader(set, {.batch = 10});
  EXPECT_EQ(epoch(loader, 0)[0].size(), 1200U);
}

TEST_F(TransformedImagesTest, IsTheSameWhoeverReadsAndAfterAResume) {
  const TransformedImages set(folder_, random_);
  Loader plain(set, {.batch = 3, .shuffle = true, .seed = 5});
  Loader ahead(set, {.batch = 3, .shuffle = true, .seed = 5, .prefetch = 2});
  const auto whole = epoch(plain, 4);
  EXPECT_EQ(epoch(ahead, 4), whole);
  const auto rest = epoch(ahead, 4, 2);
  EXPECT_EQ(rest, (std::vector(whole.begin() + 4, whole.end())));
  EXPECT_NE(epoch(plain, 5), whole);
}

TEST_F(TransformedImagesTest, NamesAFileThatIsDamaged) {
  files_.put("b/rgb8.png", golden("rgb8.png").substr(0, 100));
  const TransformedImages set(folder_, random_);
  for (const int prefetch : {0, 2}) {
    Loader loader(set, {.batch = 10, .prefetch = prefetch});
    loader.start(0);
    try {
      loader.next();
      FAIL() << "it was read";
    } catch (const ReadError& error) {
      EXPECT_EQ(error.kind(), FailureKind::kTruncated);
      EXPECT_THAT(error.what(), testing::HasSubstr("b/rgb8.png"));
    }
  }
}

TEST_F(TransformedImagesTest, KeepsNothingOfWhatItRead) {
  const TransformedImages set(folder_, random_);
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  std::vector<float> input(3 * 12 * 10);
  std::int64_t label = -1;
  for (std::int64_t i = 0; i < set.size(); ++i) {
    EXPECT_TRUE(set.load({0, i}, std::as_writable_bytes(std::span(input)),
                         std::as_writable_bytes(std::span(&label, 1))));
    EXPECT_EQ(domain->stats().live, 0);
    EXPECT_EQ(label, i / 5);
  }
}

TEST_F(TransformedImagesTest, HasAFingerprintOfFolderAndOptions) {
  const TransformedImages set(folder_, random_);
  random_.seed = 4;
  EXPECT_NE(set.fingerprint(),
            TransformedImages(folder_, random_).fingerprint());
  const ImageFolder grey =
      ImageFolder::open(system_door(), files_.path(), {.channels = 1}).value();
  random_.seed = 3;
  EXPECT_EQ(set.fingerprint(),
            TransformedImages(folder_, random_).fingerprint());
  EXPECT_NE(set.fingerprint(), TransformedImages(grey, random_).fingerprint());
}

TEST_F(TransformedImagesTest, ASampleTakesNoMoreThanIsSaid) {
  const auto domain = memory::Domain::create();
  const memory::UseDomain use(*domain);
  for (const auto& [height, width] :
       {std::pair{600, 37}, std::pair{5, 900}, std::pair{64, 64}}) {
    const Image image = pattern_image(height, width);
    for (ImageTransformOptions options :
         {random_, ImageTransformOptions{.height = 24, .width = 24},
          ImageTransformOptions{
              .height = 24, .width = 20, .shorter_side = 24}}) {
      const ImageTransform transform(options);
      std::vector<float> out(
          static_cast<std::size_t>(3 * options.height * options.width));
      const Bytes before = domain->stats().live;
      for (std::int64_t index = 0; index < 20; ++index) {
        domain->reset_peak();
        transform.apply(image, {0, index}, out);
        EXPECT_LE(domain->stats().live_peak - before,
                  transform.most_bytes(height, width))
            << height << " " << width;
      }
    }
  }
}

}  // namespace
}  // namespace neap::data
