// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Lifetimes: the buffers that a program's values lie in, and from which call to
// which each is needed. A buffer holds a value and all that take its memory
// over, one after the other. Memory outside (arguments, externals, blocks that
// outlast a run) has a buffer too, but no offset in the arena.
//
//   call          0   1   2   3
//   %2 = exp      |-------|           first 0, last 1
//   %3 over %2        (the same)      one buffer for both
//   scratch of 2          |-|         first 2, last 2
//   %5, a result              |---    lives to the end: last 4, the number of
//                                     calls
#pragma once

#include "neap/compile/debug.hpp"
#include "neap/planner/problem.hpp"
#include "neap/program/program.hpp"

namespace neap::compiler {

/// Position of a buffer in Lifetimes::buffers.
using BufferId = base::StrongId<struct BufferTag>;
inline constexpr BufferId kNoBuffer{~0U};

enum class Where : std::uint8_t {
  kArena,     // at an offset that the planner chose
  kArgument,  // in the memory of the argument `index`
  kExternal,  // in the storage of the external `index`
  kOwn,       // in the block `index` of its own, which outlasts the run
};

struct Buffer {
  Where where = Where::kArena;
  memory::SpaceId space = memory::kHost;
  std::uint32_t index = 0;
  Bytes size = 0;            // of the largest value in it
  std::uint32_t first = 0;   // call that begins it
  std::uint32_t last = 0;    // last call that needs it; #calls: after the run
  ValueId value = kNoValue;  // the first in it; kNoValue: scratch of `first`
  bool is_moved = false;     // to the spill file, or from it: in whole pages
};

struct Lifetimes {
  memory::Vector<Buffer> buffers;
  memory::Vector<BufferId> buffer_of;   // of each value
  memory::Vector<BufferId> scratch_of;  // of each call; kNoBuffer: none;
                                        // empty where none has any
  std::uint32_t calls = 0;
  std::uint32_t own_blocks = 0;

  const Buffer& at(BufferId id) const noexcept { return buffers[id.value]; }
  const Buffer& at(ValueId id) const noexcept {
    return at(buffer_of[id.value]);
  }
};

/// The lifetimes of a program's buffers, in O(calls + operands). REQUIRES:
/// calls are bound (Call::scratch).
/// THROWS: OutOfMemory; InternalError for a program that makes no sense.
NEAP_API Lifetimes lifetimes(const Program& program, const Debug& debug = {});

/// Sizes and offsets in a problem are counted in units of this many bytes.
inline constexpr Bytes kUnit = memory::kAlignment;

/// The bytes that the planner keeps for a buffer of the arena: its size with
/// the bands of a debug mode, in whole units or, where it is moved, in whole
/// pages.
NEAP_API Bytes planned_bytes(const Buffer& buffer, const Debug& debug) noexcept;

/// The packing problem of one memory space.
struct SpaceProblem {
  planner::Problem problem;
  memory::Vector<BufferId> buffers;  // [i]: whose the problem's buffer i is
};

/// THROWS: OutOfMemory.
NEAP_API SpaceProblem problem_of(const Lifetimes& lifetimes,
                                 memory::SpaceId space,
                                 const Debug& debug = {});

}  // namespace neap::compiler
