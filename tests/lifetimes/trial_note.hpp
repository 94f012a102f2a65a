// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Templates of Trial, for its own source files.
#pragma once

#include <fmt/format.h>

#include "trial.hpp"

namespace neap::lifetimes {

template <class... Args>
void Trial::note(const char* format, const Args&... args) {
  if (log_ != nullptr) {
    *log_ += fmt::format("{:>4}: ", action_);
    *log_ += fmt::vformat(format, fmt::make_format_args(args...));
    *log_ += '\n';
  }
}

/// Calls, and holds the refusal against what the model expects. RETURNS: true
/// when the call went through.
template <class F>
bool Trial::attempt(const std::vector<std::string>& refusals, F&& call) {
  try {
    call();
  } catch (const GraphError& error) {
    const std::string_view text = error.what();
    for (const std::string& expected : refusals) {
      if (text.find(expected) != std::string_view::npos) {
        ++mix_->refused;
        note("  refused: {}", text);
        return false;
      }
    }
    throw Mismatch(fmt::format(
        "refused with \"{}\", expected {}", text,
        refusals.empty() ? "no refusal" : '"' + refusals.front() + '"'));
  }
  if (!refusals.empty()) {
    throw Mismatch(fmt::format("let through, expected a refusal: \"{}\"",
                               refusals.front()));
  }
  return true;
}

}  // namespace neap::lifetimes
