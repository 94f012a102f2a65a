// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Schedules for every budget of a fixed row: a larger budget never costs more,
// since each rung begins with the schedule of the rung below it.
#pragma once

#include "neap/budget/search.hpp"

namespace neap::budget {

struct Rung {
  std::int64_t target = 0;
  Found found;            // its schedule trimmed
  std::int64_t peak = 0;  // of the schedule: what it needs of the target
};

struct LadderOptions {
  SearchOptions search{};  // of each rung
  std::int32_t step = 1;   // 1: every rung, 2: every other one, ...
  std::int64_t least = 0;  // no rung below it, nor above `most`
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  bool lowest_only = false;  // the smallest target of them alone
  /// A limit for what a schedule needs: above it, rungs end as Reach says.
  std::int64_t limit = std::numeric_limits<std::int64_t>::max();
};

/// How far a ladder goes on above a limit, where a schedule may still need no
/// more than that: to a few rungs in a row that need more, at most to a quarter
/// above it.
class Reach {
 public:
  explicit Reach(std::int64_t limit) noexcept : limit_(limit) {}

  /// Rungs in their order. RETURNS: whether the next one is out of reach.
  bool ends_with(const Rung& rung) noexcept {
    if (rung.target > limit_) {
      misses_ = rung.peak > limit_ ? misses_ + 1 : 0;
    }
    return misses_ == kMostMisses;
  }
  static std::int64_t most_target(std::int64_t limit) noexcept {
    return limit + limit / 4;
  }
  /// The least limit whose most_target() is at least this.
  static std::int64_t least_limit(std::int64_t target) noexcept {
    return target - target / 5;
  }

 private:
  static constexpr int kMostMisses = 3;
  std::int64_t limit_;
  int misses_ = 0;
};

/// The target of rung k: the full memory times 2^(-k/32), rounded down.
std::int64_t rung_of(std::int64_t full, std::int32_t k) noexcept;

/// The memory of the calls when nothing is dropped while it is needed.
/// THROWS: ValueError as check(); OutOfMemory.
NEAP_API std::int64_t full_memory(const Problem& problem);

/// Rungs from the smallest target for which a schedule is found to the full
/// memory, with falling prices. THROWS: ValueError as check(); OutOfMemory.
NEAP_API memory::Vector<Rung> ladder(const Problem& problem,
                                     const LadderOptions& options = {});

}  // namespace neap::budget
