// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The states that the exact search knows to fail: their prints, the target that
// they fail for, and a range of sections that shows it. A state that fails for
// a target fails for all below. The table has a fixed size; what comes later
// takes the place of what came before.
#pragma once

#include "neap/planner/exact_skyline.hpp"

namespace neap::planner {

class FailureTable {
 public:
  /// THROWS: OutOfMemory.
  FailureTable() { entries_.resize(kSlots); }

  /// The range that shows the failure; nullptr: none is known.
  const Range* find(const Skyline::Print& print,
                    std::int64_t target) const noexcept {
    const Entry& entry = entries_[print.low % kSlots];
    return entry.print == print && entry.target >= target ? &entry.range
                                                          : nullptr;
  }
  void add(const Skyline::Print& print, std::int64_t target,
           Range range) noexcept {
    entries_[print.low % kSlots] = {print, target, range};
  }

 private:
  static constexpr std::size_t kSlots = std::size_t{1} << 14U;
  struct Entry {
    Skyline::Print print;
    std::int64_t target = -1;
    Range range;
  };
  memory::Vector<Entry> entries_;
};

}  // namespace neap::planner
