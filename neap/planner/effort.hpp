// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How much search is left: steps of work, and where asked for, time. Which plan
// comes out hangs on the steps alone as long as the time suffices.
#pragma once

#include <chrono>
#include <cstdint>

namespace neap::planner {

class Effort {
 public:
  /// seconds <= 0: the work alone ends it.
  Effort(std::int64_t work, double seconds) noexcept
      : work_(work), seconds_(seconds), start_(Clock::now()) {}

  /// Takes steps; false when there are none left.
  bool spend(std::int64_t steps) noexcept {
    spent_ += steps;
    unlooked_ += steps;
    if (seconds_ > 0 && unlooked_ >= kStepsPerLook) {
      unlooked_ = 0;
      is_late_ = is_late_ || elapsed() >= seconds_;
    }
    return !is_over();
  }
  /// A part of what is left, of so many equal ones.
  Effort share(std::int64_t parts) const noexcept {
    return Effort(left() / parts, seconds_left() / static_cast<double>(parts));
  }

  bool is_over() const noexcept { return is_late_ || spent_ >= work_; }
  std::int64_t spent() const noexcept { return spent_; }
  std::int64_t left() const noexcept { return is_over() ? 0 : work_ - spent_; }
  double elapsed() const noexcept {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }
  /// The seconds that are left; 0: time does not count.
  double seconds_left() const noexcept {
    if (seconds_ <= 0) {
      return 0;
    }
    const double left = seconds_ - elapsed();
    return left > kLeast ? left : kLeast;
  }

 private:
  using Clock = std::chrono::steady_clock;
  // A look at the clock costs as much as a few steps.
  static constexpr std::int64_t kStepsPerLook = 4096;
  static constexpr double kLeast = 1e-6;

  std::int64_t work_;
  double seconds_;
  Clock::time_point start_;
  std::int64_t spent_ = 0;
  std::int64_t unlooked_ = 0;
  bool is_late_ = false;
};

}  // namespace neap::planner
