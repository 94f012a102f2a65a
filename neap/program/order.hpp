// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Orders of a program's calls, and what each needs at its peak. An order is a
// list of positions in Program::calls, each once, that keeps all dependences.
#pragma once

#include <span>

#include "neap/base/function_ref.hpp"
#include "neap/program/dataflow.hpp"

namespace neap::compiler {

using Order = memory::Vector<std::uint32_t>;
using Chosen = base::FunctionRef<bool(std::uint32_t)>;

/// Each chosen call comes right after the last that it depends on; the rest
/// stays. Those that come to the same place keep their order.
/// THROWS: OutOfMemory.
Order hoisted(const Order& order, const Lists& before, Chosen is_chosen);

/// Each chosen call comes right before the first that depends on it, in the
/// same way; a call that none depends on stays. THROWS: OutOfMemory.
Order sunk(const Order& order, const Lists& after, Chosen is_chosen);

/// The memory that an order needs, of that which lives within a run.
struct Peak {
  Bytes bytes = 0;
  std::uint32_t place = 0;  // the first in the order at which it is needed
};

/// Measures orders of one program.
class Meter {
 public:
  /// THROWS: OutOfMemory. LIFETIME: of all three beyond the meter's.
  Meter(const Program& program, const Dataflow& flow, const Memories& memories);

  /// `growth`, unless empty: for each call in the program, by how much it
  /// changes what is live; `needed`: what is needed while it runs.
  Peak measure(std::span<const std::uint32_t> order,
               std::span<Bytes> growth = {}, std::span<Bytes> needed = {});

 private:
  Bytes step(std::uint32_t call, Bytes live, Bytes& needed);

  const Program& program_;
  const Dataflow& flow_;
  const Memories& memories_;
  memory::Vector<std::uint32_t> left_;       // touches to come, by memory
  memory::Vector<std::uint32_t> takeovers_;  // masks, by call
};

/// An order made call by call: of those that may run next the one that adds
/// least to what is live, or frees most; `backwards`: from the last to the
/// first. O(n log n). THROWS: OutOfMemory.
Order greedy_order(const Memories& memories, const Lists& before,
                   const Lists& after, bool backwards);

}  // namespace neap::compiler
