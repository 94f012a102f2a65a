// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Another program, run and waited for as a shell would.
#pragma once

#include <string>
#include <vector>

#include "neap/base/result.hpp"

namespace neap::app {

/// How a program ended.
struct Ending {
  int status = 0;  // its exit status, where no signal ended it
  int signal = 0;  // 0: none
};

/// Runs `words` (the program, found in PATH where it has no slash, and its
/// arguments) with the streams, the folder and the environment of this process,
/// in which `variable` is `value`. What the terminal's keys send is the
/// program's alone; SIGTERM and SIGHUP are handed on to it. A failure names the
/// program, which was not started. REQUIRES: a word; one call at a time.
Result<Ending> run_child(const std::vector<std::string>& words,
                         const std::string& variable, const std::string& value);

}  // namespace neap::app
