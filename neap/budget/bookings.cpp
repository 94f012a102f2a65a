// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/bookings.hpp"

#include <algorithm>

namespace neap::budget {

std::size_t Bookings::ended_by(std::int64_t time) const noexcept {
  const auto found = std::upper_bound(
      busy_.begin(), busy_.end(), time,
      [](std::int64_t t, const Interval& i) { return t < i.end; });
  return static_cast<std::size_t>(found - busy_.begin());
}

std::int64_t Bookings::earliest(std::int64_t from,
                                std::int64_t duration) const noexcept {
  for (std::size_t i = ended_by(from); i < busy_.size(); ++i) {
    if (from + duration <= busy_[i].begin) {
      break;
    }
    from = busy_[i].end;
  }
  return from;
}

std::optional<std::int64_t> Bookings::latest(
    std::int64_t from, std::int64_t until,
    std::int64_t duration) const noexcept {
  // The intervals before `i` begin before `until`.
  const auto first = std::lower_bound(
      busy_.begin(), busy_.end(), until,
      [](const Interval& i, std::int64_t t) { return i.begin < t; });
  auto i = static_cast<std::size_t>(first - busy_.begin());
  for (; i > 0 && until - from >= duration; --i) {
    if (busy_[i - 1].end + duration <= until) {
      break;
    }
    until = std::min(until, busy_[i - 1].begin);
  }
  return until - from >= duration ? std::optional(until - duration)
                                  : std::nullopt;
}

void Bookings::book(std::int64_t start, std::int64_t duration) {
  const std::int64_t end = start + duration;
  // The interval before touches or ends earlier, the one behind begins later.
  const std::size_t next = ended_by(start);
  const bool joins_last = next > 0 && busy_[next - 1].end == start;
  const bool joins_next = next < busy_.size() && busy_[next].begin == end;
  if (joins_last && joins_next) {
    busy_[next - 1].end = busy_[next].end;
    busy_.erase(busy_.begin() + static_cast<std::ptrdiff_t>(next));
  } else if (joins_last) {
    busy_[next - 1].end = end;
  } else if (joins_next) {
    busy_[next].begin = start;
  } else {
    busy_.insert(busy_.begin() + static_cast<std::ptrdiff_t>(next),
                 {start, end});
  }
}

}  // namespace neap::budget
