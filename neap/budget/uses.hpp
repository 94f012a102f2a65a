// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The call that makes each value of a problem, and the positions at which it is
// read.
#pragma once

#include "neap/budget/problem.hpp"

namespace neap::budget {

class Uses {
 public:
  /// REQUIRES: check(problem). THROWS: OutOfMemory.
  explicit Uses(const Problem& problem);

  std::int32_t calls() const noexcept { return calls_; }
  std::int32_t maker(std::int32_t value) const noexcept {
    return makers_[static_cast<std::size_t>(value)];
  }
  /// Positions of the calls that read a value, ascending. One that outlives the
  /// calls is read at the end, at position calls().
  std::span<const std::int32_t> of(std::int32_t value) const noexcept {
    const auto v = static_cast<std::size_t>(value);
    return std::span(positions_)
        .subspan(begins_[v], begins_[v + 1] - begins_[v]);
  }
  /// The first of them at or behind `position`, or kNever.
  std::int32_t next(std::int32_t value, std::int32_t position) const noexcept;
  /// The prices of the calls before a position.
  std::int64_t price_before(std::int32_t position) const noexcept {
    return prices_[static_cast<std::size_t>(position)];
  }

 private:
  std::int32_t calls_;
  memory::Vector<std::int32_t> makers_;
  memory::Vector<std::size_t> begins_;
  memory::Vector<std::int32_t> positions_;
  memory::Vector<std::int64_t> prices_;
};

}  // namespace neap::budget
