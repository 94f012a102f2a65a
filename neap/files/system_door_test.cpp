// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "neap/base/error.hpp"
#include "neap/files/door.hpp"
#include "neap/files/temporary_folder.hpp"

namespace neap::files {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string read_some(File& file, std::size_t most) {
  std::string text(most, '\0');
  const auto count = file.read(std::as_writable_bytes(std::span(text)));
  text.resize(static_cast<std::size_t>(count.value()));
  return text;
}

int open_descriptors() {
  int count = 0;
  for (int descriptor = 0; descriptor < 256; ++descriptor) {
    count += ::fcntl(descriptor, F_GETFD) != -1 ? 1 : 0;
  }
  return count;
}

TEST(SystemDoorTest, ReadsWhatIsThere) {
  const TemporaryFolder folder;
  auto file = system_door().open_read(folder.put("a", "hello")).value();
  EXPECT_EQ(file.size().value(), 5);
  EXPECT_EQ(read_some(file, 3), "hel");
  EXPECT_EQ(read_some(file, 3), "lo");
  EXPECT_EQ(read_some(file, 3), "");
}

TEST(SystemDoorTest, WritesOverWhatWasThere) {
  const TemporaryFolder folder;
  auto file =
      system_door().open_write(folder.put("a", "a long old text")).value();
  EXPECT_EQ(file.write(bytes_of("new")).value(), 3);
  EXPECT_TRUE(file.sync().has_value());
  EXPECT_TRUE(file.close().has_value());
  EXPECT_EQ(folder.get("a"), "new");
}

TEST(SystemDoorTest, ReadsAtAPlaceAndKeepsItsPosition) {
  const TemporaryFolder folder;
  auto file = system_door().open_read(folder.put("a", "hello")).value();
  EXPECT_EQ(read_some(file, 2), "he");
  std::string text(4, '.');
  const auto into = std::as_writable_bytes(std::span(text));
  EXPECT_EQ(file.read_at(3, into).value(), 2);
  EXPECT_EQ(text, "lo..");
  EXPECT_EQ(file.read_at(9, into).value(), 0);
  EXPECT_EQ(file.read_at(-1, into).error().kind, FailureKind::kIo);
  EXPECT_EQ(read_some(file, 2), "ll");
}

TEST(SystemDoorTest, AppendsToWhatIsThereOrMakesIt) {
  const TemporaryFolder folder;
  folder.put("old", "one ");
  for (const char* name : {"old", "new"}) {
    auto file = system_door().open_append(folder.at(name)).value();
    EXPECT_EQ(file.write(bytes_of("two")).value(), 3);
    EXPECT_TRUE(file.close().has_value());
  }
  EXPECT_EQ(folder.get("old"), "one two");
  EXPECT_EQ(folder.get("new"), "two");
}

TEST(SystemDoorTest, MakesAFolderAndThoseAboveIt) {
  const TemporaryFolder folder;
  const std::string path = folder.at("a/b/c");
  EXPECT_TRUE(system_door().make_directory(path).has_value());
  EXPECT_TRUE(system_door().make_directory(path).has_value());
  EXPECT_EQ(system_door().inspect(path)->kind, PathKind::kDirectory);
  folder.put("file", "");
  const auto refused = system_door().make_directory(folder.at("file/d"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("cannot make folder"));
  EXPECT_FALSE(system_door().make_directory(folder.at("file")).has_value());
}

TEST(SystemDoorTest, NamesPathFactAndAdviceForAMissingFile) {
  const auto file = system_door().open_read("/nowhere/data.idx");
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().kind, FailureKind::kNotFound);
  EXPECT_EQ(file.error().message,
            "cannot open /nowhere/data.idx: No such file or directory; check "
            "the path");
}

TEST(SystemDoorTest, RefusesAFolderAsAFile) {
  const TemporaryFolder folder;
  const int before = open_descriptors();
  const auto file = system_door().open_read(folder.path());
  ASSERT_FALSE(file.has_value());
  EXPECT_THAT(file.error().message,
              AllOf(HasSubstr("Is a directory"), HasSubstr("give a file")));
  EXPECT_EQ(open_descriptors(), before);
}

TEST(SystemDoorTest, RefusesAPipeWithoutWaitingForAWriter) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo(folder.at("pipe").c_str(), 0600), 0);
  const auto file = system_door().open_read(folder.at("pipe"));
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().kind, FailureKind::kUnsupported);
}

TEST(SystemDoorTest, ReportsAFullDiskAtTheWrite) {
  auto file = system_door().open_write("/dev/full");
  ASSERT_TRUE(file.has_value());
  const auto written = file->write(bytes_of("x"));
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().kind, FailureKind::kIo);
  EXPECT_EQ(written.error().message,
            "cannot write /dev/full: No space left on device; free some space");
}

TEST(SystemDoorTest, ClosesAFileWithItsHandle) {
  const TemporaryFolder folder;
  const int before = open_descriptors();
  {
    auto file = system_door().open_read(folder.put("a", "x")).value();
    EXPECT_EQ(open_descriptors(), before + 1);
    File moved = std::move(file);
    EXPECT_EQ(open_descriptors(), before + 1);
    moved = system_door().open_read(folder.at("a")).value();
    EXPECT_EQ(open_descriptors(), before + 1);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(SystemDoorTest, DoesNotLetChildrenInheritFiles) {
  const TemporaryFolder folder;
  const auto file = system_door().open_read(folder.put("a", "x")).value();
  EXPECT_EQ(::fcntl(file.handle(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(SystemDoorTest, RefusesAClosedFile) {
  const TemporaryFolder folder;
  auto file = system_door().open_read(folder.put("a", "x")).value();
  EXPECT_TRUE(file.close().has_value());
  EXPECT_FALSE(file.is_open());
  EXPECT_THROW(static_cast<void>(file.size()), ValueError);
}

TEST(SystemDoorTest, KeepsTheTailOfALongName) {
  const std::string path = std::string(300, 'd') + "/data.idx";
  const File file(system_door(), -1, path);
  EXPECT_EQ(file.name().size(), 83U);
  EXPECT_THAT(std::string(file.name()), AllOf(testing::StartsWith("...d"),
                                              testing::EndsWith("/data.idx")));
  const File shorter(system_door(), -1, std::string(80, 'd'));
  EXPECT_EQ(shorter.name(), std::string(80, 'd'));
}

TEST(SystemDoorTest, NamesInMessagesAreEscaped) {
  const auto missing = system_door().open_read("no\x1B[2J\nfile");
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error().message, testing::HasSubstr("no\\x1b[2J\\nfile"));
  const File file(system_door(), -1, "a\nb");
  EXPECT_EQ(file.name(), "a\\nb");
}

TEST(SystemDoorTest, RenamesRemovesListsAndLooks) {
  const TemporaryFolder folder;
  Door& door = system_door();
  folder.put("b", "new");
  folder.put("a", "old");
  folder.put("c", "");
  EXPECT_THAT(door.list(folder.path()).value(), ElementsAre("a", "b", "c"));
  EXPECT_TRUE(door.rename(folder.at("b"), folder.at("a")).has_value());
  EXPECT_TRUE(door.remove(folder.at("c")).has_value());
  EXPECT_TRUE(door.sync_directory(folder.path()).has_value());
  EXPECT_THAT(door.list(folder.path()).value(), ElementsAre("a"));
  EXPECT_EQ(folder.get("a"), "new");
  EXPECT_TRUE(door.exists(folder.at("a")).value());
  EXPECT_FALSE(door.exists(folder.at("b")).value());
  EXPECT_FALSE(door.exists(folder.at("a/below")).value());
}

TEST(SystemDoorTest, ReportsWhatCannotBeDoneInAFolder) {
  Door& door = system_door();
  EXPECT_EQ(door.remove("/nowhere/a").error().kind, FailureKind::kNotFound);
  EXPECT_EQ(door.rename("/nowhere/a", "/b").error().kind,
            FailureKind::kNotFound);
  EXPECT_EQ(door.sync_directory("/nowhere").error().kind,
            FailureKind::kNotFound);
  EXPECT_EQ(door.list("/nowhere").error().kind, FailureKind::kNotFound);
  EXPECT_EQ(door.open_write("/nowhere/a").error().kind, FailureKind::kNotFound);
}

TEST(DirectoryOfTest, IsThePartBeforeTheLastSlash) {
  EXPECT_EQ(directory_of("a"), ".");
  EXPECT_EQ(directory_of("/a"), "/");
  EXPECT_EQ(directory_of("b/a"), "b");
  EXPECT_EQ(directory_of("/c/b/a"), "/c/b");
}

}  // namespace
}  // namespace neap::files
