// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A forked child inherits a pool whose workers are gone.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "neap/threads/meet_test.hpp"
#include "neap/threads/pool.hpp"

// ThreadSanitizer by default ends a child that starts threads.
extern "C" NEAP_API const char* __tsan_default_options() {
  return "die_after_fork=0";
}

namespace neap::threads {
namespace {

constexpr unsigned kSecondsBeforeADeadlockIsReported = 20;

// Runs `body` in a child; returns the exit status, or -1 if a signal ended it.
template <class Body>
int status_in_child(const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kSecondsBeforeADeadlockIsReported);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// 0 when a job of three parts runs on three different threads.
int use(Pool& pool) {
  std::array<pthread_t, 3> threads{};
  Meeting meeting(3);
  parallel_parts(pool, 3, [&](int part) noexcept {
    meeting.come();
    threads[static_cast<std::size_t>(part)] = ::pthread_self();
  });
  const bool distinct = ::pthread_equal(threads[0], threads[1]) == 0 &&
                        ::pthread_equal(threads[1], threads[2]) == 0 &&
                        ::pthread_equal(threads[0], threads[2]) == 0;
  return distinct ? 0 : 1;
}

// AddressSanitizer's own locks may be held by another thread at the fork, and
// are then never freed in the child.
class PoolForkTest : public testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "AddressSanitizer does not survive every fork";
#endif
  }
};

TEST_F(PoolForkTest, StartsItsWorkersAfreshInAChild) {
  Pool pool(3);
  ASSERT_EQ(use(pool), 0);
  EXPECT_EQ(status_in_child([&] { return use(pool) + 2 * use(pool); }), 0);
  EXPECT_EQ(use(pool), 0);
}

TEST_F(PoolForkTest, WorksInAGrandchildToo) {
  Pool pool(3);
  EXPECT_EQ(status_in_child([&] {
              return status_in_child([&] { return use(pool); }) + use(pool);
            }),
            0);
}

TEST_F(PoolForkTest, WorksInAChildForkedWhileAnotherThreadRunsAJob) {
  Pool pool(3);
  std::atomic<bool> inside{false};
  std::atomic<bool> leave{false};
  std::thread caller([&] {
    parallel_parts(pool, 3, [&](int) noexcept {
      inside = true;
      while (!leave.load()) {
        std::this_thread::yield();
      }
    });
  });
  while (!inside.load()) {
    std::this_thread::yield();
  }
  EXPECT_EQ(status_in_child([&] { return use(pool); }), 0);
  leave = true;
  caller.join();
}

TEST_F(PoolForkTest, CanBeDestroyedInAChildThatNeverUsedIt) {
  EXPECT_EQ(status_in_child([] {
              auto* pool = new Pool(3);
              return status_in_child([&] {
                delete pool;
                return 0;
              });
            }),
            0);
}

TEST_F(PoolForkTest, CanChangeItsThreadCountInAChild) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer takes the child's threads for the parent's";
#endif
  Pool pool(2);
  EXPECT_EQ(status_in_child([&] {
              pool.resize(3);
              return use(pool);
            }),
            0);
}

}  // namespace
}  // namespace neap::threads
