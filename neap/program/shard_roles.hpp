// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How each call of a step takes part where its batch is cut into shards
// (cut_into_shards()): it runs once for each shard, on the rows of that shard,
// or once, when all that it reads is there.
//
// Nothing is assumed of the step. Rows begin at the arguments, and an op's rule
// (graph::RowRule) says where they go; a call without a rule, and one that sees
// rows in a way that no rule allows, runs once, on all rows. So a step's result
// is the same whatever is cut, but for the order of sums.
#pragma once

#include <span>

#include "neap/graph/rows.hpp"
#include "neap/program/program.hpp"
#include "neap/program/rows.hpp"

namespace neap::compiler {

/// How the terms of a sum over rows are joined.
enum class Join : std::uint8_t {
  kTree,   // each shard's from zero, by one binary tree
  kChain,  // each goes on where the one before ended, to the bits of the whole
};

/// How a value is held while the shards run.
enum class Held : std::uint8_t {
  kWhole,   // made once
  kParts,   // each shard has its own, and it ends with the shard's calls
  kApart,   // the same, of a shape that the op's rule gives
  kFilled,  // one memory for all rows, which each shard fills a part of
  kSummed,  // each shard makes a term of it
};

struct ValueRole {
  Held held = Held::kWhole;
  ValueRows rows;           // in it, where they are known
  RowAxis axis;             // of kParts and kFilled, in the maker's output
  std::uint32_t maker = 0;  // the call, of what shards make
  Shape one;                // of kApart: its shape for one row
};

struct CallRole {
  bool is_each = false;   // once for each shard
  bool is_onto = false;   // it adds to input 0 (graph::RowUse::kOnto)
  bool is_adder = false;  // it adds to what its outputs are over
  /// Calls of a stage run before those of the next: first those that run once,
  /// then each shard's.
  std::uint32_t stage = 0;
  RowForm form{};
  std::uint32_t axes = 0;  // of Roles::axes: its inputs', then its outputs'
};

struct Roles {
  memory::Vector<CallRole> calls;
  memory::Vector<ValueRole> values;
  memory::Vector<int> axes;
  std::uint32_t stages = 0;
  std::uint32_t each = 0;      // calls for each shard
  std::uint32_t together = 0;  // ops that run once although rows reach them
  /// Sums go on in bf16, which takes rows in pairs: each part but the last has
  /// an even number of them.
  bool in_pairs = false;

  std::span<const int> axes_of(const CallRole& role, std::size_t count) const {
    return std::span(axes).subspan(role.axes, count);
  }
};

/// The op that adds to a sum what an op sums over rows: the sum goes on, to the
/// bits of one over all rows. nullptr: there is none.
const graph::Op* adding_op(const graph::Op* op);

/// The roles of a step whose arguments hold so many rows along their axis 0. In
/// a chain, sums that cannot go on run once. THROWS: OutOfMemory.
Roles roles_of(const Program& program, std::int64_t rows,
               Join join = Join::kTree);

}  // namespace neap::compiler
