// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The state of the exact search: pieces are placed from the bottom up, and
// every section has a floor below which nothing more comes. A floor is the top
// of what was placed there last, or higher where room was given up.
//
//   offset ^  floor: 3 3 1 1 4         pieces yet to come start at the
//          |              +-+          highest floor of their sections
//          |  +---+       | |
//          |  | a |  gap  |c|
//          |  |   +---+   | |
//          +--+---+-b-+---+-+--> sections
#pragma once

#include <bit>

#include "neap/planner/exact_sections.hpp"

namespace neap::planner {

class Skyline {
 public:
  /// The state that the rest of a search hangs on: what is placed, the floors.
  struct Print {
    std::uint64_t low = 1;
    std::uint64_t high = 1;
    friend bool operator==(const Print&, const Print&) = default;
  };
  using Mark = std::size_t;

  /// LIFETIME: the sections outlive it. THROWS: OutOfMemory.
  explicit Skyline(const Sections& sections);

  /// Nothing is placed; tops above `target` are failures from now on.
  void reset(std::int64_t target) noexcept;

  /// Places a piece at its lowest offset. RETURNS: false where the target can
  /// not be met any more; `failure` is then a range that alone shows it.
  /// Either way the caller goes back to a mark to take it away.
  bool place(std::int32_t piece, Range& failure);
  /// Gives up the room below `floor` in a section.
  bool lift(std::int32_t section, std::int64_t floor, Range& failure);
  Mark mark() const noexcept { return trail_.size(); }
  void go_back(Mark mark) noexcept;

  const Sections& sections() const noexcept { return *sections_; }
  std::int64_t target() const noexcept { return target_; }
  const Print& print() const noexcept { return print_; }
  bool is_placed(std::int32_t piece) const noexcept {
    return is_placed_[static_cast<std::size_t>(piece)] != 0;
  }
  /// The offset of a placed piece, or the lowest that is left to another.
  std::int64_t offset(std::int32_t piece) const noexcept {
    return offset_[static_cast<std::size_t>(piece)];
  }
  std::int64_t floor(std::int32_t section) const noexcept {
    return floor_[static_cast<std::size_t>(section)];
  }
  /// How many pieces of a section are yet to come.
  std::int32_t to_come(std::int32_t section) const noexcept {
    return to_come_[static_cast<std::size_t>(section)];
  }
  /// Calls visit(piece) for each of them, ascending.
  template <class Visit>
  void for_each_to_come(std::int32_t section, Visit visit) const {
    const auto live = sections_->live(section);
    const std::size_t begin = waiting_begin_[static_cast<std::size_t>(section)];
    for (std::size_t word = 0; word * 64 < live.size(); ++word) {
      for (std::uint64_t bits = waiting_[begin + word]; bits != 0;
           bits &= bits - 1) {
        visit(
            live[word * 64 + static_cast<std::size_t>(std::countr_zero(bits))]);
      }
    }
  }
  /// How much room may yet be given up in a section.
  std::int64_t slack(std::int32_t section) const noexcept {
    const auto s = static_cast<std::size_t>(section);
    return target_ + sections_->padding(section) - floor_[s] - rest_[s];
  }
  /// Whether at its lowest offset a piece lies on another one, or on the
  /// ground. One that does not could come down, so that others will do.
  bool is_supported(std::int32_t piece) const noexcept;
  /// The section that keeps a piece from lying lower.
  std::int32_t witness(std::int32_t piece) const noexcept;

 private:
  enum class Kind : std::int32_t { kFloor, kTop, kOffset, kPlaced };
  struct Step {
    Kind kind;
    std::int32_t index;
    std::int64_t old;
  };
  void set_floor(std::int32_t section, std::int64_t floor);
  bool raise(std::int32_t piece, std::int64_t floor);
  bool raise_others(const Sections::Piece& piece, std::int64_t top,
                    Range& failure);
  void toggle(std::int32_t piece) noexcept;
  void stamp(std::int32_t section) noexcept;

  const Sections* sections_;
  std::int64_t target_ = 0;
  Print print_;
  memory::Vector<std::int64_t> floor_;  // one a section, as the next three
  memory::Vector<std::int64_t> top_;    // of what was placed last
  memory::Vector<std::int64_t> rest_;   // sizes yet to come
  memory::Vector<std::int32_t> to_come_;
  memory::Vector<std::int64_t> offset_;  // one a piece
  memory::Vector<std::uint8_t> is_placed_;
  // For each section as many bits as pieces live there, set for those yet to
  // come; each begins with a word of its own.
  memory::Vector<std::size_t> waiting_begin_;
  memory::Vector<std::uint64_t> waiting_;
  memory::Vector<Step> trail_;
};

}  // namespace neap::planner
