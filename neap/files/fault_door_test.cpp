// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/files/fault_door.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <vector>

#include "neap/files/temporary_folder.hpp"
#include "neap/files/whole_file.hpp"

namespace neap::files {
namespace {

using testing::HasSubstr;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(FaultDoorTest, CountsAndPassesOnWithoutFaults) {
  const TemporaryFolder folder;
  FaultDoor door(system_door());
  {
    auto file = door.open_write(folder.at("a")).value();
    EXPECT_TRUE(write_all(file, bytes_of("text")).has_value());
    EXPECT_TRUE(file.sync().has_value());
    EXPECT_EQ(file.size().value(), 4);
    EXPECT_TRUE(file.close().has_value());
  }
  EXPECT_EQ(door.operations(), 5);
  EXPECT_TRUE(door.exists(folder.at("a")).value());
  EXPECT_TRUE(door.rename(folder.at("a"), folder.at("b")).has_value());
  EXPECT_EQ(door.list(folder.path()).value().size(), 1U);
  EXPECT_TRUE(door.sync_directory(folder.path()).has_value());
  EXPECT_TRUE(door.remove(folder.at("b")).has_value());
  EXPECT_EQ(door.operations(), 10);
}

TEST(FaultDoorTest, CountsAppendingReadingAtAPlaceAndMakingFolders) {
  const TemporaryFolder folder;
  FaultDoor door(system_door(), {.stop_at = 4, .longest_read = 2});
  EXPECT_TRUE(door.make_directory(folder.at("d")).has_value());
  EXPECT_TRUE(door.open_append(folder.at("d/a")).has_value());
  folder.put("a", "text");
  auto file = system_door().open_read(folder.at("a")).value();
  std::array<std::byte, 4> into{};
  EXPECT_EQ(door.read_at(file, 1, into).value(), 2);
  EXPECT_FALSE(door.read_at(file, 1, into).has_value());
  EXPECT_FALSE(door.open_append(folder.at("a")).has_value());
  EXPECT_FALSE(door.make_directory(folder.at("d")).has_value());
}

TEST(FaultDoorTest, FailsTheOneOperationAskedFor) {
  const TemporaryFolder folder;
  folder.put("a", "x");
  FaultDoor door(system_door(), {.fail_at = 2});
  EXPECT_TRUE(door.remove(folder.at("a")).has_value());
  const auto second = door.open_write(folder.at("a"));
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().kind, FailureKind::kIo);
  EXPECT_THAT(second.error().message, HasSubstr("at operation 2"));
  EXPECT_FALSE(door.exists(folder.at("a")).value());
}

TEST(FaultDoorTest, FailsEverythingOnceStopped) {
  const TemporaryFolder folder;
  FaultDoor door(system_door(), {.stop_at = 2});
  auto file = door.open_write(folder.at("a")).value();
  EXPECT_EQ(file.write(bytes_of("x")).error().kind, FailureKind::kInterrupted);
  EXPECT_EQ(door.remove(folder.at("a")).error().kind,
            FailureKind::kInterrupted);
  EXPECT_EQ(folder.get("a"), "");
  EXPECT_TRUE(system_door().exists(folder.at("a")).value());
}

TEST(FaultDoorTest, MovesNoMoreThanAskedForInOneCall) {
  const TemporaryFolder folder;
  FaultDoor door(system_door(), {.longest_read = 2, .longest_write = 3});
  {
    auto file = door.open_write(folder.at("a")).value();
    EXPECT_EQ(file.write(bytes_of("abcdef")).value(), 3);
  }
  auto file = door.open_read(folder.at("a")).value();
  std::array<std::byte, 8> buffer{};
  EXPECT_EQ(file.read(buffer).value(), 2);
  EXPECT_EQ(file.read(buffer).value(), 1);
  EXPECT_EQ(file.read(buffer).value(), 0);
}

TEST(FaultDoorTest, IsFullAfterTheBytesAskedFor) {
  const TemporaryFolder folder;
  FaultDoor door(system_door(), {.space = 5});
  auto file = door.open_write(folder.at("a")).value();
  const auto written = write_all(file, bytes_of("abcdefgh"));
  ASSERT_FALSE(written.has_value());
  EXPECT_THAT(written.error().message, HasSubstr("no space left"));
  EXPECT_EQ(folder.get("a"), "abcde");
}

TEST(FaultDoorTest, FailsSoManyOperationsInARow) {
  const TemporaryFolder folder;
  FaultDoor door(system_door(), {.fail_at = 2, .failures = 3});
  std::vector<bool> results;
  for (int i = 0; i < 6; ++i) {
    results.push_back(door.exists(folder.path()).has_value());
  }
  EXPECT_THAT(results,
              testing::ElementsAre(true, false, false, false, true, true));
}

TEST(FaultDoorTest, LiesByABitInTheReadsAskedFor) {
  const TemporaryFolder folder;
  const std::string path = folder.put("a", "text");
  FaultDoor door(system_door(), {.lie_at = 2, .lies = 2});
  auto file = door.open_read(path).value();
  std::array<std::byte, 4> into{};
  std::vector<int> wrong_bits;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(file.read_at(0, into).value(), 4);
    int count = 0;
    for (std::size_t k = 0; k < into.size(); ++k) {
      count += std::popcount(
          std::to_integer<unsigned>(into[k] ^ bytes_of("text")[k]));
    }
    wrong_bits.push_back(count);
  }
  EXPECT_THAT(wrong_bits, testing::ElementsAre(0, 1, 1, 0));
}

TEST(FaultDoorTest, TakesSpaceOnlyWhereAScratchFileBecomesLonger) {
  const TemporaryFolder folder;
  FaultDoor door(system_door(), {.space = 10});
  File file = std::move(door.open_scratch(folder.path(), false)->file);
  EXPECT_TRUE(door.preallocate(file, 0, 8).has_value());
  EXPECT_EQ(door.write_at(file, 0, bytes_of("abcdefgh")).value(), 8);
  EXPECT_EQ(door.fill_at(file, 0, 8).value(), 8);
  EXPECT_FALSE(door.write_at(file, 4, bytes_of("abcdefgh")).has_value());
  EXPECT_FALSE(door.preallocate(file, 8, 3).has_value());
  EXPECT_TRUE(door.truncate(file, 0).has_value());
  EXPECT_EQ(door.fill_at(file, 0, 10).value(), 10);
  EXPECT_FALSE(door.fill_at(file, 10, 1).has_value());
}

TEST(FaultDoorTest, StandsBeforeAnotherFaultDoor) {
  const TemporaryFolder folder;
  FaultDoor inner(system_door());
  FaultDoor outer(inner, Faults{});
  {
    auto file = outer.open_write(folder.at("a")).value();
    EXPECT_TRUE(write_all(file, bytes_of("x")).has_value());
    EXPECT_TRUE(file.close().has_value());
    EXPECT_FALSE(file.is_open());
  }
  EXPECT_EQ(outer.operations(), 3);
  EXPECT_EQ(inner.operations(), 3);
}

}  // namespace
}  // namespace neap::files
