// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <numeric>
#include <vector>

#include "neap/base/error.hpp"
#include "neap/files/fault_door.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/formats/gzip_for_test.hpp"
#include "neap/formats/idx.hpp"

namespace neap::formats {
namespace {

using files::system_door;
using files::TemporaryFolder;

template <class T>
std::vector<T> read_values(files::Door& door, const std::string& path) {
  IdxReader reader = IdxReader::open(door, path).value();
  EXPECT_EQ(reader.header().dtype, dtype_of<T>);
  std::vector<T> values(
      static_cast<std::size_t>(reader.header().shape.element_count()));
  const auto read = reader.read_all(std::as_writable_bytes(std::span(values)));
  EXPECT_TRUE(read.has_value());
  return values;
}

template <class T>
Result<void> write_values(const std::string& path, const Shape& shape,
                          const std::vector<T>& values) {
  return write_idx(system_door(), path, dtype_of<T>, shape,
                   std::as_bytes(std::span(values)));
}

// The format's own example, byte by byte: two images of 2 x 1.
const std::string kSmallFile(
    "\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x01"
    "\x0a\x0b\x0c\xff",
    20);

TEST(IdxTest, ReadsAFileGivenByteByByte) {
  const TemporaryFolder folder;
  IdxReader reader =
      IdxReader::open(system_door(), folder.put("a", kSmallFile)).value();
  EXPECT_EQ(reader.header().dtype, DType::kU8);
  EXPECT_EQ(reader.header().shape, (Shape{2, 2, 1}));
  EXPECT_EQ(reader.header().data_bytes, 4);
  EXPECT_EQ(read_values<std::uint8_t>(system_door(), folder.at("a")),
            (std::vector<std::uint8_t>{10, 11, 12, 255}));
}

TEST(IdxTest, WritesTheSameBytes) {
  const TemporaryFolder folder;
  const std::vector<std::uint8_t> values{10, 11, 12, 255};
  ASSERT_TRUE(write_values(folder.at("a"), {2, 2, 1}, values).has_value());
  EXPECT_EQ(folder.get("a"), kSmallFile);
}

TEST(IdxTest, ReadsGzippedFiles) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_values<std::uint8_t>(system_door(),
                                      folder.put("a.gz", gzip(kSmallFile))),
            (std::vector<std::uint8_t>{10, 11, 12, 255}));
}

TEST(IdxTest, StoresNumbersBigEndian) {
  const TemporaryFolder folder;
  const std::vector<std::int32_t> values{0x01020304, -2};
  ASSERT_TRUE(write_values(folder.at("a"), {2}, values).has_value());
  EXPECT_EQ(folder.get("a"), std::string("\0\0\x0c\x01\0\0\0\x02"
                                         "\x01\x02\x03\x04\xff\xff\xff\xfe",
                                         16));
  EXPECT_EQ(read_values<std::int32_t>(system_door(), folder.at("a")), values);
}

TEST(IdxTest, ReadsFloatingNumbersBackBitForBit) {
  const TemporaryFolder folder;
  const std::vector<float> singles{1.5F, -0.0F, 3.0e-40F, 1.0e38F};
  ASSERT_TRUE(write_values(folder.at("a"), {2, 2}, singles).has_value());
  EXPECT_EQ(read_values<float>(system_door(), folder.at("a")), singles);
  // More than one buffer of the writer's.
  std::vector<double> doubles(3000);
  std::iota(doubles.begin(), doubles.end(), 0.125);
  ASSERT_TRUE(write_values(folder.at("b"), {3000}, doubles).has_value());
  EXPECT_EQ(read_values<double>(system_door(), folder.at("b")), doubles);
}

TEST(IdxTest, ReadsThroughShortReads) {
  const TemporaryFolder folder;
  files::FaultDoor door(system_door(), {.longest_read = 1});
  EXPECT_EQ(read_values<std::uint8_t>(door, folder.put("a", kSmallFile)),
            (std::vector<std::uint8_t>{10, 11, 12, 255}));
}

TEST(IdxTest, ReadsInParts) {
  const TemporaryFolder folder;
  IdxReader reader =
      IdxReader::open(system_door(), folder.put("a", kSmallFile)).value();
  std::array<std::byte, 3> first{};
  std::array<std::byte, 1> last{};
  ASSERT_TRUE(reader.read_next(first).has_value());
  EXPECT_THROW(static_cast<void>(reader.finish()), ValueError);
  EXPECT_THROW(static_cast<void>(reader.read_next(first)), ValueError);
  ASSERT_TRUE(reader.read_next(last).has_value());
  EXPECT_TRUE(reader.finish().has_value());
  EXPECT_EQ(last[0], std::byte{255});
}

TEST(IdxTest, AReaderThatWasMovedFromRefuses) {
  const TemporaryFolder folder;
  IdxReader reader =
      IdxReader::open(system_door(), folder.put("a", kSmallFile)).value();
  IdxReader moved = std::move(reader);
  std::array<std::byte, 4> all{};
  // NOLINTBEGIN(bugprone-use-after-move): that is what is tested
  EXPECT_THROW(static_cast<void>(reader.read_all(all)), UseAfterRelease);
  EXPECT_THROW(static_cast<void>(reader.read_next({})), UseAfterRelease);
  EXPECT_THROW(static_cast<void>(reader.finish()), UseAfterRelease);
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_TRUE(moved.read_all(all).has_value());
}

TEST(IdxTest, ReadsEmptyExtents) {
  const TemporaryFolder folder;
  ASSERT_TRUE(
      write_values<std::uint8_t>(folder.at("a"), {0, 28, 28}, {}).has_value());
  IdxReader reader = IdxReader::open(system_door(), folder.at("a")).value();
  EXPECT_EQ(reader.header().shape, (Shape{0, 28, 28}));
  EXPECT_EQ(reader.header().data_bytes, 0);
  EXPECT_TRUE(reader.read_all({}).has_value());
}

TEST(IdxTest, RefusesRoomOfAnotherSize) {
  const TemporaryFolder folder;
  IdxReader reader =
      IdxReader::open(system_door(), folder.put("a", kSmallFile)).value();
  std::array<std::byte, 5> room{};
  EXPECT_THROW(static_cast<void>(reader.read_all(room)), ValueError);
}

TEST(IdxTest, RefusesHalfAnElement) {
  const TemporaryFolder folder;
  const std::vector<std::int32_t> values{1, 2};
  ASSERT_TRUE(write_values(folder.at("a"), {2}, values).has_value());
  IdxReader reader = IdxReader::open(system_door(), folder.at("a")).value();
  std::array<std::byte, 6> room{};
  EXPECT_THROW(static_cast<void>(reader.read_next(room)), ValueError);
}

TEST(IdxTest, RefusesToWriteWhatIdxCannotSay) {
  const TemporaryFolder folder;
  const std::array<std::byte, 8> bytes{};
  const auto write = [&](DType dtype, const Shape& shape) {
    static_cast<void>(
        write_idx(system_door(), folder.at("a"), dtype, shape, bytes));
  };
  EXPECT_THROW(write(DType::kI64, {1}), DTypeError);
  EXPECT_THROW(write(DType::kU8, {}), ShapeError);
  EXPECT_THROW(write(DType::kU8, {std::int64_t{1} << 32, 0}), ShapeError);
  EXPECT_THROW(write(DType::kU8, {7}), ValueError);
  EXPECT_FALSE(system_door().exists(folder.at("a")).value());
}

TEST(IdxTest, LeavesTheOldFileWholeWhenWritingFails) {
  const TemporaryFolder folder;
  folder.put("a", "old");
  files::FaultDoor door(system_door(), {.space = 18});
  const std::array<std::byte, 4> bytes{};
  const auto result =
      write_idx(door, folder.at("a"), DType::kU8, {2, 2, 1}, bytes);
  EXPECT_FALSE(result.has_value());
  EXPECT_EQ(folder.get("a"), "old");
}

}  // namespace
}  // namespace neap::formats
