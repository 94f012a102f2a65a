// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The limit of a file's size (RLIMIT_FSIZE): what goes beyond it is refused,
// and the signal that the system sends as well reaches nobody. Each test has a
// process of its own, which the signal would end.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <vector>

#include "neap/files/door.hpp"
#include "neap/files/scratch_file.hpp"
#include "neap/files/size_limit_for_test.hpp"
#include "neap/files/system_scratch.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/files/whole_file.hpp"

namespace neap::files {
namespace {

constexpr rlim_t kLimit = 64 * 1024;

class SystemDoorLimitTest : public testing::Test {
 protected:
  template <class Run>
  static void expect_within_limit(const Run& run) {
    expect_in_a_child([&] {
      set_size_limit(kLimit);
      return run();
    });
  }

  template <class Outcome>
  static bool is_too_large(const Outcome& result) {
    return !result.has_value() && result.error().kind == FailureKind::kIo &&
           result.error().message.find("File too large; raise the limit") !=
               std::string::npos;
  }
  static bool is_sent() {
    sigset_t sent;
    ::sigpending(&sent);
    return ::sigismember(&sent, SIGXFSZ) == 1;
  }
  static bool is_held_back() {
    sigset_t held;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &held);
    return ::sigismember(&held, SIGXFSZ) == 1;
  }
  static void hold_back() {
    sigset_t held;
    ::sigemptyset(&held);
    ::sigaddset(&held, SIGXFSZ);
    ::pthread_sigmask(SIG_BLOCK, &held, nullptr);
  }

  // On a disk: a folder in memory takes no scratch files.
  File scratch() const {
    const int file = scratch::open_unlinked(folder_.path());
    return {system_door(), file, "scratch"};
  }
  bool write_too_much() const {
    return is_too_large(
        write_atomically(system_door(), folder_.at("a"),
                         [&](File& file) { return write_all(file, bytes_); }));
  }

  TemporaryFolder folder_;
  std::vector<std::byte> bytes_ = std::vector<std::byte>(2 * kLimit);
};

TEST_F(SystemDoorLimitTest, AWholeFileBeyondItLeavesTheOldOne) {
  folder_.put("a", "old");
  expect_within_limit([&] { return write_too_much(); });
  EXPECT_EQ(folder_.get("a"), "old");
  const std::filesystem::directory_iterator all(folder_.path());
  EXPECT_EQ(std::distance(begin(all), end(all)), 1);
}

TEST_F(SystemDoorLimitTest, AppendingBeyondItIsRefused) {
  expect_within_limit([&] {
    File file = system_door().open_append(folder_.at("a")).value();
    return write_all(file, std::span(bytes_).first(kLimit)).has_value() &&
           is_too_large(file.write(std::span(bytes_).first(1)));
  });
  EXPECT_EQ(folder_.get("a").size(), kLimit);
}

TEST_F(SystemDoorLimitTest, ScratchFilesDoNotGrowBeyondIt) {
  expect_within_limit([&] {
    Door& door = system_door();
    File file = scratch();
    const std::span some = std::span(bytes_).first(4096);
    return is_too_large(door.write_at(file, kLimit, some)) &&
           is_too_large(door.fill_at(file, kLimit, 4096)) &&
           is_too_large(door.preallocate(file, 0, 2 * kLimit)) &&
           is_too_large(door.truncate(file, 2 * kLimit)) &&
           door.write_at(file, 0, some).has_value();
  });
}

// Its pages are there, and the limit counts for each write all the same.
TEST_F(SystemDoorLimitTest, WritesBelowTheEndOfALongerFileAreRefused) {
  expect_within_limit([&] {
    set_size_limit(4 * kLimit);
    File file = scratch();
    const bool is_long = system_door().truncate(file, 4 * kLimit).has_value();
    set_size_limit(kLimit);
    return is_long &&
           is_too_large(system_door().write_at(file, 2 * kLimit, bytes_));
  });
}

TEST_F(SystemDoorLimitTest, NoSignalIsLeftAndNoneIsHeldBackAfterwards) {
  expect_within_limit(
      [&] { return write_too_much() && !is_sent() && !is_held_back(); });
}

TEST_F(SystemDoorLimitTest, AProgramThatIgnoresOrHandlesItGoesOnDoingSo) {
  static int handled;
  const auto handle = [](int) { ++handled; };
  expect_within_limit([&] {
    ::signal(SIGXFSZ, handle);
    bool is_good = write_too_much() && handled == 0;
    ::raise(SIGXFSZ);
    is_good = is_good && handled == 1;
    ::signal(SIGXFSZ, SIG_IGN);
    return write_too_much() && ::signal(SIGXFSZ, SIG_DFL) == SIG_IGN && is_good;
  });
}

TEST_F(SystemDoorLimitTest, OneThatWasHeldBackBeforeIsLeft) {
  expect_within_limit([&] {
    hold_back();
    const bool is_good = write_too_much() && !is_sent() && is_held_back();
    ::raise(SIGXFSZ);
    return is_good && write_too_much() && is_sent() && is_held_back();
  });
}

}  // namespace
}  // namespace neap::files
