// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/restores.hpp"

#include <algorithm>

#include "neap/budget/log2.hpp"

namespace neap::budget {

Restores::Restores(const Problem& problem, const Uses& uses)
    : closure_(problem, uses),
      costs_(problem.values.size()),
      dependants_(problem.values.size()) {}

void Restores::begin(std::span<const std::int64_t> fetch_prices) noexcept {
  closure_.set_fetch_prices(fetch_prices);
  std::fill(costs_.begin(), costs_.end(), Cost());
  for (auto& list : dependants_) {
    list.clear();
  }
}

std::optional<std::int64_t> Restores::log_price(std::int32_t value,
                                                std::int32_t position,
                                                std::span<const Place> places) {
  Cost& cost = costs_[static_cast<std::size_t>(value)];
  // The rest of a closure with a call that may not run is not known.
  const bool is_partial = cost.position > cost.again_until;
  if (!cost.is_known || (is_partial && position <= cost.again_until)) {
    closure_.begin();
    static_cast<void>(closure_.collect(value, position, places));
    for (const std::int32_t read : closure_.reads()) {
      dependants_[static_cast<std::size_t>(read)].push_back(value);
    }
    cost = {log2_of(closure_.price()), position, closure_.again_until(), true};
  }
  return position <= cost.again_until ? std::optional(cost.log_price)
                                      : std::nullopt;
}

void Restores::changed(std::int32_t value) noexcept {
  auto& list = dependants_[static_cast<std::size_t>(value)];
  for (const std::int32_t v : list) {
    costs_[static_cast<std::size_t>(v)].is_known = false;
  }
  list.clear();
}

}  // namespace neap::budget
