// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/file_records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <vector>

#include "neap/data/loader.hpp"
#include "neap/data/read_error.hpp"
#include "neap/files/fault_door.hpp"
#include "neap/files/temporary_folder.hpp"

namespace neap::data {
namespace {

using files::system_door;
using testing::ElementsAre;

// A record is a label and two pixels.
struct Pixels {
  void operator()(std::span<const std::byte> record, std::span<std::byte> input,
                  std::span<std::byte> target) const noexcept {
    const auto number = [&](std::size_t i) {
      return std::to_integer<std::uint8_t>(record[i]);
    };
    const std::array<float, 2> pixels = {static_cast<float>(number(1)),
                                         static_cast<float>(number(2))};
    const std::int64_t label = number(0);
    std::memcpy(input.data(), pixels.data(), sizeof(pixels));
    std::memcpy(target.data(), &label, sizeof(label));
  }
};

class FileRecordsTest : public testing::Test {
 protected:
  static constexpr int kRecords = 30;
  FileRecordsTest() {
    std::string bytes = "head";
    for (int i = 0; i < kRecords; ++i) {
      for (const int value : {i, 2 * i, 3 * i}) {
        bytes += static_cast<char>(value);
      }
    }
    path_ = folder_.put("a.bin", bytes);
  }
  RecordFile open(files::Door& door, const RecordLayout& layout = kLayout) {
    return RecordFile::open(door, path_, layout).value();
  }
  static constexpr RecordLayout kLayout{.header = 4, .record = 3};
  static SampleSpec spec() { return {{2}, f32, {}, i64}; }

  files::TemporaryFolder folder_;
  std::string path_;
};

constexpr double kSum = 435;  // of the numbers below 30

// Adds up the labels that are left, and compares them with the pixels.
double sum_of(Loader& loader, double& sum) {
  while (const Batch* batch = loader.next()) {
    for (std::int64_t i = 0; i < batch->size(); ++i) {
      const double label = batch->target.at({i});
      EXPECT_EQ(batch->input.at({i, 0}), 2 * label);
      EXPECT_EQ(batch->input.at({i, 1}), 3 * label);
      sum += label;
    }
  }
  return sum;
}

double sum_of(Loader& loader) {
  double sum = 0.0;
  return sum_of(loader, sum);
}

double sum_until_failure(Loader& loader) {
  double sum = 0.0;
  try {
    sum_of(loader, sum);
    ADD_FAILURE() << "no failure";
  } catch (const ReadError& error) {
    EXPECT_EQ(error.kind(), FailureKind::kIo);
  }
  return sum;
}

TEST_F(FileRecordsTest, FillsTheSameBatchesWithAReaderAndWithout) {
  const FileRecords set(open(system_door()), spec(), Pixels());
  EXPECT_EQ(set.size(), kRecords);
  for (const int prefetch : {0, 2}) {
    Loader loader(set, {.batch = 4, .shuffle = true, .prefetch = prefetch});
    loader.start(0);
    EXPECT_EQ(sum_of(loader), kSum);
    loader.start(1, 7);  // the last batch: two samples
    EXPECT_LT(sum_of(loader), 2 * kRecords);
  }
}

TEST_F(FileRecordsTest, ReadsRecordsThatOverlap) {
  RecordFile file =
      open(system_door(), {.header = 4, .record = 5, .stride = 3});
  EXPECT_EQ(file.size(), kRecords - 1);
  std::vector<std::byte> record(5);
  EXPECT_TRUE(file.read(2, record).has_value());
  EXPECT_THAT(record, ElementsAre(std::byte{2}, std::byte{4}, std::byte{6},
                                  std::byte{3}, std::byte{6}));
}

TEST_F(FileRecordsTest, RefusesWhatIsNotWhole) {
  const auto kind = [&](const RecordLayout& layout) {
    const auto file = RecordFile::open(system_door(), path_, layout);
    return file ? FailureKind::kIo : file.error().kind;
  };
  EXPECT_EQ(kind({.header = 3, .record = 3}), FailureKind::kTruncated);
  EXPECT_EQ(kind({.header = 100, .record = 3}), FailureKind::kTruncated);
  EXPECT_EQ(kind({.header = 4, .record = 91, .stride = 1}),
            FailureKind::kTruncated);
  EXPECT_EQ(kind({.header = kUnlimited, .record = kUnlimited}),
            FailureKind::kTruncated);
  EXPECT_THROW(kind({.record = 0}), ValueError);
  EXPECT_THROW(kind({.header = -1, .record = 1}), ValueError);
  EXPECT_THROW(kind({.record = 1, .stride = -1}), ValueError);
}

TEST_F(FileRecordsTest, TellsOfAFileThatShrinks) {
  for (const int prefetch : {0, 1}) {
    const FileRecords set(open(system_door()), spec(), Pixels());
    Loader loader(set, {.batch = 10, .prefetch = prefetch});
    std::filesystem::resize_file(path_, 4 + 3 * 15);
    loader.start(0);
    EXPECT_NE(loader.next(), nullptr);
    try {
      loader.next();
      FAIL() << "read what is not there";
    } catch (const ReadError& error) {
      EXPECT_EQ(error.kind(), FailureKind::kTruncated);
      EXPECT_THAT(error.what(), testing::HasSubstr("record 15"));
    }
    std::filesystem::resize_file(path_, 4 + 3 * kRecords);
  }
}

TEST_F(FileRecordsTest, GoesOnAfterAFailureAtAnyOperation) {
  for (std::int64_t n = 3; n < 3 + kRecords; ++n) {
    for (const int prefetch : {0, 2}) {
      files::FaultDoor door(system_door(), {.fail_at = n, .longest_read = 2});
      const FileRecords set(open(door), spec(), Pixels());
      Loader loader(set, {.batch = 7, .prefetch = prefetch});
      loader.start(0);
      const double before = sum_until_failure(loader);
      EXPECT_LT(before, kSum) << n;
      EXPECT_EQ(before + sum_of(loader), kSum) << n;
    }
  }
}

TEST_F(FileRecordsTest, AsksForNoMemoryAfterItsConstruction) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const FileRecords set(open(system_door()), spec(), Pixels());
  Loader loader(set, {.batch = 4, .shuffle = true, .prefetch = 1});
  const auto before = domain->stats();
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    loader.start(epoch);
    while (loader.next() != nullptr) {
    }
  }
  EXPECT_EQ(domain->stats().allocations, before.allocations);
}

}  // namespace
}  // namespace neap::data
