// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The flags that every benchmark takes.
#pragma once

#include <string>
#include <vector>

namespace neap::bench {

struct Arguments {
  bool json = false;       // JSON lines on stdout in place of tables
  bool quick = false;      // one short turn each: does it run at all?
  bool all = false;        // every row, where a section has a short selection
  bool with_peers = true;  // false: only what needs no other library
  std::vector<int> threads{1, 2};
  std::string filter;   // rows whose names contain it
  std::string results;  // a file that JSON lines are added to; empty: none

  bool selects(const std::string& name) const {
    return name.find(filter) != std::string::npos;
  }
};

/// Reads the command line; ends the program for --help and for what it cannot
/// read.
Arguments read_arguments(int argc, char** argv, const char* about);

}  // namespace neap::bench
