// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/uses.hpp"

#include <algorithm>
#include <numeric>

namespace neap::budget {

Uses::Uses(const Problem& problem)
    : calls_(static_cast<std::int32_t>(problem.calls.size())),
      makers_(problem.values.size(), kNever),
      begins_(problem.values.size() + 1, 0),
      prices_(problem.calls.size() + 1, 0) {
  const auto at = [](std::int32_t i) { return static_cast<std::size_t>(i); };
  for (std::size_t i = 0; i < problem.calls.size(); ++i) {
    const Call& call = problem.calls[i];
    prices_[i + 1] = prices_[i] + call.price;
    for (const std::int32_t v : call.makes) {
      makers_[at(v)] = static_cast<std::int32_t>(i);
    }
    for (const std::int32_t v : call.reads) {
      ++begins_[at(v) + 1];
    }
  }
  for (std::size_t v = 0; v < problem.values.size(); ++v) {
    begins_[v + 1] += problem.values[v].outlives ? 1 : 0;
  }
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  positions_.resize(begins_.back());
  memory::Vector<std::size_t> next(begins_);
  for (std::size_t i = 0; i < problem.calls.size(); ++i) {
    for (const std::int32_t v : problem.calls[i].reads) {
      positions_[next[at(v)]++] = static_cast<std::int32_t>(i);
    }
  }
  for (std::size_t v = 0; v < problem.values.size(); ++v) {
    if (problem.values[v].outlives) {
      positions_[next[v]] = calls_;
    }
  }
}

std::int32_t Uses::next(std::int32_t value,
                        std::int32_t position) const noexcept {
  const std::span all = of(value);
  const auto found = std::lower_bound(all.begin(), all.end(), position);
  return found == all.end() ? kNever : *found;
}

}  // namespace neap::budget
