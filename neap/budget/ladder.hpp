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
