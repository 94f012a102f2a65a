// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// `neap pack`: solves a packing problem in MiniMalloc's CSV format.
#pragma once

#include <cstdint>
#include <string>

#include "exit_code.hpp"

namespace neap::app {

struct PackSettings {
  std::string problem;        // path of the CSV
  std::int64_t capacity = 0;  // 0: none
  double seconds = 0;         // 0: a fixed amount of work
  std::string out;            // path of the plan; empty: none is written
  std::string svg;            // path of a drawing; empty: none
  bool is_json = false;
};

/// Prints to standard output (report) and standard error (the one line of a
/// failure).
ExitCode pack(const PackSettings& settings);

}  // namespace neap::app
