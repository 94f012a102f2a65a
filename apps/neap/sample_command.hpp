// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// neap sample: text from a language model that was trained and saved.
#pragma once

#include <cstdint>
#include <string>

#include "exit_code.hpp"

namespace neap::app {

struct SampleSettings {
  std::string load;           // path of a checkpoint
  std::string prompt;         // what comes before
  std::int64_t length = 500;  // tokens
  double temperature = 0.8;   // 0: the likeliest token, always
  std::int64_t top_k = 0;     // of so many likeliest; 0: of all
  std::uint64_t seed = 1;
  std::int64_t threads = 0;
  std::string verify = "on";  // the file's checksums; or "off"
};

/// Prints the prompt and what follows, token by token.
ExitCode sample(const SampleSettings& settings);

}  // namespace neap::app
