// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The stream of a run's report, for people.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

#include "settings.hpp"

namespace neap::app {

// The stream of the report; nullptr: none, since the summary is all that
// standard output is to have (--json -).
inline std::FILE* report_of(const TrainSettings& s) {
  return s.json == "-" ? nullptr : stdout;
}

// A failure stays in the stream, where the program's end finds it: a broken
// pipe or a full disk does not end the training.
template <class... Args>
void say(std::FILE* out, fmt::format_string<Args...> format, Args&&... args) {
  if (out == nullptr) {
    return;
  }
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), out));
}

}  // namespace neap::app
