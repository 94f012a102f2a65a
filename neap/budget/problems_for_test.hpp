// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Problems in the form of a training step.
#pragma once

#include <random>
#include <utility>

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

/// A recurrent network of so many cells, each one call, which hands on two
/// values and keeps two more for backward, where it is another call, and one
/// for its weights' gradient, which adds to the one before it. As LSTM cells
/// are: a cell takes 50 nanoseconds and 7 units, 2 of which are handed on.
inline Problem cells(std::int32_t count) {
  Problem problem;
  const auto make = [&](std::int64_t size) {
    problem.values.push_back({.size = size});
    return static_cast<std::int32_t>(problem.values.size()) - 1;
  };
  const auto call = [&](memory::Vector<std::int32_t> reads,
                        memory::Vector<std::int32_t> makes,
                        std::int64_t price) {
    problem.calls.push_back({.reads = std::move(reads),
                             .makes = std::move(makes),
                             .take_overs = {},
                             .price = price,
                             .scratch = 0,
                             .again_until = kAlways});
  };
  struct Cell {
    std::int32_t h, c, gates, bent;
  };
  memory::Vector<Cell> all;
  const std::int32_t none = make(1);
  call({}, {none}, 1);
  all.push_back({none, none, none, none});
  for (std::int32_t i = 0; i < count; ++i) {
    const Cell last = all.back();
    all.push_back({make(1), make(1), make(4), make(1)});
    const Cell& cell = all.back();
    auto reads = i == 0 ? memory::Vector<std::int32_t>{none}
                        : memory::Vector<std::int32_t>{last.h, last.c};
    call(std::move(reads), {cell.h, cell.c, cell.gates, cell.bent}, 50);
  }
  std::int32_t slope = make(1);
  call({all.back().h}, {slope}, 1);
  std::int32_t gradient = make(4);
  call({}, {gradient}, 1);
  for (std::int32_t i = count; i > 0; --i) {
    const Cell& cell = all[static_cast<std::size_t>(i)];
    const Cell& before = all[static_cast<std::size_t>(i) - 1];
    const std::int32_t gates = make(4);
    const std::int32_t next = make(1);
    call({slope, cell.gates, cell.bent, before.c}, {gates, next}, 25);
    slope = next;
    const std::int32_t sum = make(4);
    call({gradient, gates, before.h}, {sum}, 30);
    problem.calls.back().take_overs = {{.made = sum, .read = gradient}};
    gradient = sum;
  }
  problem.values[static_cast<std::size_t>(gradient)].outlives = true;
  return problem;
}

/// Layers of random widths and prices, some of which read an earlier one, too,
/// forward and backward.
inline Problem random_layers(std::uint32_t seed, std::int32_t layers) {
  std::mt19937 random(seed);
  Problem problem;
  const auto call = [&](memory::Vector<std::int32_t> reads, std::int64_t size,
                        std::int64_t price) {
    problem.values.push_back({.size = size});
    const auto made = static_cast<std::int32_t>(problem.values.size()) - 1;
    problem.calls.push_back({.reads = std::move(reads),
                             .makes = {made},
                             .take_overs = {},
                             .price = price,
                             .again_until = kAlways});
    return made;
  };
  memory::Vector<std::int32_t> made{call({}, 1, 1)};
  for (std::int32_t k = 0; k < layers; ++k) {
    memory::Vector<std::int32_t> reads{made.back()};
    const std::int32_t skipped = made[random() % made.size()];
    if (random() % 3 == 0 && skipped != reads[0]) {
      reads.push_back(skipped);
    }
    const std::int64_t size = 1 + random() % 40;
    made.push_back(call(std::move(reads), size, 1 + random() % 100));
  }
  std::int32_t gradient = call({made.back()}, 1, 1);
  for (auto k = static_cast<std::size_t>(layers); k > 0; --k) {
    const std::int64_t size = 1 + random() % 8;
    gradient = call({gradient, made[k], made[k - 1]}, size, 1 + random() % 50);
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
