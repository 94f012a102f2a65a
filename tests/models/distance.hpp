// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How far numbers are from those that were recorded.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace neap::models {

/// The largest difference, relative to the largest of the wanted numbers.
/// REQUIRES: as many of both.
inline double distance(std::span<const double> found,
                       std::span<const double> wanted) {
  double largest = 0;
  double farthest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    largest = std::max(largest, std::abs(wanted[i]));
    farthest = std::max(farthest, std::abs(found[i] - wanted[i]));
  }
  return farthest / largest;
}

}  // namespace neap::models
