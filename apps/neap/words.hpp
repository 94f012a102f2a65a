// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The words of a command line before the parser sees them.
#pragma once

#include <string>
#include <vector>

namespace neap::app {

struct Words {
  std::vector<std::string> own;  // without argv[0]
  /// Words after "--" of neap doctor or launch: a program and its arguments,
  /// which are nobody else's business.
  std::vector<std::string> program;
};

/// Commands may be words where options are meant ("neap help train"), and
/// --json without a file after it means standard output.
Words words_of(int argc, char** argv);

}  // namespace neap::app
