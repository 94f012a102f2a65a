// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Decides whether a plan of at most a target height exists, by branch and bound
// over skylines (exact_skyline.hpp, exact_valley.hpp). Each level of the search
// decides what comes lowest in one section of a valley: every plan whose pieces
// all lie on something follows exactly one path. What prunes:
//
//   - a section whose floor and remaining sizes exceed the target; also when
//     the pieces that fit into a valley cannot fill it up to its walls,
//   - a piece that would lie on nothing, and one whose equal is not placed yet,
//   - backjumping: a failure comes with a range of sections that alone shows
//     it, and a decision that does not touch the range is not tried otherwise
//     (which decomposes a problem by time wherever it falls apart),
//   - states that are known to have failed (exact_failures.hpp).
//
// Choices of pieces come before the choice to give up room: with it the table
// of failures, whose prints do not tell room that was given up from room that
// was taken, loses no plan. docs/adr/2026-11-21-exact-packing.md says why.
#pragma once

#include "neap/planner/effort.hpp"
#include "neap/planner/exact_failures.hpp"
#include "neap/planner/exact_valley.hpp"

namespace neap::planner {

class ExactSearch {
 public:
  enum class Answer : std::uint8_t {
    kFound,
    kNone,    // no plan is so low
    kUnsure,  // the steps or the effort ended before the search
  };

  /// LIFETIME: the sections outlive it. THROWS: OutOfMemory.
  explicit ExactSearch(const Sections& sections);
  ExactSearch(const ExactSearch&) = delete;  // parts point to each other
  ExactSearch& operator=(const ExactSearch&) = delete;

  /// Searches from the beginning, `steps` at most.
  Answer run(std::int64_t target, const Style& style, std::uint64_t seed,
             std::int64_t steps, Effort& effort);

  /// After kFound: where a piece lies.
  std::int64_t offset(std::int32_t piece) const noexcept {
    return skyline_.offset(piece);
  }

 private:
  static constexpr std::int32_t kLift = -1;
  struct Level {
    Valley valley;
    std::size_t first = 0;  // of the choices, in choices_
    std::size_t next = 0;   // the one to try next
    std::size_t last = 0;
    std::int64_t lift = kNoLimit;   // the floor if room is given up; kNoLimit:
                                    // it must not be, or was tried
    std::int32_t decision = kLift;  // a piece, or room was given up
    Range failure;                  // of what was tried, together
    Skyline::Mark mark = 0;
    Skyline::Print print;
  };

  enum class Entered : std::uint8_t { kLevel, kDone, kFailed };
  Entered enter(const Style& style);
  void list_choices(Level& level);
  bool decide_next();
  bool decide(Level& level);
  void leave(Level& level) noexcept;
  Range decided(const Level& level) const noexcept;

  const Sections* sections_;
  Skyline skyline_;
  ValleyFinder finder_;
  FailureTable failures_;
  Range failure_;  // of the latest
  memory::Vector<double> keys_;
  memory::Vector<Level> levels_;
  memory::Vector<std::int32_t> choices_;
};

}  // namespace neap::planner
