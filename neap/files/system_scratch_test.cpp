// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Scratch files as the system's door makes them, and doors that have none.
#include "neap/files/system_scratch.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "neap/files/door.hpp"
#include "neap/files/temporary_folder.hpp"

namespace neap::files {
namespace {

using testing::HasSubstr;

TEST(SystemScratchTest, HasAFileWithoutANameWhereTheFileSystemHasNone) {
  const TemporaryFolder folder;
  const int descriptor = scratch::open_unlinked(folder.path());
  ASSERT_GE(descriptor, 0);
  EXPECT_TRUE(system_door().list(folder.path())->empty());
  struct stat facts {};
  EXPECT_EQ(::fstat(descriptor, &facts), 0);
  EXPECT_EQ(facts.st_nlink, 0U);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
  EXPECT_EQ(::pwrite(descriptor, "ab", 2, 0), 2);
  ::close(descriptor);
  errno = 0;
  EXPECT_EQ(scratch::open_unlinked("/nowhere"), -1);
  EXPECT_EQ(errno, ENOENT);
}

TEST(SystemScratchTest, IsNobodyElsesAndNotInherited) {
  const TemporaryFolder folder;
  const auto opened = scratch::open_in(folder.path(), true).value();
  struct stat facts {};
  EXPECT_EQ(::fstat(opened.descriptor, &facts), 0);
  EXPECT_EQ(facts.st_nlink, 0U);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
  EXPECT_NE(::fcntl(opened.descriptor, F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ((::fcntl(opened.descriptor, F_GETFL) & O_DIRECT) != 0,
            opened.is_direct);
  ::close(opened.descriptor);
}

TEST(SystemScratchTest, RefusesWhatIsNoFolder) {
  const TemporaryFolder folder;
  const auto file = system_door().open_scratch(folder.put("a", ""), true);
  ASSERT_FALSE(file.has_value());
  EXPECT_THAT(file.error().message, HasSubstr("Not a directory"));
  const std::string zero("/tmp\0x", 6);
  EXPECT_EQ(system_door().open_scratch(zero, true).error().kind,
            FailureKind::kUnsupported);
}

TEST(SystemScratchTest, CannotUseAFileThatTheSystemDoesNotKnow) {
  const TemporaryFolder folder;
  Door& door = system_door();
  File file = std::move(door.open_scratch(folder.path(), false)->file);
  ::close(file.handle());
  const std::array<std::byte, 4> bytes{};
  const auto expect_refused = [](const auto& result) {
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().kind, FailureKind::kIo);
    EXPECT_THAT(result.error().message, HasSubstr("Bad file descriptor"));
    EXPECT_THAT(result.error().message, HasSubstr("(scratch file)"));
  };
  expect_refused(door.write_at(file, 0, bytes));
  expect_refused(door.fill_at(file, 0, 4));
  expect_refused(door.preallocate(file, 0, 4));
  expect_refused(door.truncate(file, 4));
  expect_refused(door.begin_writeback(file, 0, 4));
  expect_refused(door.drop_cached(file, 0, 4));
  expect_refused(door.free_bytes(file));
  file.forget();
}

// A door of a program's own, from before there were scratch files.
struct Plain : Door {
  Result<File> open_read(const std::string& path) override {
    return system_door().open_read(path);
  }
  Result<File> open_write(const std::string& path) override {
    return system_door().open_write(path);
  }
  Result<File> open_append(const std::string& path) override {
    return system_door().open_append(path);
  }
  Result<Bytes> read(File& file, std::span<std::byte> into) override {
    return system_door().read(file, into);
  }
  Result<Bytes> read_at(File& file, Bytes offset,
                        std::span<std::byte> into) override {
    return system_door().read_at(file, offset, into);
  }
  Result<Bytes> write(File& file, std::span<const std::byte> from) override {
    return system_door().write(file, from);
  }
  Result<void> sync(File& file) override { return system_door().sync(file); }
  Result<Bytes> size(File& file) override { return system_door().size(file); }
  Result<void> set_mode(File& file, std::uint32_t mode) override {
    return system_door().set_mode(file, mode);
  }
  Result<void> close(File& file) override { return system_door().close(file); }
  void abandon(File& file) noexcept override { system_door().abandon(file); }
  Result<void> rename(const std::string& from, const std::string& to) override {
    return system_door().rename(from, to);
  }
  Result<void> remove(const std::string& path) override {
    return system_door().remove(path);
  }
  Result<void> make_directory(const std::string& path) override {
    return system_door().make_directory(path);
  }
  Result<void> sync_directory(const std::string& path) override {
    return system_door().sync_directory(path);
  }
  Result<bool> exists(const std::string& path) override {
    return system_door().exists(path);
  }
  Result<PathFacts> inspect(const std::string& path) override {
    return system_door().inspect(path);
  }
  Result<std::vector<std::string>> list(const std::string& folder) override {
    return system_door().list(folder);
  }
};

TEST(SystemScratchTest, ADoorWithoutScratchFilesSaysSo) {
  Plain door;
  File file(door, 0, "a");
  const auto expect_refused = [](const auto& result) {
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().kind, FailureKind::kUnsupported);
  };
  expect_refused(door.open_scratch("/tmp", true));
  expect_refused(door.write_at(file, 0, {}));
  expect_refused(door.fill_at(file, 0, 4));
  expect_refused(door.preallocate(file, 0, 4));
  expect_refused(door.truncate(file, 4));
  expect_refused(door.begin_writeback(file, 0, 4));
  expect_refused(door.drop_cached(file, 0, 4));
  expect_refused(door.free_bytes(file));
  file.forget();
}

}  // namespace
}  // namespace neap::files
