// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/exact_skyline.hpp"

#include <algorithm>

#include "neap/planner/round_up.hpp"

namespace neap::planner {
namespace {

std::size_t at(std::int32_t i) noexcept {
  return static_cast<std::size_t>(i);
}

// The finalizer of splitmix64 (Steele, Lea and Flood 2014).
std::uint64_t scramble(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

void mix(Skyline::Print& print, std::uint64_t what) noexcept {
  const std::uint64_t low = scramble(what);
  print.low ^= low;
  print.high ^= scramble(low + 0x9e3779b97f4a7c15U);
}

}  // namespace

Skyline::Skyline(const Sections& sections) : sections_(&sections) {
  const std::size_t count = at(sections.count());
  floor_.resize(count);
  top_.resize(count);
  rest_.resize(count);
  to_come_.resize(count);
  offset_.resize(sections.pieces().size());
  is_placed_.resize(sections.pieces().size());
  waiting_begin_.reserve(count);
  for (std::int32_t s = 0; s < sections.count(); ++s) {
    waiting_begin_.push_back(waiting_.size());
    waiting_.resize(waiting_.size() + (sections.live(s).size() + 63) / 64);
  }
}

void Skyline::reset(std::int64_t target) noexcept {
  target_ = target;
  print_ = {};
  trail_.clear();
  std::fill(waiting_.begin(), waiting_.end(), 0);
  std::fill(floor_.begin(), floor_.end(), 0);
  std::fill(top_.begin(), top_.end(), 0);
  for (std::int32_t s = 0; s < sections_->count(); ++s) {
    rest_[at(s)] = sections_->total(s);
    const std::size_t count = sections_->live(s).size();
    to_come_[at(s)] = static_cast<std::int32_t>(count);
    for (std::size_t k = 0; k < count; ++k) {
      waiting_[waiting_begin_[at(s)] + k / 64] |= std::uint64_t{1} << (k % 64);
    }
  }
  std::fill(is_placed_.begin(), is_placed_.end(), std::uint8_t{0});
  for (std::size_t i = 0; i < offset_.size(); ++i) {
    offset_[i] = std::max<std::int64_t>(sections_->pieces()[i].fixed, 0);
  }
}

bool Skyline::place(std::int32_t piece, Range& failure) {
  const Sections::Piece& p = sections_->piece(piece);
  const std::int64_t top = offset(piece) + p.size;
  trail_.push_back({Kind::kPlaced, piece, 0});
  toggle(piece);
  for (std::int32_t s = p.range.begin; s < p.range.end; ++s) {
    set_floor(s, top);
    trail_.push_back({Kind::kTop, s, top_[at(s)]});
    top_[at(s)] = top;
  }
  if (top - p.padding > target_) {
    failure = p.range;
    return false;
  }
  for (std::int32_t s = p.range.begin; s < p.range.end; ++s) {
    if (to_come(s) > 0 && slack(s) < 0) {
      failure = Range::at(s);
      return false;
    }
  }
  return raise_others(p, top, failure);
}

bool Skyline::lift(std::int32_t section, std::int64_t floor, Range& failure) {
  set_floor(section, floor);
  failure = Range::at(section);
  bool is_possible = slack(section) >= 0;
  for_each_to_come(section, [&](std::int32_t other) {
    is_possible = is_possible && raise(other, floor);
  });
  return is_possible;
}

void Skyline::go_back(Mark mark) noexcept {
  while (trail_.size() > mark) {
    const Step step = trail_.back();
    trail_.pop_back();
    switch (step.kind) {
      case Kind::kFloor:
        stamp(step.index);
        floor_[at(step.index)] = step.old;
        stamp(step.index);
        break;
      case Kind::kTop:
        top_[at(step.index)] = step.old;
        break;
      case Kind::kOffset:
        offset_[at(step.index)] = step.old;
        break;
      case Kind::kPlaced:
        toggle(step.index);
        break;
    }
  }
}

bool Skyline::is_supported(std::int32_t piece) const noexcept {
  const Sections::Piece& p = sections_->piece(piece);
  if (p.fixed >= 0) {
    return true;
  }
  const auto first = top_.begin() + p.range.begin;
  const std::int64_t top =
      *std::max_element(first, first + (p.range.end - p.range.begin));
  return round_up(top, p.alignment) == offset(piece);
}

std::int32_t Skyline::witness(std::int32_t piece) const noexcept {
  const Range range = sections_->piece(piece).range;
  const auto first = floor_.begin() + range.begin;
  const auto highest =
      std::max_element(first, first + (range.end - range.begin));
  return static_cast<std::int32_t>(highest - floor_.begin());
}

void Skyline::set_floor(std::int32_t section, std::int64_t floor) {
  trail_.push_back({Kind::kFloor, section, floor_[at(section)]});
  stamp(section);
  floor_[at(section)] = floor;
  stamp(section);
}

// False where a fixed piece would have to lie higher.
bool Skyline::raise(std::int32_t piece, std::int64_t floor) {
  if (offset(piece) >= floor) {
    return true;
  }
  const Sections::Piece& p = sections_->piece(piece);
  if (p.fixed >= 0) {
    return false;
  }
  trail_.push_back({Kind::kOffset, piece, offset(piece)});
  offset_[at(piece)] = round_up(floor, p.alignment);
  return true;
}

bool Skyline::raise_others(const Sections::Piece& piece, std::int64_t top,
                           Range& failure) {
  const Range range = piece.range;
  bool is_possible = true;
  for_each_to_come(range.begin, [&](std::int32_t other) {
    is_possible = is_possible && raise(other, top);
  });
  if (!is_possible) {
    failure = Range::at(range.begin);
    return false;
  }
  const std::int32_t last = sections_->first_after(range.end - 1);
  for (std::int32_t i = sections_->first_after(range.begin); i < last; ++i) {
    if (!is_placed(i) && !raise(i, top)) {
      failure = Range::at(sections_->piece(i).range.begin);
      return false;
    }
  }
  return true;
}

// Placed becomes yet to come, and the other way round.
void Skyline::toggle(std::int32_t piece) noexcept {
  const Sections::Piece& p = sections_->piece(piece);
  std::uint8_t& is_placed = is_placed_[at(piece)];
  is_placed ^= 1U;
  const std::int32_t one = is_placed != 0 ? -1 : 1;
  for (std::int32_t s = p.range.begin; s < p.range.end; ++s) {
    rest_[at(s)] += one * p.size;
    to_come_[at(s)] += one;
    const std::size_t place = sections_->place(piece, s);
    waiting_[waiting_begin_[at(s)] + place / 64] ^= std::uint64_t{1}
                                                    << (place % 64);
  }
  mix(print_, ~static_cast<std::uint64_t>(piece));
}

void Skyline::stamp(std::int32_t section) noexcept {
  const auto floor = static_cast<std::uint64_t>(floor_[at(section)]);
  mix(print_, scramble(floor) + static_cast<std::uint64_t>(section));
}

}  // namespace neap::planner
