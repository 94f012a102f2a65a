// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Tests under a limit of the size of files (RLIMIT_FSIZE), in processes of
// their own, which the signal that comes with it (SIGXFSZ) would end.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

namespace neap::files {

inline rlimit size_limits() {
  rlimit limits{};
  ::getrlimit(RLIMIT_FSIZE, &limits);
  return limits;
}

inline void set_size_limit(rlim_t bytes) {
  rlimit limits = size_limits();
  limits.rlim_cur = bytes;
  ::setrlimit(RLIMIT_FSIZE, &limits);
}

/// `run` returns whether all was well in the child.
template <class Run>
void expect_in_a_child(const Run& run) {
  EXPECT_EXIT(
      {
        ::signal(SIGXFSZ, SIG_DFL);
        ::_exit(run() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace neap::files
