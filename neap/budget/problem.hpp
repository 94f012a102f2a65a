// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A scheduling problem: calls in an order read values that earlier calls made.
// A schedule drops values to stay within a target of memory; to have them back,
// it runs calls again (rematerialisation), or it writes values to a file and
// fetches them. Sizes are whole units and prices whole nanoseconds: no floating
// point decides, so that a problem has one schedule on every machine. Nothing
// in this room knows what a call computes, or what the file is.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
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
  /// The position of a call until which it may run again (something that it
  /// reads is written there); kNever, or kAlways.
  std::int32_t again_until = kNever;
};

struct Value {
  std::int64_t size = 0;
  bool outlives = false;  // is there after the last call
  /// Whether it may be written to the file once it is made: no call overwrites
  /// it.
  bool may_spill = false;
  /// A hint: until this position it helps to bring larger values back; walks
  /// that keep it for that are tried, too. kNever: it helps none.
  std::int32_t helps_until = kNever;
};

/// The way to the file and back. It moves one value at a time, in the order of
/// the schedule, while calls run.
struct Channel {
  std::int64_t write_rate = 1;  // bytes a second, 1 to kMostRate
  std::int64_t read_rate = 1;   // bytes a second, 1 to kMostRate
  /// Nanoseconds that computing takes longer for each MiB moved.
  std::int64_t bus_price = 0;
  /// Bytes that a schedule may write in all.
  std::int64_t most_written = std::numeric_limits<std::int64_t>::max();

  static constexpr std::int64_t kMostRate = std::int64_t{1} << 50U;
  friend bool operator==(const Channel&, const Channel&) = default;
};

struct Problem {
  memory::Vector<Call> calls;  // in the order of their first runs
  memory::Vector<Value> values;
  std::optional<Channel> channel{};  // without one, sizes need not be bytes
};

/// THROWS: ValueError naming the call or the value: a value that does not
/// exist, that no call or several make, that is read before it is made or twice
/// by one call; negative sizes and prices; a take-over of what the call does
/// not make or read; a channel's rate or price out of range; sums beyond 2^62,
/// of sizes, and of prices and the times of moving each value once.
NEAP_API void check(const Problem& problem);

/// Whether there are values that help (Value::helps_until).
bool has_helpers(const Problem& problem) noexcept;

enum class Action : std::uint8_t {
  kRun,    // a call runs
  kWrite,  // the writing of a value that is there begins
  /// The fetching of a value that is not there and was written before begins;
  /// it takes its memory from here on.
  kFetch,
  kAwait,  // waits for the end of what was begun with a value that is there
};

/// One run of a call, or one step of a value on its way to the file and back,
/// and what is dropped when it has ended. Moves take no time of their own; what
/// waits for one is a run or a kAwait:
///
///  - a run that reads a value waits until it is fetched;
///  - whatever drops a value, or makes it again, waits before it begins until
///    the value is written, or fetched: its memory may be taken over;
///  - at the end of a schedule, what outlives the calls has been fetched.
///
/// What was written stays on the file: it may be fetched any number of times.
struct Run {
  std::int32_t index = 0;  // of the call; of the value unless it is a kRun
  std::uint32_t drops_end =
      0;  // in Schedule::drops; begins where the last ends
  Action action = Action::kRun;
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
