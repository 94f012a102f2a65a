// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// neap doctor: runs a program that links Neap, as it is, and says what it did
// with its memory: what leaked, what grew, the peak and who held it.
#pragma once

#include <string>
#include <vector>

#include "exit_code.hpp"

namespace neap::app {

struct DoctorSettings {
  std::string page;  // paths of what is written; empty: nothing
  std::string snapshot;
  std::vector<std::string> words;  // the program and its arguments
};

/// RETURNS: the program's own status, or 128 and the number of the signal that
/// ended it, where either is not 0; else kLeak where it leaks, or kData where
/// it wrote nothing.
ExitCode run_doctor(const DoctorSettings& settings);

}  // namespace neap::app
