// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// `neap tokenizer`: ids of texts and texts of ids by a tokenizer.json, and such
// a file from texts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exit_code.hpp"

namespace neap::app {

struct TokenizerSettings {
  std::string action;              // train, encode or decode
  std::vector<std::string> files;  // paths
  std::string load;                // path of the tokenizer.json
  std::string text;                // instead of files; empty: none
  std::vector<std::string> special;
  std::string out;         // path; empty: standard output
  std::int64_t vocab = 0;  // tokens; 0: not given
  std::int64_t min_frequency = 0;
  bool is_plain = false;
  bool is_by_lines = false;  // each line is a text
};

ExitCode run_tokenizer(const TokenizerSettings& settings);

}  // namespace neap::app
