// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Refusals of the system, at every kind of call.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "neap/files/door.hpp"
#include "neap/files/temporary_folder.hpp"

namespace neap::files {
namespace {

using testing::HasSubstr;

// An open file whose descriptor the system does not know.
class SystemDoorLostFileTest : public testing::Test {
 protected:
  SystemDoorLostFileTest()
      : file_(system_door().open_read(folder_.put("a", "text")).value()) {
    ::close(file_.handle());
  }
  ~SystemDoorLostFileTest() override { file_.forget(); }

  template <class Outcome>
  static void expect_refused(const Outcome& result, const char* call) {
    ASSERT_FALSE(result.has_value()) << call;
    EXPECT_EQ(result.error().kind, FailureKind::kIo);
    EXPECT_THAT(result.error().message, HasSubstr(call));
    EXPECT_THAT(result.error().message, HasSubstr("Bad file descriptor"));
  }

  TemporaryFolder folder_;
  File file_;
  std::array<std::byte, 4> bytes_{};
};

TEST_F(SystemDoorLostFileTest, CannotBeRead) {
  expect_refused(file_.read(bytes_), "cannot read");
  expect_refused(file_.read_at(0, bytes_), "cannot read");
}

TEST_F(SystemDoorLostFileTest, CannotBeWritten) {
  expect_refused(file_.write(bytes_), "cannot write");
  expect_refused(file_.sync(), "cannot sync");
  expect_refused(system_door().set_mode(file_, 0600), "cannot set the mode of");
}

TEST_F(SystemDoorLostFileTest, CannotBeMeasured) {
  expect_refused(file_.size(), "cannot measure");
}

TEST_F(SystemDoorLostFileTest, CannotBeClosed) {
  expect_refused(file_.close(), "cannot close");
  EXPECT_FALSE(file_.is_open());
}

TEST(SystemDoorErrorsTest, AnEndIsNoInterruptionWhateverCameBefore) {
  const TemporaryFolder folder;
  auto file = system_door().open_read(folder.put("a", "")).value();
  std::array<std::byte, 4> bytes{};
  ::alarm(60);  // it would be asked for again and again
  errno = EINTR;
  EXPECT_EQ(file.read(bytes).value(), 0);
  errno = EINTR;
  EXPECT_EQ(file.read_at(0, bytes).value(), 0);
  ::alarm(0);
}

TEST(SystemDoorErrorsTest, FollowsAsManyLinksAsTheSystemDoes) {
  const TemporaryFolder folder;
  folder.put("0", "text");
  constexpr int kLinks = 41;
  for (int i = 1; i <= kLinks; ++i) {
    std::filesystem::create_symlink(std::to_string(i - 1),
                                    folder.at(std::to_string(i)));
  }
  const auto last = system_door().inspect(folder.at("40"));
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(last->kind, PathKind::kFile);
  EXPECT_EQ(last->target, folder.at("0"));
  EXPECT_TRUE(system_door().open_read(folder.at("40")).has_value());
  const auto beyond = system_door().inspect(folder.at("41"));
  ASSERT_FALSE(beyond.has_value());
  EXPECT_THAT(beyond.error().message,
              HasSubstr("Too many levels of symbolic links"));
  EXPECT_FALSE(system_door().open_read(folder.at("41")).has_value());
  EXPECT_FALSE(system_door().exists(folder.at("41")).has_value());
}

TEST(SystemDoorErrorsTest, LooksAtNothingBelowAFile) {
  const TemporaryFolder folder;
  folder.put("file", "");
  const auto below = system_door().inspect(folder.at("file/a"));
  ASSERT_FALSE(below.has_value());
  EXPECT_EQ(below.error().kind, FailureKind::kNotFound);
}

TEST(SystemDoorErrorsTest, KnowsPermissionsAndKindsOfPaths) {
  const TemporaryFolder folder;
  ::chmod(folder.put("file", "").c_str(), 0640);
  const auto file = system_door().inspect(folder.at("file")).value();
  EXPECT_EQ(file.kind, PathKind::kFile);
  EXPECT_EQ(file.mode, 0640U);
  EXPECT_EQ(system_door().inspect(folder.at("none"))->kind, PathKind::kNothing);
  EXPECT_EQ(system_door().inspect("/dev/null")->kind, PathKind::kOther);
}

TEST(SystemDoorErrorsTest, LetsTheUsersMaskDecideWhoMayReadANewFile) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(0);
  EXPECT_TRUE(system_door().open_write(folder.at("a")).has_value());
  ::umask(027);
  EXPECT_TRUE(system_door().open_append(folder.at("b")).has_value());
  ::umask(before);
  EXPECT_EQ(system_door().inspect(folder.at("a"))->mode, 0666U);
  EXPECT_EQ(system_door().inspect(folder.at("b"))->mode, 0640U);
}

TEST(SystemDoorErrorsTest, OpensAFileWhereStandardInputIsClosed) {
  const TemporaryFolder folder;
  folder.put("a", "text");
  const int kept = ::dup(STDIN_FILENO);
  ::close(STDIN_FILENO);
  {
    auto file = system_door().open_read(folder.at("a"));
    ASSERT_TRUE(file.has_value());
    EXPECT_EQ(file->handle(), STDIN_FILENO);
    EXPECT_EQ(file->size().value(), 4);
  }
  if (kept >= 0) {
    ::dup2(kept, STDIN_FILENO);
    ::close(kept);
  }
}

TEST(SystemDoorErrorsTest, TakesAFolderThatCannotBeSyncedForSynced) {
  EXPECT_TRUE(system_door().sync_directory("/proc").has_value());
}

TEST(SystemDoorErrorsTest, SetsTheModeOfAFile) {
  const TemporaryFolder folder;
  auto file = system_door().open_write(folder.at("a")).value();
  EXPECT_TRUE(system_door().set_mode(file, 0604).has_value());
  EXPECT_EQ(system_door().inspect(folder.at("a"))->mode, 0604U);
}

TEST(SystemDoorErrorsTest, SaysWhatToDoWhereTooManyFilesAreOpen) {
  const TemporaryFolder folder;
  const std::string path = folder.put("a", "");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 3;  // the standard streams, at most
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto file = system_door().open_read(path);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(file.has_value());
  EXPECT_THAT(file.error().message,
              HasSubstr("close files or raise the limit"));
}

TEST(SystemDoorErrorsTest, SaysWhatToDoOnAFileSystemThatCannotBeWritten) {
  const auto refused = system_door().make_directory("/proc/nothing");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(system_door().remove("/dev").error().message,
            "cannot remove /dev: Is a directory; give a file");
}

}  // namespace
}  // namespace neap::files
