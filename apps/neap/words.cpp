// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "words.hpp"

#include <algorithm>

namespace neap::app {
namespace {

// --json with no file after it is --json -.
void add_standard_output(std::vector<std::string>& words) {
  for (auto word = words.begin(); word != words.end(); ++word) {
    const auto next = word + 1;
    const bool is_alone =
        next == words.end() || (next->starts_with("-") && *next != "-");
    if (*word == "--json" && is_alone) {
      word = words.insert(next, "-");
    }
  }
}

// Takes the program of neap doctor or launch out of the words.
std::vector<std::string> take_program(std::vector<std::string>& words) {
  const auto mark = std::find(words.begin(), words.end(), "--");
  const bool takes_one =
      !words.empty() && (words[0] == "doctor" || words[0] == "launch");
  if (!takes_one || mark == words.end()) {
    return {};
  }
  std::vector<std::string> program(mark + 1, words.end());
  words.erase(mark, words.end());
  return program;
}

}  // namespace

Words words_of(int argc, char** argv) {
  Words out;
  std::vector<std::string>& words = out.own;
  words.assign(argv + std::min(argc, 1), argv + argc);
  if (words.empty()) {
    return out;
  }
  if (words[0] == "version") {
    words[0] = "--version";
  } else if (words[0] == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  out.program = take_program(words);
  if (words[0] != "pack") {
    add_standard_output(words);
  }
  return out;
}

}  // namespace neap::app
