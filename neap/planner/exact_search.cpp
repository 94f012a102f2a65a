// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/exact_search.hpp"

#include <algorithm>

namespace neap::planner {
namespace {

// A decision among so many pieces counts as one step of work.
constexpr std::int64_t kPiecesAStep = 512;

}  // namespace

ExactSearch::ExactSearch(const Sections& sections)
    : sections_(&sections), skyline_(sections), finder_(skyline_) {
  keys_.resize(sections.pieces().size());
}

ExactSearch::Answer ExactSearch::run(std::int64_t target, const Style& style,
                                     std::uint64_t seed, std::int64_t steps,
                                     Effort& effort) {
  skyline_.reset(target);
  levels_.clear();
  choices_.clear();
  finder_.fade();
  fill_keys(*sections_, style.order, seed, keys_);
  const auto pieces = static_cast<std::int64_t>(keys_.size());
  const std::int64_t cost = 1 + pieces / kPiecesAStep;
  for (; steps > 0; --steps) {
    if (!effort.spend(cost)) {
      return Answer::kUnsure;
    }
    const Entered entered = enter(style);
    if (entered == Entered::kDone) {
      return Answer::kFound;
    }
    const bool is_down = entered == Entered::kLevel && decide(levels_.back());
    if (!is_down && !decide_next()) {
      return Answer::kNone;
    }
  }
  return Answer::kUnsure;
}

// Opens a level for the state at hand.
ExactSearch::Entered ExactSearch::enter(const Style& style) {
  if (const Range* known =
          failures_.find(skyline_.print(), skyline_.target())) {
    failure_ = *known;
    return Entered::kFailed;
  }
  Level level;
  switch (finder_.find(style, level.valley, failure_)) {
    case ValleyFinder::Answer::kDone:
      return Entered::kDone;
    case ValleyFinder::Answer::kHopeless:
      return Entered::kFailed;
    case ValleyFinder::Answer::kFound:
      break;
  }
  level.mark = skyline_.mark();
  level.print = skyline_.print();
  list_choices(level);
  levels_.push_back(level);
  return Entered::kLevel;
}

void ExactSearch::list_choices(Level& level) {
  const Valley& valley = level.valley;
  const std::int64_t floor = skyline_.floor(valley.section);
  level.first = level.next = choices_.size();
  skyline_.for_each_to_come(valley.section, [&](std::int32_t piece) {
    const Sections::Piece& p = sections_->piece(piece);
    if (valley.range.holds(p.range) && (p.fixed < 0 || p.fixed == floor) &&
        (p.twin < 0 || skyline_.is_placed(p.twin)) &&
        skyline_.is_supported(piece)) {
      choices_.push_back(piece);
    }
  });
  level.last = choices_.size();
  const auto begin =
      choices_.begin() + static_cast<std::ptrdiff_t>(level.first);
  std::sort(begin, choices_.end(), [&](std::int32_t a, std::int32_t b) {
    const double key_a = keys_[static_cast<std::size_t>(a)];
    const double key_b = keys_[static_cast<std::size_t>(b)];
    return key_a != key_b ? key_a > key_b : a < b;
  });
  const std::int64_t slack = skyline_.slack(valley.section);
  if (slack > 0 || level.first == level.last) {
    const std::int64_t next = next_floor(skyline_, valley);
    level.lift = next != kNoLimit && next - floor <= slack ? next : kNoLimit;
  }
}

// Takes decisions back, latest first, until another one can be made. False when
// all are spent.
bool ExactSearch::decide_next() {
  while (!levels_.empty()) {
    Level& level = levels_.back();
    skyline_.go_back(level.mark);
    if (decided(level).meets(failure_)) {
      level.failure.widen(failure_);
      if (decide(level)) {
        return true;
      }
    }
    leave(levels_.back());
  }
  return false;
}

// Makes the level's next decision that does not fail at once.
bool ExactSearch::decide(Level& level) {
  for (;;) {
    bool is_good = false;
    if (level.next < level.last) {
      level.decision = choices_[level.next++];
      is_good = skyline_.place(level.decision, failure_);
    } else if (level.lift != kNoLimit) {
      level.decision = kLift;
      is_good = skyline_.lift(level.valley.section, level.lift, failure_);
      level.lift = kNoLimit;
    } else {
      failure_ = level.failure;
      failure_.widen(walls(skyline_, level.valley));
      return false;
    }
    if (is_good) {
      return true;
    }
    finder_.blame(failure_.begin);
    skyline_.go_back(level.mark);
    level.failure.widen(failure_);
  }
}

// REQUIRES: failure_ shows that the level's state fails.
void ExactSearch::leave(Level& level) noexcept {
  failures_.add(level.print, skyline_.target(), failure_);
  choices_.resize(level.first);
  levels_.pop_back();
}

Range ExactSearch::decided(const Level& level) const noexcept {
  return level.decision == kLift ? Range::at(level.valley.section)
                                 : sections_->piece(level.decision).range;
}

}  // namespace neap::planner
