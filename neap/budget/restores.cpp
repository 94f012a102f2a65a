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
  closure_.set_work(0);
  std::fill(costs_.begin(), costs_.end(), Cost());
  for (auto& list : dependants_) {
    list.clear();
  }
}

// Whether what is known of a closure tells its price, or that it is too high.
bool Restores::is_enough(const Cost& cost, std::int32_t position,
                         std::int64_t most) const noexcept {
  if (cost.known == Known::kAtLeast) {
    return cost.price > most;
  }
  // The rest of a closure with a call that may not run is not known.
  const bool is_partial = cost.position > cost.again_until;
  return cost.known == Known::kAll &&
         !(is_partial && position <= cost.again_until);
}

std::optional<std::int64_t> Restores::log_price(std::int32_t value,
                                                std::int32_t position,
                                                std::span<const Place> places,
                                                std::int64_t most_log) {
  Cost& cost = costs_[static_cast<std::size_t>(value)];
  const std::int64_t most = most_with_log2(most_log);
  if (!is_enough(cost, position, most)) {
    // More than was asked for, so that a price that rises is not collected anew
    // each time.
    const std::int64_t enough = std::max(
        most, cost.known == Known::kAtLeast ? cost.price + cost.price / 2 : 0);
    closure_.begin();
    const bool may_run = closure_.collect(value, position, places, enough);
    for (const std::int32_t read : closure_.reads()) {
      dependants_[static_cast<std::size_t>(read)].push_back(value);
    }
    const bool is_cut = may_run && closure_.price() > enough;
    cost = {closure_.price(), log2_of(closure_.price()), position,
            closure_.again_until(), is_cut ? Known::kAtLeast : Known::kAll};
  }
  const bool is_within =
      position <= cost.again_until && cost.log_price <= most_log;
  return is_within ? std::optional(cost.log_price) : std::nullopt;
}

// A closure through a value that is dropped grows; through one that is there
// again, it shrinks to what it was at least.
void Restores::change(std::int32_t value, Known most) noexcept {
  auto& list = dependants_[static_cast<std::size_t>(value)];
  for (const std::int32_t v : list) {
    Cost& cost = costs_[static_cast<std::size_t>(v)];
    cost.known = std::min(cost.known, most);
  }
  list.clear();
}

}  // namespace neap::budget
