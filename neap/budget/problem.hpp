// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A scheduling problem: calls in an order read values that earlier calls made.
// A schedule drops values to stay within a target of memory and runs calls
// again to have them back (rematerialisation). Sizes are whole units and prices
// whole nanoseconds: no floating point decides, so that a problem has one
// schedule on every machine. Nothing in this room knows what a call computes.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "neap/memory/containers.hpp"

namespace neap::budget {

inline constexpr std::int32_t kNever = -1;
inline constexpr std::int32_t kAlways =
    std::numeric_limits<std::int32_t>::max();

/// An output that may take the memory of an input that nobody needs afterwards.
struct TakeOver {
  std::int32_t made = 0;
  std::int32_t read = 0;
};

struct Call {
  memory::Vector<std::int32_t> reads;  // values, each once
  memory::Vector<std::int32_t> makes;  // values, each of one call alone
  memory::Vector<TakeOver> take_overs;
  std::int64_t price = 0;    // of another run, in nanoseconds
  std::int64_t scratch = 0;  // while it runs
  /// It may run again until the call at this position runs (something that it
  /// reads is written there); kNever, or kAlways.
  std::int32_t again_until = kNever;
};

struct Value {
  std::int64_t size = 0;
  bool outlives = false;  // is there after the last call
};

struct Problem {
  memory::Vector<Call> calls;  // in the order of their first runs
  memory::Vector<Value> values;
};

/// THROWS: ValueError naming the call or the value: a value that does not
/// exist, that no call or several make, that is read before it is made or twice
/// by one call; negative sizes and prices; a take-over of what the call does
/// not make or read; sums beyond 2^62.
NEAP_API void check(const Problem& problem);

/// One run of a call, and what is dropped when it has ended.
struct Run {
  std::int32_t call = 0;
  std::uint32_t drops_end =
      0;  // in Schedule::drops; begins where the last ends
};

struct Schedule {
  memory::Vector<Run> runs;
  memory::Vector<std::int32_t> drops;  // values

  std::span<const std::int32_t> drops_of(std::size_t run) const noexcept {
    const std::size_t begin = run == 0 ? 0 : runs[run - 1].drops_end;
    return std::span(drops).subspan(begin, runs[run].drops_end - begin);
  }
};

}  // namespace neap::budget
