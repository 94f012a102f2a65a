// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/image_set.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "neap/files/fault_door.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/formats/idx.hpp"
#include "neap/tensor/create.hpp"

namespace neap::data {
namespace {

namespace fs = std::filesystem;

TEST(ImageSetTest, StandardisesPixels) {
  ImageSet set(from_values({0, 255, 255, 0}, {2, 2}, u8),
               from_values({1, 0}, {2}, u8), 2);
  const PixelStatistics statistics = set.statistics();
  EXPECT_DOUBLE_EQ(statistics.mean, 0.5);
  EXPECT_DOUBLE_EQ(statistics.deviation, 0.5);
  set.standardise(statistics);
  std::array<float, 2> pixels{};
  std::int64_t label = -1;
  set.load(0, std::as_writable_bytes(std::span(pixels)),
           std::as_writable_bytes(std::span(&label, 1)));
  EXPECT_EQ(pixels[0], -1.0F);
  EXPECT_EQ(pixels[1], 1.0F);
  EXPECT_EQ(label, 1);
}

TEST(ImageSetTest, ScalesConstantImagesByOne) {
  const ImageSet set(zeros({2, 3}, u8), zeros({2}, u8), 2);
  EXPECT_EQ(set.statistics().deviation, 1.0);
}

TEST(ImageSetTest, RefusesCountsThatDiffer) {
  EXPECT_THROW(ImageSet(zeros({2, 3}, u8), zeros({3}, u8), 2), ShapeError);
  EXPECT_THROW(ImageSet(zeros({2, 3}), zeros({2}, u8), 2), DTypeError);
}

// A folder of small files in MNIST's naming.
class MnistFolderTest : public testing::Test {
 protected:
  MnistFolderTest() {
    write("train-images-idx3-ubyte", {3, 2, 2});
    write("train-labels-idx1-ubyte", {3});
    write("t10k-images-idx3-ubyte", {2, 2, 2});
    write("t10k-labels-idx1-ubyte", {2});
  }
  ~MnistFolderTest() override { EXPECT_EQ(domain_->stats().live, 0); }

  void write(const std::string& name, const Shape& shape,
             std::uint8_t value = 1) {
    const std::vector<std::uint8_t> bytes(
        static_cast<std::size_t>(shape.element_count()), value);
    ASSERT_TRUE(formats::write_idx(files::system_door(), folder_.at(name), u8,
                                   shape, std::as_bytes(std::span(bytes))));
  }
  std::string error() {
    const auto set = read_mnist(files::system_door(), folder_.path());
    return set ? "" : set.error().message;
  }

  Domain::Handle domain_ = Domain::create();
  UseDomain use_{*domain_};
  files::TemporaryFolder folder_;
};

TEST_F(MnistFolderTest, ReadsBothParts) {
  const auto set = read_mnist(files::system_door(), folder_.path());
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(set->train.size(), 3);
  EXPECT_EQ(set->test.size(), 2);
  EXPECT_EQ(set->train.bytes(), 15);
}

TEST_F(MnistFolderTest, NamesTheFileThatIsMissing) {
  fs::remove(folder_.at("train-labels-idx1-ubyte"));
  EXPECT_NE(error().find("train-labels-idx1-ubyte: no such file"),
            std::string::npos);
}

TEST_F(MnistFolderTest, RefusesLabelsOutOfRange) {
  write("train-labels-idx1-ubyte", {3}, 10);
  EXPECT_NE(error().find("label 10 of sample 0 is out of range"),
            std::string::npos);
}

TEST_F(MnistFolderTest, RefusesCountsThatDiffer) {
  write("train-labels-idx1-ubyte", {4});
  EXPECT_NE(error().find("3 images, but"), std::string::npos);
}

TEST_F(MnistFolderTest, RefusesAnEmptySet) {
  write("t10k-labels-idx1-ubyte", {0});
  EXPECT_NE(error().find("holds no sample"), std::string::npos);
}

TEST_F(MnistFolderTest, RefusesImagesInPlaceOfLabels) {
  write("train-labels-idx1-ubyte", {3, 2, 2});
  EXPECT_NE(error().find("expected labels"), std::string::npos);
}

TEST_F(MnistFolderTest, RefusesATruncatedFile) {
  fs::resize_file(folder_.at("train-images-idx3-ubyte"), 20);
  EXPECT_NE(error(), "");
}

TEST_F(MnistFolderTest, RefusesBytesBeyondTheEnd) {
  std::ofstream(folder_.at("train-images-idx3-ubyte"), std::ios::app) << "x";
  EXPECT_NE(error(), "");
}

TEST_F(MnistFolderTest, SurvivesEveryFailureOfTheDoor) {
  for (std::int64_t n = 1; n < 1000; ++n) {
    files::FaultDoor door(files::system_door(), {.fail_at = n});
    if (read_mnist(door, folder_.path())) {
      return;
    }
    EXPECT_EQ(domain_->stats().live, 0) << "after operation " << n;
  }
  FAIL() << "reading never succeeded";
}

}  // namespace
}  // namespace neap::data
