// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// CIFAR's own files are in no package: these are made in their format.
#include "neap/data/cifar.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "neap/files/fault_door.hpp"
#include "neap/files/temporary_folder.hpp"

namespace neap::data {
namespace {

using files::system_door;
using testing::HasSubstr;

constexpr std::size_t kPlane = 1024;

// A record whose planes hold red, green and blue, but for a mark at the first
// pixel of green.
std::string record(const std::string& labels, int red, int green, int blue) {
  std::string bytes = labels;
  for (const int value : {red, green, blue}) {
    bytes.append(kPlane, static_cast<char>(value));
  }
  bytes[labels.size() + kPlane] = '\xFF';
  return bytes;
}

std::string label(int value) {
  return std::string(1, static_cast<char>(value));
}

class Cifar10Test : public testing::Test {
 protected:
  Cifar10Test() {
    for (int i = 1; i <= 5; ++i) {
      put(i, record(label(i), i, 10 * i, 0) + record(label(i - 1), 0, 0, i));
    }
    folder_.put("test_batch.bin", record(label(9), 1, 2, 3));
  }
  void put(int number, const std::string& content) {
    folder_.put("data_batch_" + std::to_string(number) + ".bin", content);
  }
  Failure failure() {
    const auto domain = Domain::create();
    const UseDomain use(*domain);
    const auto sets = read_cifar10(system_door(), folder_.path());
    EXPECT_FALSE(sets.has_value());
    return sets.has_value() ? Failure{} : sets.error();
  }
  files::TemporaryFolder folder_;
};

TEST_F(Cifar10Test, ReadsAllPartsInOrder) {
  const auto sets = read_cifar10(system_door(), folder_.path());
  ASSERT_TRUE(sets.has_value()) << sets.error().message;
  EXPECT_EQ(sets->train.classes(), 10);
  EXPECT_EQ(sets->train.images().shape(), (Shape{10, 3, 32, 32}));
  EXPECT_THAT(sets->train.labels().to_vector(),
              testing::ElementsAre(1, 0, 2, 1, 3, 2, 4, 3, 5, 4));
  EXPECT_EQ(sets->train.images().at({6, 0, 31, 31}), 4.0);
  EXPECT_EQ(sets->train.images().at({6, 1, 0, 0}), 255.0);
  EXPECT_EQ(sets->train.images().at({6, 1, 0, 1}), 40.0);
  EXPECT_EQ(sets->train.images().at({7, 2, 5, 5}), 4.0);
  EXPECT_EQ(sets->test.size(), 1);
}

TEST_F(Cifar10Test, StandardisesChannelByChannelByTheTrainingPart) {
  const auto sets = read_cifar10(system_door(), folder_.path()).value();
  for (const PixelStatistics& one : sets.train.channel_statistics()) {
    EXPECT_GT(one.mean, 0.0);
  }
  std::vector<float> pixels(3 * kPlane);
  std::array<double, 3> sum{};
  std::array<double, 3> squares{};
  for (std::int64_t i = 0; i < sets.train.size(); ++i) {
    std::int64_t unused = 0;
    sets.train.load(i, std::as_writable_bytes(std::span(pixels)),
                    std::as_writable_bytes(std::span(&unused, 1)));
    for (std::size_t at = 0; at < pixels.size(); ++at) {
      sum[at / kPlane] += pixels[at];
      squares[at / kPlane] += pixels[at] * pixels[at];
    }
  }
  for (std::size_t channel = 0; channel < 3; ++channel) {
    EXPECT_NEAR(sum[channel] / (10 * kPlane), 0.0, 1e-5);
    EXPECT_NEAR(squares[channel] / (10 * kPlane), 1.0, 1e-4);
  }
  EXPECT_EQ(sets.train.values_of(1)[7], sets.test.values_of(1)[7]);
}

TEST_F(Cifar10Test, NamesTheFileThatIsMissing) {
  std::filesystem::remove(folder_.at("data_batch_4.bin"));
  EXPECT_EQ(failure().kind, FailureKind::kNotFound);
  EXPECT_THAT(failure().message, HasSubstr("data_batch_4.bin"));
}

TEST_F(Cifar10Test, RefusesWhatIsNoWholeNumberOfRecords) {
  const std::string whole = record(label(1), 0, 0, 0);
  for (const std::string& content :
       {std::string(), whole.substr(1), whole + "x", std::string("text")}) {
    put(2, content);
    EXPECT_EQ(failure().kind, FailureKind::kTruncated);
    EXPECT_THAT(failure().message, HasSubstr("records of 3073"));
  }
}

TEST_F(Cifar10Test, RefusesASizeBeforeItAsksForMemory) {
  // Sizes alone are announced: the file has no content on the disk.
  put(5, "");
  std::filesystem::resize_file(folder_.at("data_batch_5.bin"),
                               std::uintmax_t{3073} << 30U | 1U);
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  EXPECT_FALSE(read_cifar10(system_door(), folder_.path()).has_value());
  EXPECT_LT(domain->stats().live_peak, 100 * kKiB);
}

TEST_F(Cifar10Test, RefusesLabelsOutOfRange) {
  put(3, record(label(1), 0, 0, 0) + record(label(10), 0, 0, 0));
  EXPECT_EQ(failure().kind, FailureKind::kCorrupt);
  EXPECT_THAT(failure().message, HasSubstr("label 10 of sample 5"));
}

TEST_F(Cifar10Test, PassesOnAFailureOfEachOperation) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  std::int64_t n = 1;
  for (;; ++n) {
    files::FaultDoor door(system_door(), {.fail_at = n, .longest_read = 1000});
    const auto sets = read_cifar10(door, folder_.path());
    if (sets.has_value()) {
      break;
    }
    ASSERT_EQ(sets.error().kind, FailureKind::kIo) << sets.error().message;
    EXPECT_EQ(domain->stats().live, 0);
  }
  EXPECT_GT(n, 30);
}

TEST(Cifar100Test, ReadsEitherLabel) {
  const files::TemporaryFolder folder;
  const auto labels = [](int coarse, int fine) {
    return label(coarse) + label(fine);
  };
  folder.put("train.bin",
             record(labels(19, 99), 1, 2, 3) + record(labels(0, 50), 1, 2, 4));
  folder.put("test.bin", record(labels(7, 8), 1, 2, 3));
  const auto fine = read_cifar100(system_door(), folder.path()).value();
  EXPECT_EQ(fine.train.classes(), 100);
  EXPECT_THAT(fine.train.labels().to_vector(), testing::ElementsAre(99, 50));
  EXPECT_EQ(fine.train.images().at({1, 2, 0, 0}), 4.0);
  const auto coarse =
      read_cifar100(system_door(), folder.path(), Cifar100Labels::kCoarse)
          .value();
  EXPECT_EQ(coarse.train.classes(), 20);
  EXPECT_THAT(coarse.test.labels().to_vector(), testing::ElementsAre(7));
  folder.put("test.bin", record(labels(20, 8), 1, 2, 3));
  EXPECT_FALSE(read_cifar100(system_door(), folder.path()).has_value());
  folder.put("test.bin", record(labels(7, 100), 1, 2, 3));
  EXPECT_FALSE(read_cifar100(system_door(), folder.path()).has_value());
}

}  // namespace
}  // namespace neap::data
