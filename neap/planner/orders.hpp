// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The orders in which heuristics place items.
#pragma once

#include <span>

#include "neap/planner/timeline.hpp"

namespace neap::planner {

enum class Order : std::uint8_t {
  kDuration,       // longest first; among equals, largest
  kSize,           // largest first; longest
  kArea,           // size times duration
  kCrowd,          // what lives when most lives; longest
  kCrowdSize,      // likewise; largest
  kBegin,          // earliest first; largest
  kEnd,            // latest to go first; largest
  kBeginDuration,  // earliest first; longest
};
inline constexpr int kOrders = 8;

class Orders {
 public:
  /// LIFETIME: the timeline outlives it. THROWS: OutOfMemory.
  explicit Orders(const Timeline& timeline);
  /// A permutation of all items. THROWS: OutOfMemory.
  void sort(Order by, std::span<std::int32_t> order) const;

 private:
  const Timeline* timeline_;
  // For each item, how much lives in the most crowded section of its life.
  memory::Vector<std::int64_t> crowds_;
};

}  // namespace neap::planner
