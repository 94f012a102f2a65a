// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How a run of the exact search goes about it. Every style finds the same
// answer in the end; which is fast differs from problem to problem, so that the
// ladder tries them in turn.
#pragma once

#include <array>
#include <span>

#include "neap/planner/exact_sections.hpp"

namespace neap::planner {

/// The order in which pieces that may come next are tried.
enum class PieceOrder : std::uint8_t {
  kLongest,  // the most sections, then the largest
  kLargest,  // the largest, then the most sections
  kFullest,  // that of the fullest section, then the largest area
  kWidest,   // sections squared times size
};

/// The section in which the search goes on.
enum class Focus : std::uint8_t {
  kFewest,  // the fewest choices; a section that has little slack is better
  kLow,     // the fewest choices; one that lies low is better
  kLowest,  // the lowest; of these, the fewest choices
};

struct Style {
  PieceOrder order;
  Focus focus;
  bool heeds_failures;  // goes on where runs before it failed most
};

inline constexpr std::array kStyles{
    Style{PieceOrder::kLargest, Focus::kFewest, false},
    Style{PieceOrder::kWidest, Focus::kLow, true},
    Style{PieceOrder::kLongest, Focus::kFewest, true},
    Style{PieceOrder::kFullest, Focus::kLowest, false},
    Style{PieceOrder::kLongest, Focus::kFewest, false},
    Style{PieceOrder::kLongest, Focus::kLowest, false},
};

/// Fills in one key a piece; the highest is tried first. A seed above 0 shakes
/// them a little.
void fill_keys(const Sections& sections, PieceOrder order, std::uint64_t seed,
               std::span<double> keys) noexcept;

}  // namespace neap::planner
