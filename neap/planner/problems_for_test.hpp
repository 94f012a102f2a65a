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

/// Seven buffers of which never more than six pages of 64 live, and which no
/// plan puts into less than seven.
inline Problem seven_over_six() {
  Problem problem;
  problem.buffers = {{.lower = 0, .upper = 2, .size = 2 * 64},
                     {.lower = 0, .upper = 1, .size = 4 * 64},
                     {.lower = 1, .upper = 4, .size = 1 * 64},
                     {.lower = 1, .upper = 3, .size = 3 * 64},
                     {.lower = 2, .upper = 6, .size = 1 * 64},
                     {.lower = 3, .upper = 8, .size = 4 * 64},
                     {.lower = 6, .upper = 8, .size = 2 * 64}};
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

/// A training step that keeps `kept` percent of its activations. The others are
/// made again, from the last that is there, when backward wants them; half of
/// what is made on the way stays until its own turn. Sizes in three decades.
class RecomputedStep {
 public:
  RecomputedStep(std::uint32_t seed, int layers, int kept)
      : random_(seed), made_(static_cast<std::size_t>(layers), kNone) {
    for (int i = 0; i < layers; ++i) {
      // In this order, which the operands of one expression have not.
      const std::int64_t units = 1 + below(9);
      sizes_.push_back(units * (std::int64_t{1} << below(10)) * 64);
    }
    for (std::int64_t i = 0; i < layers; ++i) {
      make(i);
      if (i > 1 && below(100) >= kept) {
        drop(i - 1);
      }
    }
    for (std::int64_t i = layers - 1; i >= 0; --i) {
      want(i);
      add(now_, now_ + 2, i);              // the cotangent
      add(now_, now_ + 1, below(layers));  // scratch
      ++now_;
      drop(i);
    }
  }
  Problem take() { return std::move(problem_); }

 private:
  static constexpr std::int64_t kNone = -1;

  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n));
  }
  std::int64_t& made(std::int64_t i) {
    return made_[static_cast<std::size_t>(i)];
  }
  void add(std::int64_t lower, std::int64_t upper, std::int64_t layer) {
    problem_.buffers.push_back(
        {.lower = lower,
         .upper = upper,
         .size = sizes_[static_cast<std::size_t>(layer)]});
  }
  void make(std::int64_t i) { made(i) = now_++; }
  void drop(std::int64_t i) {
    add(made(i), now_, i);
    made(i) = kNone;
  }
  void want(std::int64_t wanted) {
    std::int64_t from = wanted;
    while (from > 0 && made(from) == kNone) {
      --from;
    }
    for (std::int64_t i = from + 1; i <= wanted; ++i) {
      make(i);
      if (i - 1 > from && below(2) == 0) {
        drop(i - 1);
      }
    }
  }

  std::mt19937 random_;
  memory::Vector<std::int64_t> made_;   // when; kNone: not there
  memory::Vector<std::int64_t> sizes_;  // of each layer's result
  std::int64_t now_ = 0;
  Problem problem_;
};

inline Problem recomputation_problem(std::uint32_t seed, int layers, int kept) {
  return RecomputedStep(seed, layers, kept).take();
}

}  // namespace neap::planner
