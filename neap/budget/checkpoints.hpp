// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The least number of runs that reverse a chain of equal stages: the state
// before some of them is kept (a checkpoint), and stages run again from there.
// Where one stage alone can be kept whole, this is Revolve (Griewank and
// Walther, "Algorithm 799", 2000), and the numbers are binomial; where there is
// memory for the residuals of several, the last of them are not run again, as
// in the optimum for chains of Beaumont et al. (2019).
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "neap/memory/containers.hpp"

namespace neap::budget {

/// A chain of equal stages, in units of memory.
struct EqualStages {
  std::int32_t count = 0;
  std::int32_t residual = 1;  // what a stage keeps for its reversal
  std::int32_t state = 1;     // what it hands to the next one
};

/// A step of the reversal of a chain.
struct ChainStep {
  enum class Kind : std::uint8_t { kRun, kReverse };
  std::int32_t stage = 0;
  Kind kind = Kind::kRun;
};

class Checkpoints {
 public:
  static constexpr std::int32_t kImpossible =
      std::numeric_limits<std::int32_t>::max() / 4;

  /// For memories of up to `most` units. THROWS: OutOfMemory.
  Checkpoints(const EqualStages& stages, std::int32_t most);

  /// The runs of stages, with the first of each, that reverse all of them
  /// within a memory; kImpossible where none do. The state before the first
  /// stage is beside that memory, as is the one that the next stage to run
  /// reads. REQUIRES: 0 <= memory <= most.
  std::int32_t runs(std::int32_t memory) const noexcept {
    return least(from_kept_, stages_.count, memory);
  }
  /// The steps of that reversal, in order. REQUIRES: it is possible. THROWS:
  /// OutOfMemory.
  memory::Vector<ChainStep> steps(std::int32_t memory) const;

 private:
  using Table = memory::Vector<std::int32_t>;  // by count, then memory

  std::size_t at(std::int32_t count, std::int32_t memory) const noexcept {
    return static_cast<std::size_t>(count) *
               static_cast<std::size_t>(most_ + 1) +
           static_cast<std::size_t>(memory);
  }
  std::int32_t least(const Table& table, std::int32_t count,
                     std::int32_t memory) const noexcept {
    return memory < 0 ? kImpossible : table[at(count, memory)];
  }
  std::int32_t whole(std::int32_t count, std::int32_t memory) const noexcept;
  std::int32_t advance(std::int32_t count, std::int32_t memory,
                       std::int32_t& runs) const noexcept;

  EqualStages stages_;
  std::int32_t most_;
  // The runs that reverse some stages: where the state before them is kept, and
  // where it is there for the next run alone.
  Table from_kept_;
  Table from_passing_;
};

}  // namespace neap::budget
