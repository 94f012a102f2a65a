// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Problems in the form of a training step.
#pragma once

#include "neap/budget/problem.hpp"

namespace neap::budget {

/// A chain of `layers` forward calls, each of which reads what the one before
/// it made, and of as many backward calls, each of which reads the gradient so
/// far and its layer's input. Every value takes one unit, every call one
/// nanosecond; all may run again.
inline Problem chain(std::int32_t layers) {
  Problem problem;
  const auto add = [&](memory::Vector<std::int32_t> reads) {
    const auto made = static_cast<std::int32_t>(problem.values.size());
    problem.values.push_back({.size = 1});
    problem.calls.push_back({.reads = std::move(reads),
                             .makes = {made},
                             .take_overs = {},
                             .price = 1,
                             .scratch = 0,
                             .again_until = kAlways});
    return made;
  };
  std::int32_t last = add({});
  for (std::int32_t i = 0; i < layers; ++i) {
    last = add({last});
  }
  std::int32_t gradient = add({last});
  for (std::int32_t i = layers; i-- > 0;) {
    gradient = add({gradient, i});
  }
  problem.values.back().outlives = true;
  return problem;
}

}  // namespace neap::budget
