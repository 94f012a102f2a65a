// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/threads/background.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "neap/base/external.hpp"
#include "neap/threads/thread_error.hpp"

namespace neap::threads {
namespace {

struct Talk {
  std::atomic<int> word{0};
  pthread_t thread{};
  sigset_t blocked{};
};

// Says that it is there, and ends when it is told to.
void answer(void* context) noexcept {
  auto& talk = *static_cast<Talk*>(context);
  talk.thread = ::pthread_self();
  ::pthread_sigmask(SIG_SETMASK, nullptr, &talk.blocked);
  talk.word = 1;
  talk.word.notify_all();
  talk.word.wait(1);
}

void tell_to_end(Talk& talk) {
  talk.word.wait(0);
  talk.word = 2;
  talk.word.notify_all();
}

TEST(BackgroundTest, RunsBesideItsOwnerAndTakesNoSignals) {
  Talk talk;
  {
    const Background background("test", &answer, &talk);
    EXPECT_TRUE(background.is_here());
    tell_to_end(talk);
  }
  EXPECT_EQ(::pthread_equal(talk.thread, ::pthread_self()), 0);
  EXPECT_EQ(::sigismember(&talk.blocked, SIGINT), 1);
}

TEST(BackgroundTest, DeclaresItsStackWhileItLives) {
  const Bytes before = base::external_bytes();
  Talk talk;
  {
    const Background background("test", &answer, &talk, 512 * kKiB);
    EXPECT_GE(base::external_bytes() - before, 512 * kKiB);
    tell_to_end(talk);
  }
  EXPECT_EQ(base::external_bytes(), before);
}

TEST(BackgroundTest, ReportsThatTheSystemStartsNoThread) {
  const Bytes before = base::external_bytes();
  constexpr Bytes kMoreThanAnAddressSpace = Bytes{1} << 50U;
  Talk talk;
  EXPECT_THROW(Background("test", &answer, &talk, kMoreThanAnAddressSpace),
               ThreadError);
  EXPECT_EQ(base::external_bytes(), before);
}

TEST(BackgroundTest, StaysWithTheParentOfAFork) {
  Talk talk;
  auto* background = new Background("test", &answer, &talk);
  talk.word.wait(0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // a child that waits for the thread is a failure
    const bool is_here = background->is_here();
    delete background;
    ::_exit(is_here ? 1 : 0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  tell_to_end(talk);
  delete background;
}

}  // namespace
}  // namespace neap::threads
