// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Puts items one after the other into the gaps that those before them left,
// below a limit. It can take back the last of them and go on otherwise.
#pragma once

#include <span>

#include "neap/planner/timeline.hpp"

namespace neap::planner {

enum class Fit : std::uint8_t {
  kLowest,    // the lowest gap that is large enough
  kTightest,  // the smallest gap that is large enough; above all if none is
  kHighest,   // the highest place below the limit
};

class Placer {
 public:
  /// LIFETIME: the timeline outlives it. THROWS: OutOfMemory.
  explicit Placer(const Timeline& timeline);

  /// False: two fixed items overlap, so that no plan is possible.
  bool is_possible() const noexcept { return is_possible_; }
  /// The highest end among the fixed items.
  std::int64_t fixed_height() const noexcept { return fixed_height_; }

  /// Takes back all but the fixed items and the first `kept` of the order, then
  /// places the others. `fits` says how, one an item.
  /// REQUIRES: is_possible(), limit at least fixed_height(); the first `kept`
  /// are as in the last call, with the same limit.
  /// RETURNS: the position in the order of the first that does not fit below
  /// the limit; order.size() where all do.
  std::size_t place(std::span<const std::int32_t> order,
                    std::span<const Fit> fits, std::int64_t limit,
                    std::size_t kept) noexcept;

  /// The highest end of what is placed.
  std::int64_t height() const noexcept;
  /// The offsets of placed items; one place an item of the timeline.
  void write_offsets(std::span<std::int64_t> offsets) const noexcept;
  /// Steps since the last question: one a placement, and one a hundred items
  /// looked at on the way.
  std::int64_t take_steps() noexcept;

 private:
  struct Placed {
    std::int32_t begin;
    std::int32_t end;
    std::int64_t offset;
    std::int64_t top;
    std::int32_t item;
    std::int32_t position;  // in the order; -1: fixed
  };
  using PlacedItems = memory::Vector<Placed>;
  static std::int64_t lowest(const PlacedItems& among,
                             const Item& item) noexcept;
  static std::int64_t tightest(const PlacedItems& among,
                               const Item& item) noexcept;
  static std::int64_t highest(const PlacedItems& among, const Item& item,
                              std::int64_t limit) noexcept;
  void make_blocks();
  std::size_t block_at(std::int32_t section) const noexcept {
    return static_cast<std::size_t>(section / block_sections_);
  }
  const PlacedItems& near(const Item& item) const noexcept;
  void add(std::int32_t item, std::int64_t offset,
           std::size_t position) noexcept;
  void add_fixed();

  const Timeline* timeline_;
  PlacedItems placed_;  // by offset; capacity for all
  /// The items that live in each block of sections, by offset; empty where
  /// there are few. An item that lives in one block alone meets none outside
  /// it.
  memory::Vector<PlacedItems> blocks_;
  std::int32_t block_sections_ = 1;
  bool is_possible_ = true;
  std::int64_t fixed_height_ = 0;
  std::int64_t steps_ = 0;
  std::int64_t looks_ = 0;
};

}  // namespace neap::planner
