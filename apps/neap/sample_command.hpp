// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// neap sample: text from a language model that was trained and saved.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exit_code.hpp"
#include "neap/base/bytes.hpp"

namespace neap::app {

struct SampleSettings {
  std::string load;             // path of a checkpoint
  std::string from;             // folder of a pretrained model
  std::string adapter;          // folder of an adapter for it
  std::string weights = "f32";  // of that model; or as its "file" has them
  std::string prompt;           // what comes before
  std::int64_t length = 500;    // tokens
  std::int64_t block = 1024;    // tokens that a pretrained model sees, at most
  double temperature = 0.8;     // 0: the likeliest token, always
  std::int64_t top_k = 0;       // of so many likeliest; 0: of all
  double top_p = 1.0;           // of the fewest with so much of the shares
  std::vector<std::string> stops{};  // texts before which it ends
  bool goes_past_end = false;        // of a text, where the model says one
  Bytes budget = kUnlimited;         // of all memory
  bool is_reported = false;          // needs, and speed, on standard error
  std::uint64_t seed = 1;
  std::int64_t threads = 0;
  std::string verify = "on";  // the file's checksums; or "off"
};

/// Prints the prompt and what follows, token by token.
ExitCode sample(const SampleSettings& settings);

}  // namespace neap::app
