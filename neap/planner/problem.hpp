// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A packing problem: buffers with lifetimes and sizes get offsets in one block
// of memory, so that no two that live at the same instant overlap and the block
// is as small as possible. Time and memory are plain integers here; nothing in
// this room (module) knows what a buffer is for.
//
//   offset ^        +-----+
//          |  +-----+  b  |        a: lower 0, upper 2
//          |  |  a  |     |        b: lower 2, upper 5 (half-open)
//          +--+-----+-----+--> time
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "neap/memory/containers.hpp"

namespace neap::planner {

inline constexpr std::int64_t kNoLimit =
    std::numeric_limits<std::int64_t>::max();

struct Buffer {
  std::int64_t lower = 0;      // first instant at which it lives
  std::int64_t upper = 0;      // first instant at which it lives no more
  std::int64_t size = 0;       // 0: takes no space
  std::int64_t alignment = 1;  // divides the buffer's offset
  std::int64_t fixed = -1;     // >= 0: its offset is given
  std::int32_t alias_of = -1;  // >= 0: lies inside that buffer, ...
  std::int64_t alias_at = 0;   // ... so many units from its begin
};

struct Problem {
  memory::Vector<Buffer> buffers;
  std::int64_t capacity = kNoLimit;  // plans that are higher do not count
};

/// THROWS: ValueError naming the buffer: an empty lifetime, a negative size, an
/// alignment below 1, a fixed offset that is not aligned or lies beyond the
/// capacity, an alias of an alias, of itself, of none, or that sticks out of
/// its buffer's size; sums beyond 64 bits.
NEAP_API void check(const Problem& problem);

/// A problem without aliases: each group became one buffer that lives while any
/// of it does. `owner[i]` is the position there of the buffer that buffer i
/// lies in.
struct Merged {
  Problem problem;
  memory::Vector<std::int32_t> owner;
};
/// THROWS: ValueError as check(); OutOfMemory.
NEAP_API Merged merge_aliases(const Problem& problem);

/// The answer of a solver.
struct Solution {
  /// An offset for each buffer; empty: none was found.
  memory::Vector<std::int64_t> offsets;
  std::int64_t height = 0;
  std::int64_t lower_bound = 0;  // height below which there is no plan
  bool is_proven = false;        // none lower exists, or none at all fits
  const char* method = "";       // name of the solver that found it
  std::int64_t work = 0;         // steps of search spent
  double seconds = 0.0;
};

struct SolveOptions {
  /// Steps of search at most. The same problem and work give the same plan on
  /// every machine, as long as `seconds` does not end the search.
  std::int64_t work = 2'000'000;
  double seconds = 0.0;  // > 0: ends the search, too
  /// Stop as soon as a height of at most this is found.
  std::int64_t good_enough = 0;
};

/// The best plan of all methods together: portfolio, local search, then the
/// exact solver. THROWS: ValueError as check(); OutOfMemory.
NEAP_API Solution solve(const Problem& problem,
                        const SolveOptions& options = {});

}  // namespace neap::planner
