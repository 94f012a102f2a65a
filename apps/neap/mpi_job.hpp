// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A job of several processes under mpirun: started, listened to and waited for.
// Whatever way it ends, none of its processes on this machine is left.
#pragma once

#include <string>
#include <vector>

#include "child.hpp"
#include "launcher_text.hpp"
#include "neap/base/result.hpp"

namespace neap::app {

struct JobEnd {
  Ending ending;  // of mpirun
  LauncherText text;
};

/// While it lives, SIGINT, SIGTERM and SIGHUP are handed on to the job that
/// runs, and noted; those that this process was started to ignore stay so.
class JobSignals {
 public:
  JobSignals();
  ~JobSignals();
  JobSignals(const JobSignals&) = delete;
  JobSignals& operator=(const JobSignals&) = delete;

  /// The first signal that has come; 0: none.
  static int caught() noexcept;
};

/// Runs `words` (the path of a program, and its arguments) in a process group
/// of its own, so that what the terminal's keys send comes by JobSignals alone,
/// with nothing to read on standard input. Its standard error goes on to that
/// of this process. Where a signal was noted, or the cause of its end, it has
/// half a minute to end. Its processes that outlive it are killed, and so is
/// all of it where this process is. REQUIRES: JobSignals; one call at a time. A
/// failure: it was not started.
Result<JobEnd> run_job(const std::vector<std::string>& words);

}  // namespace neap::app
