// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Files that are not what they say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "neap/files/fault_door.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/formats/gzip_for_test.hpp"
#include "neap/formats/idx.hpp"
#include "neap/memory/domain.hpp"

namespace neap::formats {
namespace {

using files::system_door;
using files::TemporaryFolder;
using testing::AllOf;
using testing::HasSubstr;

std::string idx(char type, const std::vector<std::uint32_t>& extents,
                std::size_t data_bytes) {
  std::string file{0, 0, type, static_cast<char>(extents.size())};
  for (const std::uint32_t extent : extents) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      file += static_cast<char>(extent >> shift);
    }
  }
  return file + std::string(data_bytes, '\x07');
}

constexpr char kU8 = 0x08;

// Opens and reads the whole.
Result<void> read(files::Door& door, const std::string& path) {
  return IdxReader::open(door, path).and_then([](IdxReader&& reader) {
    const auto size = static_cast<std::size_t>(reader.header().data_bytes);
    std::vector<std::byte> room(size);
    return reader.read_all(room);
  });
}

// The failure of opening a file alone: no room for data was ever asked for.
Failure refusal(const std::string& content) {
  const TemporaryFolder folder;
  const auto domain = memory::Domain::create();
  const memory::UseDomain use(*domain);
  const auto reader = IdxReader::open(system_door(), folder.put("x", content));
  EXPECT_FALSE(reader.has_value());
  EXPECT_EQ(domain->stats().live, 0);
  return reader.has_value() ? Failure{} : reader.error();
}

Failure failure_of_reading(const std::string& content) {
  const TemporaryFolder folder;
  const auto result = read(system_door(), folder.put("x", content));
  EXPECT_FALSE(result.has_value());
  return result.has_value() ? Failure{} : result.error();
}

TEST(IdxHostileTest, RefusesAFileCutAtAnyLength) {
  const std::string whole = idx(kU8, {3, 2}, 6);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_EQ(refusal(whole.substr(0, length)).kind, FailureKind::kTruncated)
        << length;
  }
}

TEST(IdxHostileTest, SaysHowMuchWasAnnouncedAndFound) {
  EXPECT_THAT(
      refusal(idx(kU8, {3, 2}, 4)).message,
      AllOf(HasSubstr("[3, 2]"), HasSubstr("6 bytes"), HasSubstr("found 4")));
}

TEST(IdxHostileTest, RefusesBytesBeyondTheData) {
  const Failure failure = refusal(idx(kU8, {3, 2}, 9));
  EXPECT_EQ(failure.kind, FailureKind::kCorrupt);
  EXPECT_THAT(failure.message, HasSubstr("3 bytes beyond"));
}

TEST(IdxHostileTest, RefusesAWrongMagicNumber) {
  const Failure failure = refusal("\x89PNG and so on");
  EXPECT_EQ(failure.kind, FailureKind::kCorrupt);
  EXPECT_THAT(failure.message, HasSubstr("begins with 89 50"));
}

TEST(IdxHostileTest, RefusesElementTypesThatDoNotExist) {
  for (const char type : {'\x00', '\x07', '\x0A', '\x0F', '\xFF'}) {
    EXPECT_EQ(refusal(idx(type, {2}, 2)).kind, FailureKind::kCorrupt);
  }
}

TEST(IdxHostileTest, NamesElementTypesThatAreNotRead) {
  const Failure bytes = refusal(idx(0x09, {2}, 2));
  EXPECT_EQ(bytes.kind, FailureKind::kUnsupported);
  EXPECT_THAT(bytes.message, HasSubstr("type i8"));
  EXPECT_THAT(refusal(idx(0x0B, {2}, 4)).message, HasSubstr("type i16"));
}

TEST(IdxHostileTest, RefusesRanksThatAreNotRead) {
  EXPECT_EQ(refusal(idx(kU8, {}, 1)).kind, FailureKind::kCorrupt);
  EXPECT_EQ(refusal(idx(kU8, std::vector<std::uint32_t>(9, 1), 1)).kind,
            FailureKind::kUnsupported);
  EXPECT_EQ(refusal(idx(kU8, std::vector<std::uint32_t>(255, 1), 1)).kind,
            FailureKind::kUnsupported);
}

TEST(IdxHostileTest, RefusesSizesThatOverflow) {
  const std::vector<std::uint32_t> extents(8, 0xFFFFFFFF);
  EXPECT_EQ(refusal(idx(kU8, extents, 9)).kind, FailureKind::kTooLarge);
  EXPECT_EQ(refusal(gzip(idx(kU8, extents, 9))).kind, FailureKind::kTooLarge);
  // 2^64 elements, which 64 bits would take for none.
  EXPECT_EQ(refusal(idx(kU8, {1U << 31U, 1U << 31U, 4}, 0)).kind,
            FailureKind::kTooLarge);
  // 2^61 elements fit, their 8 bytes each do not.
  EXPECT_EQ(refusal(idx(0x0E, {1U << 31U, 1U << 30U}, 0)).kind,
            FailureKind::kTooLarge);
}

TEST(IdxHostileTest, TakesAnEmptyExtentAmongHugeOnesForNothing) {
  const TemporaryFolder folder;
  std::vector<std::uint32_t> extents(8, 0xFFFFFFFF);
  extents[7] = 0;
  EXPECT_TRUE(
      read(system_door(), folder.put("x", idx(kU8, extents, 0))).has_value());
}

TEST(IdxHostileTest, RefusesALieAboutItsSizeBeforeAskingForMemory) {
  EXPECT_EQ(refusal(idx(kU8, {0xFFFFFFFF, 1000}, 100)).kind,
            FailureKind::kTruncated);
  const Failure failure = refusal(gzip(idx(kU8, {0xFFFFFFFF, 1000}, 100)));
  EXPECT_EQ(failure.kind, FailureKind::kTruncated);
  EXPECT_THAT(failure.message, HasSubstr("can hold at most"));
}

TEST(IdxHostileTest, AcceptsWhatCompressesBest) {
  const TemporaryFolder folder;
  constexpr std::uint32_t kSize = 4'000'000;
  const std::string file = gzip(idx(kU8, {kSize}, kSize));
  ASSERT_LT(file.size(), kSize / 1000U);
  EXPECT_TRUE(read(system_door(), folder.put("x", file)).has_value());
}

TEST(IdxHostileTest, ReportsCompressedDataThatEndsEarlyOrLate) {
  const Failure early = failure_of_reading(gzip(idx(kU8, {100}, 99)));
  EXPECT_EQ(early.kind, FailureKind::kTruncated);
  EXPECT_THAT(early.message,
              AllOf(HasSubstr("announces 100"), HasSubstr("found 99")));
  const Failure late = failure_of_reading(gzip(idx(kU8, {100}, 101)));
  EXPECT_EQ(late.kind, FailureKind::kCorrupt);
  EXPECT_THAT(late.message, HasSubstr("beyond the 100"));
}

TEST(IdxHostileTest, ChecksTheChecksumAfterTheLastElement) {
  std::string file = gzip(idx(kU8, {100}, 100));
  file[file.size() - 8] ^= 1;
  EXPECT_EQ(failure_of_reading(file).kind, FailureKind::kCorrupt);
  EXPECT_EQ(failure_of_reading(gzip(idx(kU8, {100}, 100)) + "x").kind,
            FailureKind::kCorrupt);
}

TEST(IdxHostileTest, ReportsAFileThatShrinksMeanwhile) {
  const TemporaryFolder folder;
  const std::string path = folder.put("x", idx(kU8, {100}, 100));
  IdxReader reader = IdxReader::open(system_door(), path).value();
  std::filesystem::resize_file(path, 50);
  std::vector<std::byte> room(100);
  const auto result = reader.read_all(room);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, FailureKind::kTruncated);
}

TEST(IdxHostileTest, ReportsAFileThatGrowsMeanwhile) {
  const TemporaryFolder folder;
  const std::string path = folder.put("x", idx(kU8, {100}, 100));
  IdxReader reader = IdxReader::open(system_door(), path).value();
  std::filesystem::resize_file(path, 150);
  std::vector<std::byte> room(100);
  EXPECT_EQ(reader.read_all(room).error().kind, FailureKind::kCorrupt);
}

TEST(IdxHostileTest, PassesOnAFailureOfEachOperation) {
  const TemporaryFolder folder;
  for (const std::string& content :
       {idx(kU8, {100}, 100), gzip(idx(kU8, {100}, 100))}) {
    const std::string path = folder.put("x", content);
    std::int64_t n = 1;
    for (;; ++n) {
      files::FaultDoor door(system_door(), {.fail_at = n});
      const auto result = read(door, path);
      if (result.has_value()) {
        break;
      }
      EXPECT_EQ(result.error().kind, FailureKind::kIo) << n;
    }
    EXPECT_GT(n, 6);
  }
}

TEST(IdxHostileTest, SurvivesEveryDamagedBit) {
  const TemporaryFolder folder;
  for (const std::string& whole :
       {idx(kU8, {5, 3}, 15), gzip(idx(kU8, {5, 3}, 15))}) {
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      std::string damaged = whole;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
      const auto result = read(system_door(), folder.put("x", damaged));
      if (!result) {
        EXPECT_NE(result.error().message, "");
      }
    }
  }
}

}  // namespace
}  // namespace neap::formats
