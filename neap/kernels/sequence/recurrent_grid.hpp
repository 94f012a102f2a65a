// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How a step of a recurrent network is cut into blocks for the threads, and
// how its scratch is handed out. For recurrent.cpp alone.
#pragma once

#include <algorithm>
#include <limits>

#include "neap/base/ceil_div.hpp"
#include "neap/kernels/sequence/recurrent.hpp"

namespace neap::kernels {

using base::ceil_div;

/// Steps of sums that are worth a thread.
inline constexpr std::int64_t kRecurrentWork = 128 * 1024;
inline constexpr Bytes kRecurrentLine = 64;

/// Hands out scratch; without a base, only counts it.
class RecurrentRoom {
 public:
  explicit RecurrentRoom(std::byte* base) noexcept : base_(base) {}
  template <class T>
  T* take(std::int64_t count) noexcept {
    std::byte* at = base_ == nullptr ? nullptr : base_ + used_;
    used_ +=
        base::round_up(count * static_cast<Bytes>(sizeof(T)), kRecurrentLine);
    return reinterpret_cast<T*>(at);
  }
  Bytes used() const noexcept { return used_; }

 private:
  std::byte* base_;
  Bytes used_ = 0;
};

/// The step from row to row of what a tile reads a row at a time: not a
/// multiple of a page, where the rows would push each other out of the nearest
/// cache.
template <class T>
std::int64_t spread_step(std::int64_t columns) noexcept {
  constexpr auto kUnit = static_cast<std::int64_t>(kRecurrentLine / sizeof(T));
  constexpr auto kPage = static_cast<std::int64_t>(4096 / sizeof(T));
  const std::int64_t step = base::round_up(columns, kUnit) + kUnit;
  return step % kPage == 0 ? step + kUnit : step;
}

/// The blocks of a step.
class RecurrentGrid {
 public:
  RecurrentGrid(const RecurrentSizes& sizes, std::int64_t work,
                std::int64_t panel, int threads) noexcept
      : sizes_(sizes) {
    const std::int64_t most =
        std::clamp<std::int64_t>(work / kRecurrentWork, 1, threads);
    const std::int64_t panels = ceil_div(sizes.hidden, panel);
    std::int64_t best = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t rows = 1; rows <= std::min(most, sizes.batch); ++rows) {
      const std::int64_t part_rows = ceil_div(sizes.batch, rows);
      const std::int64_t part_panels = ceil_div(panels, most / rows);
      const std::int64_t cost = part_panels * (part_rows + 1);
      if (cost < best) {
        best = cost;
        part_rows_ = part_rows;
        part_units_ = part_panels * panel;
      }
    }
    unit_parts_ = ceil_div(sizes.hidden, part_units_);
    row_parts_ = ceil_div(sizes.batch, part_rows_);
  }

  /// Calls body(block) for every block.
  template <class Body>
  void run(threads::Executor& executor, const Body& body) const noexcept {
    const auto parts = static_cast<int>(row_parts_ * unit_parts_);
    if (parts == 1) {
      body(block(0));
      return;
    }
    threads::parallel_parts(executor, parts,
                            [&](int part) noexcept { body(block(part)); });
  }

 private:
  RecurrentBlock block(std::int64_t part) const noexcept {
    const std::int64_t row = part / unit_parts_ * part_rows_;
    const std::int64_t unit = part % unit_parts_ * part_units_;
    return {row, std::min(row + part_rows_, sizes_.batch), unit,
            std::min(unit + part_units_, sizes_.hidden)};
  }

  RecurrentSizes sizes_;
  std::int64_t part_rows_ = 1;
  std::int64_t part_units_ = 1;
  std::int64_t row_parts_ = 1;
  std::int64_t unit_parts_ = 1;
};

}  // namespace neap::kernels
