// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/files/fault_door.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
