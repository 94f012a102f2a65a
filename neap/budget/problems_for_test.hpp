// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Problems in the form of a training step.
#pragma once

#include <random>

#include "neap/budget/channel.hpp"

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

/// Gives a problem a channel, and lets some of its values be spilled. A byte
/// takes a few nanoseconds, as the random calls do.
inline void add_random_channel(Problem& problem, std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t n) {
    return static_cast<std::int64_t>(random() % n);
  };
  problem.channel = {.write_rate = kSecond / (1 + below(4)),
                     .read_rate = kSecond * (1 + below(3)) / (1 + below(3)),
                     .bus_price = (below(3) << 20U) / 2};
  if (below(4) == 0) {
    problem.channel->most_written = below(30);
  }
  for (Value& value : problem.values) {
    value.may_spill = below(4) > 0;
  }
}

}  // namespace neap::budget
