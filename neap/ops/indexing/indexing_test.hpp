// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Plain references of gather and scatter, for the tables of the ops that index.
#pragma once

#include "neap/testing/op_table.hpp"

namespace neap::testing {

/// Position, in an array of `shape`, of the element that index `i` (row-major,
/// of shape `at`) names: its own place, but for `to` along `axis`.
inline std::size_t indexed_place(const Shape& shape, const Shape& at,
                                 std::size_t i, int axis, double to) {
  auto rest = static_cast<std::int64_t>(i);
  Shape place = at;
  for (int a = at.rank() - 1; a >= 0; --a) {
    place[a] = rest % at[a];
    rest /= at[a];
  }
  place[axis] = static_cast<std::int64_t>(to);
  std::int64_t offset = 0;
  for (int a = 0; a < shape.rank(); ++a) {
    offset = offset * shape[a] + place[a];
  }
  return static_cast<std::size_t>(offset);
}

/// Inputs x, index.
inline Reference gathered(int axis) {
  return [axis](std::span<const HostArray> x) {
    std::vector<double> y;
    for (std::size_t i = 0; i < x[1].values.size(); ++i) {
      y.push_back(x[0].values[indexed_place(x[0].shape, x[1].shape, i, axis,
                                            x[1].values[i])]);
    }
    return y;
  };
}

/// Inputs x, index, src (of the index's shape); adds or replaces.
inline Reference scattered(int axis, bool adds) {
  return [axis, adds](std::span<const HostArray> x) {
    std::vector<double> y = x[0].values;
    for (std::size_t i = 0; i < x[1].values.size(); ++i) {
      double& to =
          y[indexed_place(x[0].shape, x[1].shape, i, axis, x[1].values[i])];
      to = (adds ? to : 0.0) + x[2].values[i];
    }
    return y;
  };
}

}  // namespace neap::testing
