// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/timeline.hpp"

#include <algorithm>
#include <span>

namespace neap::planner {
namespace {

using Indices = memory::Vector<std::int32_t>;

const Buffer& at(const Problem& problem, std::int32_t i) {
  return problem.buffers[static_cast<std::size_t>(i)];
}

// The begins of sections: the last instant at which something comes before
// something goes again. `group` is sorted by lower.
memory::Vector<std::int64_t> section_begins(
    const Problem& problem, std::span<const std::int32_t> group) {
  memory::Vector<std::int64_t> uppers;
  uppers.reserve(group.size());
  for (const std::int32_t i : group) {
    uppers.push_back(at(problem, i).upper);
  }
  std::sort(uppers.begin(), uppers.end());
  memory::Vector<std::int64_t> begins;
  std::size_t gone = 0;
  for (std::size_t k = 0; k < group.size(); ++k) {
    const bool is_last = k + 1 == group.size();
    const std::int64_t next = is_last ? 0 : at(problem, group[k + 1]).lower;
    if (is_last || uppers[gone] <= next) {
      begins.push_back(at(problem, group[k]).lower);
      while (!is_last && uppers[gone] <= next) {
        ++gone;
      }
    }
  }
  return begins;
}

Timeline make_timeline(const Problem& problem,
                       std::span<const std::int32_t> group) {
  const auto begins = section_begins(problem, group);
  const auto section_at = [&](std::int64_t instant) {
    return static_cast<std::int32_t>(
        std::lower_bound(begins.begin(), begins.end(), instant) -
        begins.begin());
  };
  Timeline timeline;
  timeline.sections = static_cast<std::int32_t>(begins.size());
  timeline.items.reserve(group.size());
  timeline.buffers.assign(group.begin(), group.end());
  for (const std::int32_t i : group) {
    const Buffer& b = at(problem, i);
    timeline.items.push_back({.begin = section_at(b.lower),
                              .end = section_at(b.upper),
                              .size = b.size,
                              .alignment = b.alignment,
                              .fixed = b.fixed});
  }
  return timeline;
}

}  // namespace

memory::Vector<Timeline> split_by_time(const Problem& merged) {
  Indices order;
  for (std::size_t i = 0; i < merged.buffers.size(); ++i) {
    if (merged.buffers[i].size > 0) {
      order.push_back(static_cast<std::int32_t>(i));
    }
  }
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    const std::int64_t lower_a = at(merged, a).lower;
    const std::int64_t lower_b = at(merged, b).lower;
    return lower_a != lower_b ? lower_a < lower_b : a < b;
  });
  memory::Vector<Timeline> groups;
  std::size_t first = 0;
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  const std::span<const std::int32_t> all(order);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const Buffer& b = at(merged, order[k]);
    if (k > first && b.lower >= end) {
      groups.push_back(make_timeline(merged, all.subspan(first, k - first)));
      first = k;
    }
    end = std::max(end, b.upper);
  }
  if (first < order.size()) {
    groups.push_back(make_timeline(merged, all.subspan(first)));
  }
  return groups;
}

}  // namespace neap::planner
