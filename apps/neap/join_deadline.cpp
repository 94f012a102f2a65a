// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "join_deadline.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "exit_code.hpp"

namespace neap::app {
namespace {

constexpr double kTurn = 0.25;  // seconds
constexpr int kTurns = 8;

// write_failure() takes no memory, and MPI cannot be told to give up.
void on_alarm(int) {
  write_failure(
      "dist: not all ranks have joined in time; the run goes on from its last "
      "checkpoint, with any number of ranks");
  ::_exit(static_cast<int>(ExitCode::kRanks));
}

// Open MPI's mpirun may crash over ranks that end at the same moment before
// they have joined. They end in turns, of which the first makes it end the
// others.
double turn_of_rank() noexcept {
  const char* text =
      std::getenv("OMPI_COMM_WORLD_RANK");  // NOLINT(concurrency-mt-unsafe)
  const int rank = text != nullptr ? std::atoi(text) : 0;
  return kTurn * static_cast<double>(std::min(rank, kTurns));
}

void set_timer(double seconds) noexcept {
  struct itimerval timer {};
  double whole = 0.0;
  timer.it_value.tv_usec =
      static_cast<suseconds_t>(1e6 * std::modf(seconds, &whole));
  timer.it_value.tv_sec = static_cast<time_t>(whole);
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace

JoinDeadline::JoinDeadline(double seconds) {
  struct sigaction action {};
  action.sa_handler = &on_alarm;
  ::sigaction(SIGALRM, &action, &before_);
  set_timer(std::max(seconds, kLeast) + turn_of_rank());
}

JoinDeadline::~JoinDeadline() {
  set_timer(0.0);
  ::sigaction(SIGALRM, &before_, nullptr);
}

}  // namespace neap::app
