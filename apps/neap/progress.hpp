// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Progress: one line that is redrawn on a terminal, plain lines now and then
// elsewhere. Writes to standard error; formats into a fixed buffer, so that a
// steady step stays free of heap calls.
#pragma once

#include <chrono>
#include <string>

#include "neap/memory/domain.hpp"
#include "neap/train/fit.hpp"

namespace neap::app {

class Progress {
 public:
  enum class Style { kBar, kPlain, kNone };

  /// "auto" is a bar on a terminal and plain lines elsewhere.
  static Style style_of(const std::string& name);

  Progress(Style style, const memory::Domain& domain)
      : style_(style), domain_(&domain) {}

  void step(const train::StepReport& report);
  /// A line of its own for a test between steps.
  void evaluation(std::int64_t step, const train::Evaluation& found);
  /// Ends the line.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  bool is_due(const train::StepReport& report);
  void draw(const train::StepReport& report);

  Style style_;
  const memory::Domain* domain_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point drawn_{};
  std::int64_t samples_ = 0;
  // Running means over about the last 100 steps.
  double loss_ = 0.0;
  double accuracy_ = 0.0;
  bool has_line_ = false;
};

}  // namespace neap::app
