// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The cost of bringing back each value if it were dropped now. A cost is kept
// until something that its closure reads is made, and is a lower bound from
// when such a value is dropped: the walk asks for the costs of all values at
// each drop, few of them change, and most of those that rise are too high
// anyway.
#pragma once

#include <optional>

#include "neap/budget/closure.hpp"

namespace neap::budget {

class Restores {
 public:
  /// LIFETIME: problem and uses outlive it. THROWS: OutOfMemory.
  Restores(const Problem& problem, const Uses& uses);

  /// Forgets all costs. `fetch_prices`: as Closure's.
  void begin(std::span<const std::int64_t> fetch_prices) noexcept;
  /// The price of the value's closure at a position, as log2_of(); nothing
  /// where one of its calls may not run then, or where it is above `most_log`:
  /// a long closure is then not collected to its end. `places`: of all values,
  /// as added() and dropped() told. THROWS: OutOfMemory.
  std::optional<std::int64_t> log_price(std::int32_t value,
                                        std::int32_t position,
                                        std::span<const Place> places,
                                        std::int64_t most_log);
  /// A bound below log_price() that needs no closure: kNone where that returns
  /// nothing for whatever `most_log`, kUnknown where it would collect one.
  std::int64_t least_log(std::int32_t value,
                         std::int32_t position) const noexcept {
    const Cost& cost = costs_[static_cast<std::size_t>(value)];
    if (cost.known == Known::kAtLeast) {
      return cost.log_price;
    }
    if (!is_enough(cost, position, 0)) {
      return kUnknown;
    }
    return position <= cost.again_until ? cost.log_price : kNone;
  }
  static constexpr std::int64_t kUnknown = -1;
  static constexpr std::int64_t kNone =
      std::numeric_limits<std::int64_t>::max();
  /// Whether the whole price is known.
  bool is_known(std::int32_t value) const noexcept {
    return costs_[static_cast<std::size_t>(value)].known == Known::kAll;
  }
  /// Calls of the closures that were collected since begin().
  std::int64_t work() const noexcept { return closure_.work(); }
  /// The value is in memory now, or no longer.
  void added(std::int32_t value) noexcept { change(value, Known::kNothing); }
  void dropped(std::int32_t value) noexcept { change(value, Known::kAtLeast); }

 private:
  enum class Known : std::uint8_t { kNothing, kAtLeast, kAll };
  struct Cost {
    std::int64_t price = 0;
    std::int64_t log_price = 0;
    std::int32_t position = 0;  // that it was asked for
    std::int32_t again_until = 0;
    Known known = Known::kNothing;
  };

  void change(std::int32_t value, Known most) noexcept;
  bool is_enough(const Cost& cost, std::int32_t position,
                 std::int64_t most) const noexcept;

  Closure closure_;
  memory::Vector<Cost> costs_;
  // By value: those whose cost was computed from its place.
  memory::Vector<memory::Vector<std::int32_t>> dependants_;
};

}  // namespace neap::budget
