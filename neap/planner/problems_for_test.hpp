// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Problems for this room's tests and benchmarks; the same seed, the same one.
#pragma once

#include <random>

#include "neap/planner/problem.hpp"

namespace neap::planner {

struct RandomShape {
  int buffers = 10;
  std::int64_t instants = 10;
  std::int64_t longest = 5;
  std::int64_t largest = 10;
  std::int64_t unit = 1;  // sizes are multiples, alignments are it
};

inline Problem random_problem(std::uint32_t seed, const RandomShape& shape) {
  std::mt19937 random(seed);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  Problem problem;
  for (int i = 0; i < shape.buffers; ++i) {
    const std::int64_t lower = below(shape.instants);
    problem.buffers.push_back({.lower = lower,
                               .upper = lower + 1 + below(shape.longest),
                               .size = below(shape.largest + 1) * shape.unit,
                               .alignment = shape.unit});
  }
  return problem;
}

/// The lifetimes of a training step of `layers` layers: what forward keeps goes
/// in the reverse order in backward, beside short-lived temporaries and
/// gradients that live to the end when `keeps_gradients`.
inline Problem training_problem(std::uint32_t seed, int layers,
                                bool keeps_gradients = false) {
  std::mt19937 random(seed);
  const auto size = [&] {
    return static_cast<std::int64_t>(1 + random() % 64) * 64;
  };
  Problem problem;
  const std::int64_t last = 2 * std::int64_t{layers};
  const auto add = [&](std::int64_t lower, std::int64_t upper) {
    problem.buffers.push_back(
        {.lower = lower, .upper = upper, .size = size(), .alignment = 64});
  };
  for (std::int64_t i = 0; i < layers; ++i) {
    add(i, random() % 4 == 0 ? i + 2 : last - i);  // activation or temporary
    add(i, i + 1);                                 // scratch
    add(last - i - 1, last - i + 1);               // cotangent
    if (random() % 2 == 0) {
      add(last - i - 1, keeps_gradients ? last + 1 : last - i);
    }
  }
  return problem;
}

/// A training step whose activations are kept for a while only and made again,
/// segment by segment, shortly before backward wants them; segments differ in
/// length, and sizes in three decades.
inline Problem recomputation_problem(std::uint32_t seed, int layers,
                                     int segment) {
  std::mt19937 random(seed);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  memory::Vector<std::int64_t> sizes;  // of each layer's result
  for (int i = 0; i < layers; ++i) {
    sizes.push_back((1 + below(9)) * (std::int64_t{1} << below(10)) * 64);
  }
  Problem problem;
  const auto add = [&](std::int64_t lower, std::int64_t upper,
                       std::int64_t size) {
    problem.buffers.push_back({.lower = lower, .upper = upper, .size = size});
  };
  std::int64_t now = layers;
  std::int64_t end = layers;
  while (end > 0) {
    const std::int64_t begin =
        std::max<std::int64_t>(0, end - 1 - below(2 * segment));
    const std::int64_t length = end - begin;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t size = sizes[static_cast<std::size_t>(i)];
      const std::int64_t again = now + (i - begin);
      const std::int64_t used = now + length + (end - 1 - i);
      if (i == begin) {  // the checkpoint
        add(i, used + 1, size);
      } else {
        add(i, i + 1 + below(4), size);
        add(again, used + 1 + below(3), size);
      }
      add(used, used + 2 + below(3), size);  // the cotangent
      add(used, used + 1, sizes[static_cast<std::size_t>(below(layers))]);
    }
    now += 2 * length;
    end = begin;
  }
  return problem;
}

}  // namespace neap::planner
