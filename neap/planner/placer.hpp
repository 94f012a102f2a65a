// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Puts items one after the other into the gaps that those before them left.
#pragma once

#include <span>

#include "neap/planner/timeline.hpp"

namespace neap::planner {

enum class Fit : std::uint8_t {
  kLowest,    // the lowest gap that is large enough
  kTightest,  // the smallest gap that is large enough; above all if none is
};

class Placer {
 public:
  /// LIFETIME: the timeline outlives it. THROWS: OutOfMemory.
  explicit Placer(const Timeline& timeline);

  /// Places the fixed items, then the others in `order` (a permutation of all).
  /// RETURNS: the height; kNoLimit as soon as something ends above `limit`, or
  /// where two fixed items overlap. `offsets` has one place an item.
  std::int64_t place(std::span<const std::int32_t> order, Fit fit,
                     std::int64_t limit,
                     std::span<std::int64_t> offsets) noexcept;

 private:
  struct Placed {
    std::int32_t begin;
    std::int32_t end;
    std::int64_t offset;
    std::int64_t top;
  };
  std::int64_t lowest(const Item& item) const noexcept;
  std::int64_t tightest(const Item& item) const noexcept;
  void add(const Item& item, std::int64_t offset) noexcept;
  bool add_fixed() noexcept;

  const Timeline* timeline_;
  memory::Vector<std::int32_t> fixed_;
  memory::Vector<Placed> placed_;  // by offset; room for all
};

}  // namespace neap::planner
