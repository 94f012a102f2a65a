// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Says whether a plan solves its problem. It shares no code with the solvers,
// so that a mistake there cannot hide here.
#pragma once

#include "neap/planner/paged.hpp"
#include "neap/planner/problem.hpp"

namespace neap::planner {

enum class Fault : std::uint8_t {
  kNone,
  kCount,      // offsets are more or fewer than buffers
  kRange,      // an offset below 0, or an end beyond 64 bits
  kAlignment,  // an offset is no multiple of the alignment
  kFixed,      // a fixed buffer lies elsewhere
  kAlias,      // an alias lies elsewhere in its buffer
  kOverlap,    // two that live at one instant share bytes
  kHeight,     // the height is not the highest end
  kBound,      // the lower bound is above the height
  kCapacity,   // the height is beyond the capacity
};

struct Verdict {
  Fault fault = Fault::kNone;
  std::int32_t first = -1;   // the buffer at fault, or ...
  std::int32_t second = -1;  // ... the two that overlap, ascending
  bool is_good() const noexcept { return fault == Fault::kNone; }
};

/// The first fault found, in the order of Fault. An alias keeps all of the
/// buffer that it lies in alive. O(n log n).
/// THROWS: ValueError as check(); OutOfMemory.
NEAP_API Verdict validate(const Problem& problem, const Solution& solution);

/// The same for pages: kRange for an address that is no page's (or that a view
/// shows as none), kOverlap for bytes of one page, kHeight for other than
/// `pages` or views that do not follow one another.
NEAP_API Verdict validate(const Problem& problem, const Paging& paging);

/// "none", "count", "overlap", ...
NEAP_API const char* name_of(Fault fault) noexcept;

}  // namespace neap::planner
