// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/files/byte_source.hpp"

#include <gtest/gtest.h>

#include "neap/files/fault_door.hpp"
#include "neap/files/temporary_folder.hpp"

namespace neap::files {
namespace {

PlainSource open_plain(Door& door, const std::string& path) {
  File file = door.open_read(path).value();
  const Bytes size = file.size().value();
  return PlainSource(std::move(file), size);
}

TEST(PlainSourceTest, KnowsHowMuchIsLeft) {
  const TemporaryFolder folder;
  PlainSource source = open_plain(system_door(), folder.put("a", "12345"));
  EXPECT_TRUE(source.remaining().is_exact);
  EXPECT_EQ(source.remaining().at_most, 5);
  std::array<std::byte, 3> buffer{};
  EXPECT_EQ(source.read(buffer).value(), 3);
  EXPECT_EQ(source.remaining().at_most, 2);
  EXPECT_EQ(source.name(), folder.at("a"));
}

TEST(PlainSourceTest, NeverPromisesLessThanNothing) {
  const TemporaryFolder folder;
  File file = system_door().open_read(folder.put("a", "12345")).value();
  PlainSource source(std::move(file), 2);  // the file has grown since
  std::array<std::byte, 5> buffer{};
  EXPECT_EQ(source.read(buffer).value(), 5);
  EXPECT_EQ(source.remaining().at_most, 0);
}

TEST(ReadFullTest, GathersShortReadsAndStopsAtTheEnd) {
  const TemporaryFolder folder;
  FaultDoor door(system_door(), {.longest_read = 2});
  PlainSource source = open_plain(door, folder.put("a", "1234567"));
  std::array<std::byte, 5> buffer{};
  EXPECT_EQ(read_full(source, buffer).value(), 5);
  EXPECT_EQ(read_full(source, buffer).value(), 2);
  EXPECT_EQ(read_full(source, buffer).value(), 0);
}

TEST(ReadFullTest, PassesAFailureOn) {
  const TemporaryFolder folder;
  FaultDoor door(system_door(), {.fail_at = 4, .longest_read = 2});
  PlainSource source = open_plain(door, folder.put("a", "1234567"));
  std::array<std::byte, 5> buffer{};
  EXPECT_EQ(read_full(source, buffer).error().kind, FailureKind::kIo);
}

}  // namespace
}  // namespace neap::files
