// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Probe: what the process did outside of domains, step by step: heap calls
// (seen by the counting malloc linked into this tool) and page faults (as the
// kernel counts them). Keeps the latest kKept steps in place and allocates
// nothing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "neap/base/bytes.hpp"

namespace neap::app {

class Probe {
 public:
  static constexpr int kWarmUp = 2;  // steps left out of the medians
  static constexpr int kKept = 1024;

  /// To be called at the end of each step.
  void step(double seconds);

  /// Medians over the steady steps (all steps when there are no others);
  /// nothing where the figure cannot be had.
  std::optional<double> step_ms() const;
  std::optional<double> heap_calls() const;
  std::optional<double> page_faults() const;

 private:
  struct Sample {
    double seconds = 0.0;
    double heap_calls = 0.0;
    double page_faults = 0.0;
  };
  std::optional<double> median(double Sample::*field) const;

  std::array<Sample, kKept> samples_{};
  std::int64_t steps_ = 0;
  std::int64_t last_heap_calls_ = 0;
  std::int64_t last_page_faults_ = 0;
};

/// Highest resident set of this process so far.
Bytes max_rss_bytes();

}  // namespace neap::app
