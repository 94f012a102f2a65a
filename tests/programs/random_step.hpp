// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Random training steps: a number stands for a step of some dozens of actions
// (ops of all kinds, views, writes, draws, rematerialised segments, derivatives
// in both modes, updates) on a small world of parameters, a buffer, an
// optimizer and a generator. The actions follow from the number and from shapes
// alone, so that the step does the same whenever it is called or traced.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "neap/optim/optimizer.hpp"
#include "neap/tensor/generator.hpp"

namespace neap::programs {

using Tensors = memory::Vector<Tensor>;

/// Numbers of a program, the same on every machine.
class Choices {
 public:
  explicit Choices(std::uint64_t seed) noexcept : state_(seed) {}
  std::uint64_t next() noexcept;  // splitmix64 (Steele, Lea and Flood, 2014)
  int below(int n) noexcept {
    return static_cast<int>(next() % static_cast<std::uint64_t>(n));
  }
  bool one_in(int n) noexcept { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

/// Tensors and state that a step reads and changes.
struct World {
  explicit World(std::uint64_t seed);

  static constexpr std::int64_t kWidth = 6;
  std::vector<Tensor> weights;  // (6, 6), leaves
  Tensor bias;                  // (6), a leaf
  Tensor buffer;                // (6), written by steps
  Generator generator;
  std::unique_ptr<optim::Optimizer> optimizer;

  /// Hash of everything above, elements and state, and of gradients.
  std::uint64_t hash() const;
};

/// A batch for a call: (batch, 6), the same for the same `seed`.
Tensor made_up(std::uint64_t seed, std::int64_t batch);

/// Hash of elements, dtypes and shapes. THROWS: as to_vector.
std::uint64_t hash_of(const Tensor& tensor, std::uint64_t before = 0);

class RandomStep {
 public:
  /// `actions`: how many; fewer is the same step, cut short.
  RandomStep(std::uint64_t seed, World& world, int actions) noexcept
      : seed_(seed), world_(world), actions_(actions) {}

  /// (batch, 6) twice -> the loss, then a few other results.
  Tensors operator()(const Tensor& x, const Tensor& y) const;

 private:
  std::uint64_t seed_;
  World& world_;
  int actions_;
};

}  // namespace neap::programs
