// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The times of a schedule that grows, and the moves of values to the file and
// back that are hidden behind its runs. The walk finds out late that it would
// rather have written or fetched a value: a move is therefore booked on the
// time that the channel had free, as if it had begun then.
//
//   calls     | run 0 | run 1 |   run 2   |wait| run 3 |
//   channel        [ write a ][ write b ]     [fetch a]
//   gap       0       1       2                3
//
// Gap g lies before run g. Moves become items of the gap in which they begin,
// or of the one before the run in which they begin, and keep their order: each
// then begins when it was booked, or earlier.
#pragma once

#include "neap/budget/bookings.hpp"
#include "neap/budget/channel.hpp"

namespace neap::budget {

class Timeline {
 public:
  /// LIFETIME: problem outlives it. THROWS: OutOfMemory.
  explicit Timeline(const Problem& problem);

  bool has_channel() const noexcept { return problem_->channel.has_value(); }
  /// Forgets all runs and moves.
  void begin(std::int64_t target) noexcept;

  // The members below need a channel.

  /// Whether a value is on the file, or may be written.
  bool may_spill(std::int32_t v) const noexcept;
  bool is_on_file(std::int32_t v) const noexcept {
    return is_on_file_[at(v)] != 0;
  }
  std::int64_t write_time(std::int32_t v) const noexcept {
    return costs_[at(v)].write_time;
  }
  std::int64_t read_time(std::int32_t v) const noexcept {
    return costs_[at(v)].read_time;
  }
  std::int64_t bus_price(std::int32_t v) const noexcept {
    return costs_[at(v)].bus_price;
  }
  /// The time that would still be waited if the value were written, or fetched,
  /// now.
  std::int64_t write_stall(std::int32_t v) const noexcept;
  std::int64_t fetch_stall(std::int32_t v) const noexcept;

  /// Books a move. THROWS: OutOfMemory.
  void write(std::int32_t v);
  /// `live`: memory of what is there now, the value with it.
  void fetch(std::int32_t v, std::int64_t live);

  /// Drops a value. Where it is moved while the latest run is under way, or
  /// later, the drop is an item of its own, which waits for the move.
  /// RETURNS: whether it is. THROWS: OutOfMemory.
  bool drop(std::int32_t v);
  /// Waits until a value's move is done.
  void wait_for(std::int32_t v) noexcept;
  /// Notes that a call has run, with so much memory. THROWS: OutOfMemory.
  void run(const Call& call, std::int64_t usage);
  /// The sum of all waits.
  std::int64_t stalls() const noexcept { return stalls_; }

  /// Puts the items among the runs. RETURNS: the stalls that are left, at most
  /// stalls(). THROWS: OutOfMemory.
  std::int64_t finish(Schedule& schedule);

 private:
  struct Cost {
    std::int64_t write_time = 0;
    std::int64_t read_time = 0;
    std::int64_t bus_price = 0;  // of one move
  };
  struct Item {
    std::size_t gap = 0;
    std::int64_t time = 0;
    std::uint32_t number = 0;        // those of one time keep their order
    Action action = Action::kAwait;  // which drops its value
    std::int32_t value = 0;
  };
  struct Slot {
    std::size_t gap = 0;
    std::int64_t start = 0;
  };

  static std::size_t at(std::int32_t i) noexcept {
    return static_cast<std::size_t>(i);
  }
  std::int64_t size(std::int32_t v) const noexcept {
    return problem_->values[at(v)].size;
  }
  // The time from which on a gap's memory is that of its run.
  std::int64_t ready(std::size_t gap) const noexcept {
    return gap < ready_.size() ? ready_[gap] : now_;
  }
  void add(const Item& item);
  Slot slot_of_fetch(std::int32_t v) const noexcept;
  std::int64_t replay(const Schedule& schedule);

  const Problem* problem_;
  std::int64_t target_ = 0;
  std::int64_t now_ = 0;
  std::int64_t stalls_ = 0;
  std::int64_t written_ = 0;
  std::int64_t gap_peak_ = 0;  // memory at the fetches since the latest run
  Bookings channel_;
  // By run:
  memory::Vector<std::int64_t> ready_;
  memory::Vector<std::int64_t> begins_;
  memory::Vector<std::int64_t> ends_;
  memory::Vector<std::int64_t> usage_;  // or of the gap before it
  // By value; empty without a channel:
  memory::Vector<Cost> costs_;  // zeros where it may not be spilled
  memory::Vector<std::uint8_t> is_on_file_;
  memory::Vector<std::int64_t> made_at_;
  memory::Vector<std::int64_t> moved_until_;
  memory::Vector<std::size_t> dropped_in_;  // gap
  memory::Vector<Item> items_;
  Schedule merged_;
};

}  // namespace neap::budget
