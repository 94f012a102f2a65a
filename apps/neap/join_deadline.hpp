// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Joining the other ranks blocks within MPI, where the deadline of exchanges
// does not hold: a rank that never comes would be waited for without an end.
#pragma once

#include <csignal>

namespace neap::app {

/// While it lives, the process ends with kRanks and a message where it lives
/// for longer than so many seconds, and than kLeast: processes that start side
/// by side may come one after the other. It takes SIGALRM.
class JoinDeadline {
 public:
  static constexpr double kLeast = 10.0;

  explicit JoinDeadline(double seconds);
  ~JoinDeadline();
  JoinDeadline(const JoinDeadline&) = delete;
  JoinDeadline& operator=(const JoinDeadline&) = delete;

 private:
  struct sigaction before_ {};
};

}  // namespace neap::app
