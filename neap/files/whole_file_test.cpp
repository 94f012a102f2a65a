// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/files/whole_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <stdexcept>

#include "neap/files/fault_door.hpp"
#include "neap/files/temporary_folder.hpp"

namespace neap::files {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

Result<void> replace_text(Door& door, const std::string& path) {
  return write_atomically(door, path, [](File& file) {
    return write_all(file, bytes_of("new ")).and_then([&] {
      return write_all(file, bytes_of("text"));
    });
  });
}

std::size_t files_in(const TemporaryFolder& folder) {
  return system_door().list(folder.path()).value().size();
}

TEST(ReadExactTest, GathersShortReads) {
  const TemporaryFolder folder;
  FaultDoor door(system_door(), {.longest_read = 3});
  auto file = door.open_read(folder.put("a", "0123456789")).value();
  std::string text(8, '\0');
  EXPECT_TRUE(
      read_exact(file, std::as_writable_bytes(std::span(text))).has_value());
  EXPECT_EQ(text, "01234567");
}

TEST(ReadExactTest, ReportsExpectedAndFoundBytesOfAShortFile) {
  const TemporaryFolder folder;
  auto file = system_door().open_read(folder.put("a", "01234")).value();
  std::array<std::byte, 8> buffer{};
  const auto result = read_exact(file, buffer);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, FailureKind::kTruncated);
  EXPECT_THAT(result.error().message, HasSubstr("5 of 8 bytes"));
}

TEST(ReadExactAtTest, GathersShortReadsFromAnyPlace) {
  const TemporaryFolder folder;
  FaultDoor door(system_door(), {.longest_read = 2});
  auto file = door.open_read(folder.put("a", "0123456789")).value();
  std::string text(5, '\0');
  const auto into = std::as_writable_bytes(std::span(text));
  EXPECT_TRUE(read_exact_at(file, 4, into).has_value());
  EXPECT_EQ(text, "45678");
  EXPECT_TRUE(read_exact(file, into).has_value());
  EXPECT_EQ(text, "01234");  // the current position had stayed
  const auto beyond = read_exact_at(file, 6, into);
  ASSERT_FALSE(beyond.has_value());
  EXPECT_EQ(beyond.error().kind, FailureKind::kTruncated);
  EXPECT_THAT(beyond.error().message, HasSubstr("4 of 5 bytes"));
}

TEST(WriteAllTest, RepeatsShortWrites) {
  const TemporaryFolder folder;
  FaultDoor door(system_door(), {.longest_write = 3});
  auto file = door.open_write(folder.at("a")).value();
  EXPECT_TRUE(write_all(file, bytes_of("0123456789")).has_value());
  EXPECT_EQ(folder.get("a"), "0123456789");
}

TEST(WriteAtomicallyTest, MakesOrReplacesTheFileAndLeavesNothingElse) {
  const TemporaryFolder folder;
  EXPECT_TRUE(replace_text(system_door(), folder.at("a")).has_value());
  EXPECT_EQ(folder.get("a"), "new text");
  folder.put("a", "old");
  EXPECT_TRUE(replace_text(system_door(), folder.at("a")).has_value());
  EXPECT_EQ(folder.get("a"), "new text");
  EXPECT_EQ(files_in(folder), 1U);
}

TEST(WriteAtomicallyTest, LeavesTheOldFileWholeWhicheverOperationFails) {
  std::int64_t n = 1;
  for (;; ++n) {
    const TemporaryFolder folder;
    folder.put("a", "old");
    FaultDoor door(system_door(), {.fail_at = n});
    const auto result = replace_text(door, folder.at("a"));
    if (result.has_value()) {
      break;
    }
    const bool is_renamed =
        result.error().message.find("sync folder") != std::string::npos;
    EXPECT_EQ(folder.get("a"), is_renamed ? "new text" : "old") << n;
    EXPECT_EQ(files_in(folder), 1U) << n;
  }
  // Look, open, mode, two writes, sync, close, rename, sync of the folder.
  EXPECT_EQ(n, 10);
}

TEST(WriteAtomicallyTest, LeavesOldOrNewWhereverTheProcessIsKilled) {
  std::int64_t n = 1;
  for (;; ++n) {
    const TemporaryFolder folder;
    folder.put("a", "old");
    FaultDoor door(system_door(), {.stop_at = n});
    const auto result = replace_text(door, folder.at("a"));
    EXPECT_THAT(folder.get("a"), AnyOf("old", "new text")) << n;
    if (result.has_value()) {
      break;
    }
    EXPECT_EQ(result.error().kind, FailureKind::kInterrupted);
  }
  EXPECT_EQ(n, 10);
}

TEST(WriteAtomicallyTest, SyncsTheDataBeforeTheRename) {
  const TemporaryFolder folder;
  FaultDoor door(system_door(), {.fail_at = 5});
  const auto result = replace_text(door, folder.at("a"));
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message, HasSubstr("cannot sync"));
}

TEST(WriteAtomicallyTest, LeavesTheOldFileWholeOnAFullDisk) {
  const TemporaryFolder folder;
  folder.put("a", "old");
  FaultDoor door(system_door(), {.space = 6});
  EXPECT_FALSE(replace_text(door, folder.at("a")).has_value());
  EXPECT_EQ(folder.get("a"), "old");
  EXPECT_EQ(files_in(folder), 1U);
}

TEST(WriteAtomicallyTest, CleansUpWhenTheWriterThrows) {
  const TemporaryFolder folder;
  folder.put("a", "old");
  const auto broken = [](File&) -> Result<void> {
    throw std::runtime_error("broken");
  };
  EXPECT_THROW(static_cast<void>(
                   write_atomically(system_door(), folder.at("a"), broken)),
               std::runtime_error);
  EXPECT_EQ(folder.get("a"), "old");
  EXPECT_EQ(files_in(folder), 1U);
}

TEST(WriteAtomicallyTest, ReplacesWhatALinkStandsForAndKeepsTheLink) {
  const TemporaryFolder folder;
  namespace fs = std::filesystem;
  fs::create_directory(folder.at("deep"));
  folder.put("deep/a", "old");
  fs::create_symlink("deep/a", folder.at("near"));
  fs::create_symlink(folder.at("near"), folder.at("far"));
  EXPECT_TRUE(replace_text(system_door(), folder.at("far")).has_value());
  EXPECT_TRUE(fs::is_symlink(folder.at("far")));
  EXPECT_TRUE(fs::is_symlink(folder.at("near")));
  EXPECT_FALSE(fs::is_symlink(folder.at("deep/a")));
  EXPECT_EQ(folder.get("deep/a"), "new text");
  EXPECT_EQ(files_in(folder), 3U);
}

TEST(WriteAtomicallyTest, MakesTheFileThatALinkPromises) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("b", folder.at("a"));
  EXPECT_TRUE(replace_text(system_door(), folder.at("a")).has_value());
  EXPECT_TRUE(std::filesystem::is_symlink(folder.at("a")));
  EXPECT_EQ(folder.get("b"), "new text");
}

TEST(WriteAtomicallyTest, RefusesLinksInACircle) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("b", folder.at("a"));
  std::filesystem::create_symlink("a", folder.at("b"));
  EXPECT_FALSE(replace_text(system_door(), folder.at("a")).has_value());
  EXPECT_EQ(files_in(folder), 2U);
}

TEST(WriteAtomicallyTest, KeepsThePermissionBits) {
  const TemporaryFolder folder;
  folder.put("a", "old");
  const auto mode = [&] {
    return std::filesystem::status(folder.at("a")).permissions();
  };
  for (const unsigned bits : {0600U, 0664U, 0755U}) {
    const auto wanted = static_cast<std::filesystem::perms>(bits);
    std::filesystem::permissions(folder.at("a"), wanted);
    EXPECT_TRUE(replace_text(system_door(), folder.at("a")).has_value());
    EXPECT_EQ(mode(), wanted);
  }
}

TEST(WriteAtomicallyTest, RefusesADirectoryAndTouchesNothing) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.at("a"));
  const auto result = replace_text(system_door(), folder.at("a"));
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message, HasSubstr("Is a directory"));
  EXPECT_EQ(files_in(folder), 1U);
}

TEST(WriteAtomicallyTest, WritesADeviceOrPipeStraight) {
  EXPECT_TRUE(replace_text(system_door(), "/dev/null").has_value());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_FALSE(replace_text(system_door(), "/dev/full").has_value());
  // Like /dev/stdout: a link to what stands for an open pipe.
  const TemporaryFolder folder;
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(pipe[1]),
                                  folder.at("out"));
  EXPECT_TRUE(replace_text(system_door(), folder.at("out")).has_value());
  std::array<char, 16> text{};
  EXPECT_EQ(::read(pipe[0], text.data(), text.size()), 8);
  EXPECT_STREQ(text.data(), "new text");
  EXPECT_EQ(files_in(folder), 1U);
  ::close(pipe[0]);
  ::close(pipe[1]);
}

}  // namespace
}  // namespace neap::files
