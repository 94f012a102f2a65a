// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/exact_valley.hpp"

#include <algorithm>

#include "neap/planner/round_up.hpp"

namespace neap::planner {
namespace {

// Large problems decide at the best of the places seen so far.
constexpr std::size_t kMostLooks = std::size_t{1} << 14U;

// Whether a piece may start at the floor of a valley: a fixed one above it may
// not, nor may one that sticks out.
bool fits(const Skyline& skyline, std::int32_t piece, Range valley,
          std::int64_t floor) noexcept {
  const Sections::Piece& p = skyline.sections().piece(piece);
  return valley.holds(p.range) && (p.fixed < 0 || p.fixed == floor);
}

// The offset that a piece of a valley cannot lie below, by what the
// valley and the sections next to it show.
std::int64_t lowest_offset(const Skyline& skyline, std::int32_t piece,
                           Range valley) noexcept {
  const Sections::Piece& p = skyline.sections().piece(piece);
  std::int64_t offset = skyline.floor(valley.begin);
  if (p.fixed >= 0 || valley.holds(p.range)) {
    offset = skyline.offset(piece);
  }
  if (p.range.begin < valley.begin) {
    offset = std::max(offset, skyline.floor(valley.begin - 1));
  }
  if (p.range.end > valley.end) {
    offset = std::max(offset, skyline.floor(valley.end));
  }
  return offset;
}

// The offset that a piece of the valley cannot lie below where it lies on
// another one that is yet to come and does not live in the valley's section.
std::int64_t raised_floor(const Skyline& skyline,
                          const Valley& valley) noexcept {
  const Sections& sections = skyline.sections();
  std::int64_t lowest = kNoLimit;
  const auto look = [&](std::int32_t other) {
    const Sections::Piece& q = sections.piece(other);
    if (!q.range.meets(Range::at(valley.section))) {
      lowest = std::min(lowest,
                        lowest_offset(skyline, other, valley.range) + q.size);
    }
  };
  skyline.for_each_to_come(valley.range.begin, look);
  const std::int32_t last = sections.first_after(valley.range.end - 1);
  for (std::int32_t i = sections.first_after(valley.range.begin); i < last;
       ++i) {
    if (!skyline.is_placed(i)) {
      look(i);
    }
  }
  return lowest;
}

}  // namespace

ValleyFinder::ValleyFinder(const Skyline& skyline) : skyline_(&skyline) {
  blame_.resize(static_cast<std::size_t>(skyline.sections().count()));
}

ValleyFinder::Answer ValleyFinder::find(const Style& style, Valley& valley,
                                        Range& failure) noexcept {
  const std::int32_t count = skyline_->sections().count();
  const bool only_lowest = style.focus == Focus::kLowest;
  double best = std::numeric_limits<double>::max();
  std::int64_t lowest = kNoLimit;
  Answer answer = Answer::kDone;
  Range run{};
  std::size_t looked = 0;
  for (std::int32_t s = 0; s < count && looked < kMostLooks; s = run.end) {
    run = {s, end_of_run(s)};
    const std::int64_t floor = skyline_->floor(s);
    if (skyline_->to_come(s) == 0 || (only_lowest && floor > lowest) ||
        !is_valley(run)) {
      continue;
    }
    answer = Answer::kFound;
    lowest = std::min(lowest, floor);
    for (std::int32_t i = run.begin; i < run.end && looked < kMostLooks; ++i) {
      looked += static_cast<std::size_t>(skyline_->to_come(i));
      const Choices now = choices(i, run);
      if (now.outside != kNoLimit &&
          now.outside - floor - now.inside > skyline_->slack(i)) {
        failure = walls(*skyline_, {i, run});
        blame(i);
        return Answer::kHopeless;
      }
      const double value = score(style, i, now);
      if (value < best) {
        best = value;
        valley = {i, run};
      }
    }
  }
  return answer;
}

void ValleyFinder::fade() noexcept {
  constexpr double kMost = 10;
  const double most = *std::max_element(blame_.begin(), blame_.end());
  if (most > kMost) {
    for (double& blame : blame_) {
      blame *= kMost / most;
    }
  }
}

ValleyFinder::Choices ValleyFinder::choices(std::int32_t section,
                                            Range valley) const noexcept {
  Choices result;
  const std::int64_t floor = skyline_->floor(section);
  skyline_->for_each_to_come(section, [&](std::int32_t piece) {
    if (fits(*skyline_, piece, valley, floor)) {
      ++result.count;
      result.inside += skyline_->sections().piece(piece).size;
    } else {
      result.outside = std::min(result.outside, skyline_->offset(piece));
    }
  });
  return result;
}

double ValleyFinder::score(const Style& style, std::int32_t section,
                           const Choices& choices) const noexcept {
  const auto target = static_cast<double>(skyline_->target());
  const std::int64_t slack = skyline_->slack(section);
  const double height = static_cast<double>(skyline_->floor(section)) / target;
  const bool may_give_up = slack > 0 || choices.count == 0;
  const double count = choices.count + (may_give_up ? 1 : 0);
  double value = 0;
  switch (style.focus) {
    case Focus::kFewest:
      value = count * (1 + static_cast<double>(slack) / target);
      break;
    case Focus::kLow:
      value = count + 8 * height;
      break;
    case Focus::kLowest: {
      constexpr double kFirstAboveAll = 1e9;
      value = height * kFirstAboveAll + count;
      break;
    }
  }
  return style.heeds_failures
             ? value / (1 + blame_[static_cast<std::size_t>(section)])
             : value;
}

bool ValleyFinder::is_valley(Range range) const noexcept {
  const std::int64_t floor = skyline_->floor(range.begin);
  const auto is_wall = [&](std::int32_t s) {
    return s < 0 || s == skyline_->sections().count() ||
           skyline_->to_come(s) == 0 || skyline_->floor(s) > floor;
  };
  return is_wall(range.begin - 1) && is_wall(range.end);
}

std::int32_t ValleyFinder::end_of_run(std::int32_t section) const noexcept {
  const std::int64_t floor = skyline_->floor(section);
  std::int32_t end = section + 1;
  while (skyline_->to_come(section) > 0 && end < skyline_->sections().count() &&
         skyline_->to_come(end) > 0 && skyline_->floor(end) == floor) {
    ++end;
  }
  return end;
}

Range walls(const Skyline& skyline, const Valley& valley) noexcept {
  Range result{std::max(valley.range.begin - 1, 0),
               std::min(valley.range.end + 1, skyline.sections().count())};
  const std::int64_t floor = skyline.floor(valley.section);
  skyline.for_each_to_come(valley.section, [&](std::int32_t piece) {
    // A piece within the range has its witness there, too.
    if (!result.holds(skyline.sections().piece(piece).range) &&
        !fits(skyline, piece, valley.range, floor)) {
      result.widen(Range::at(skyline.witness(piece)));
    }
  });
  return result;
}

std::int64_t next_floor(const Skyline& skyline, const Valley& valley) noexcept {
  const std::int32_t section = valley.section;
  const std::int64_t floor = skyline.floor(section);
  std::int64_t next = kNoLimit;
  std::int64_t fixed = kNoLimit;  // the lowest that may not lie higher
  const std::int64_t raised = raised_floor(skyline, valley);
  skyline.for_each_to_come(section, [&](std::int32_t piece) {
    const Sections::Piece& p = skyline.sections().piece(piece);
    if (p.fixed >= 0) {
      fixed = std::min(fixed, p.fixed);
    }
    if (!fits(skyline, piece, valley.range, floor)) {
      next = std::min(next, skyline.offset(piece));
    } else if (p.fixed < 0 && raised != kNoLimit) {
      next = std::min(next, round_up(raised, p.alignment));
    }
  });
  return next <= fixed ? next : kNoLimit;
}

}  // namespace neap::planner
