// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A timeline as the exact solver wants it: in units that divide all sizes, with
// the items of each section side by side, and sizes rounded up to what all
// offsets are multiples of.
#pragma once

#include <span>

#include "neap/planner/timeline.hpp"

namespace neap::planner {

/// A range of sections, half-open.
struct Range {
  std::int32_t begin = std::numeric_limits<std::int32_t>::max();
  std::int32_t end = 0;

  static Range at(std::int32_t section) noexcept {
    return {section, section + 1};
  }
  bool meets(Range other) const noexcept {
    return begin < other.end && other.begin < end;
  }
  bool holds(Range other) const noexcept {
    return begin <= other.begin && other.end <= end;
  }
  void widen(Range other) noexcept {
    begin = begin < other.begin ? begin : other.begin;
    end = end > other.end ? end : other.end;
  }
};

/// Heights, sizes and offsets count in `unit` here.
class Sections {
 public:
  struct Piece {
    Range range;
    std::int64_t size = 0;     // rounded up to multiples of grain()
    std::int64_t padding = 0;  // what of it is rounding
    std::int64_t alignment = 1;
    std::int64_t fixed = -1;
    std::int32_t twin = -1;  // the one before it that is its equal
  };

  /// THROWS: OutOfMemory.
  explicit Sections(const Timeline& timeline);

  std::int32_t count() const noexcept {
    return static_cast<std::int32_t>(live_begin_.size()) - 1;
  }
  std::span<const Piece> pieces() const noexcept { return pieces_; }
  const Piece& piece(std::int32_t i) const noexcept {
    return pieces_[static_cast<std::size_t>(i)];
  }
  /// The pieces that live in a section, ascending.
  std::span<const std::int32_t> live(std::int32_t section) const noexcept {
    const auto s = static_cast<std::size_t>(section);
    return std::span(live_).subspan(live_begin_[s],
                                    live_begin_[s + 1] - live_begin_[s]);
  }
  /// How many pieces begin in sections up to this one; the first that begins
  /// later has that number.
  std::int32_t first_after(std::int32_t section) const noexcept {
    return first_after_[static_cast<std::size_t>(section)];
  }
  /// The place of a piece in live(section). REQUIRES: it lives there.
  std::size_t place(std::int32_t piece, std::int32_t section) const noexcept {
    const auto p = static_cast<std::size_t>(piece);
    return places_[place_begin_[p] +
                   static_cast<std::size_t>(section - pieces_[p].range.begin)];
  }
  /// The sum of the sizes in a section, and the largest padding there.
  std::int64_t total(std::int32_t section) const noexcept {
    return total_[static_cast<std::size_t>(section)];
  }
  std::int64_t padding(std::int32_t section) const noexcept {
    return padding_[static_cast<std::size_t>(section)];
  }
  std::int64_t unit() const noexcept { return unit_; }
  /// All offsets are multiples.
  std::int64_t grain() const noexcept { return grain_; }
  /// The height of all pieces one above the other, above the fixed ones.
  std::int64_t stacked() const noexcept { return stacked_; }
  /// No plan is lower.
  std::int64_t lower_bound() const noexcept { return lower_bound_; }

 private:
  void fill_pieces(const Timeline& timeline);
  void find_twins();
  void fill_sections(std::int32_t sections);

  std::int64_t unit_ = 1;
  std::int64_t grain_ = 1;
  std::int64_t lower_bound_ = 0;
  std::int64_t stacked_ = 0;
  memory::Vector<Piece> pieces_;  // by begin
  memory::Vector<std::size_t> live_begin_;
  memory::Vector<std::int32_t> live_;
  memory::Vector<std::size_t> place_begin_;  // one a piece
  memory::Vector<std::uint32_t> places_;     // one a piece and section
  memory::Vector<std::int32_t> first_after_;
  memory::Vector<std::int64_t> total_;
  memory::Vector<std::int64_t> padding_;
};

}  // namespace neap::planner
