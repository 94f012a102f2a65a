// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The times at which a channel is busy: half-open intervals of nanoseconds,
// apart from each other, ascending. Moves are booked in any order.
#pragma once

#include <optional>

#include "neap/budget/problem.hpp"

namespace neap::budget {

class Bookings {
 public:
  void clear() noexcept { busy_.clear(); }
  /// The first time at or behind `from` at which it is free for so long.
  std::int64_t earliest(std::int64_t from,
                        std::int64_t duration) const noexcept;
  /// The last time at or behind `from` at which it is free for so long, to end
  /// by `until`.
  std::optional<std::int64_t> latest(std::int64_t from, std::int64_t until,
                                     std::int64_t duration) const noexcept;
  /// Books an interval. REQUIRES: it is free for so long, and duration > 0.
  /// THROWS: OutOfMemory.
  void book(std::int64_t start, std::int64_t duration);

 private:
  struct Interval {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  // The number of intervals that end at or before a time.
  std::size_t ended_by(std::int64_t time) const noexcept;

  memory::Vector<Interval> busy_;  // those that touch are one
};

}  // namespace neap::budget
