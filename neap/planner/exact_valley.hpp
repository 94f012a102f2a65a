// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The valley in which the exact search goes on. A valley is a run of sections
// of one floor between higher ones (or ends, or sections in which all is
// placed). In a section of a valley something is the lowest of what is yet to
// come there: either a piece that fits into the valley and starts at its floor,
// or room at the floor is given up. That makes the choices.
#pragma once

#include "neap/planner/exact_skyline.hpp"
#include "neap/planner/exact_style.hpp"

namespace neap::planner {

struct Valley {
  std::int32_t section = -1;  // the one to decide
  Range range;                // all of the valley
};

class ValleyFinder {
 public:
  enum class Answer : std::uint8_t { kFound, kDone, kHopeless };

  /// LIFETIME: the skyline outlives it. THROWS: OutOfMemory.
  explicit ValleyFinder(const Skyline& skyline);

  /// kDone: all is placed. kHopeless: `failure` is a range that shows it.
  Answer find(const Style& style, Valley& valley, Range& failure) noexcept;

  /// A section was why something failed; those that were so often come first
  /// where the style heeds that.
  void blame(std::int32_t section) noexcept {
    blame_[static_cast<std::size_t>(section)] += 1;
  }
  /// Makes what was long ago count less.
  void fade() noexcept;

 private:
  struct Choices {
    std::int32_t count = 0;           // pieces that may come next
    std::int64_t inside = 0;          // the sum of their sizes
    std::int64_t outside = kNoLimit;  // the lowest offset of all others
  };
  Choices choices(std::int32_t section, Range valley) const noexcept;
  double score(const Style& style, std::int32_t section,
               const Choices& choices) const noexcept;
  bool is_valley(Range range) const noexcept;
  std::int32_t end_of_run(std::int32_t section) const noexcept;

  const Skyline* skyline_;
  memory::Vector<double> blame_;  // one a section
};

/// The range that shows which choices there are: the valley, what is next to
/// it, and what keeps the other pieces of its section out.
Range walls(const Skyline& skyline, const Valley& valley) noexcept;

/// The floor that the section of a valley gets when no piece starts at it;
/// kNoLimit: something has to.
std::int64_t next_floor(const Skyline& skyline, const Valley& valley) noexcept;

}  // namespace neap::planner
