// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/flow.hpp"

#include <algorithm>

namespace neap::budget {

Flow::Flow(std::size_t nodes)
    : out_(nodes), level_(nodes, -1), next_(nodes, 0) {
  queue_.reserve(nodes);
}

std::size_t Flow::add_edge(std::size_t from, std::size_t to,
                           std::int64_t capacity) {
  const std::size_t edge = edges_.size();
  edges_.push_back({static_cast<std::uint32_t>(to), capacity, capacity});
  edges_.push_back({static_cast<std::uint32_t>(from), 0, 0});
  out_[from].push_back(static_cast<std::uint32_t>(edge));
  out_[to].push_back(static_cast<std::uint32_t>(edge + 1));
  return edge;
}

void Flow::set_capacity(std::size_t edge, std::int64_t capacity) noexcept {
  edges_[edge].capacity = capacity;
}

std::int64_t Flow::cut(std::size_t source, std::size_t sink) {
  for (Edge& edge : edges_) {
    edge.left = edge.capacity;
  }
  std::int64_t total = 0;
  while (find_levels(source, sink)) {
    std::fill(next_.begin(), next_.end(), 0U);
    while (const std::int64_t pushed = push_one(source, sink)) {
      total += pushed;
      if (total >= kInfinite) {
        return kInfinite;
      }
    }
  }
  return total;
}

// Breadth first over edges with capacity left.
bool Flow::find_levels(std::size_t source, std::size_t sink) {
  std::fill(level_.begin(), level_.end(), -1);
  level_[source] = 0;
  queue_.assign(1, static_cast<std::uint32_t>(source));
  for (std::size_t at = 0; at < queue_.size(); ++at) {
    const std::uint32_t node = queue_[at];
    for (const std::uint32_t e : out_[node]) {
      const Edge& edge = edges_[e];
      if (edge.left > 0 && level_[edge.to] < 0) {
        level_[edge.to] = level_[node] + 1;
        queue_.push_back(edge.to);
      }
    }
  }
  return level_[sink] >= 0;
}

// One path, level by level; what leads nowhere is not looked at again.
std::int64_t Flow::push_one(std::size_t source, std::size_t sink) {
  path_.clear();
  std::size_t node = source;
  while (node != sink) {
    std::uint32_t& next = next_[node];
    while (next < out_[node].size()) {
      const Edge& edge = edges_[out_[node][next]];
      if (edge.left > 0 && level_[edge.to] == level_[node] + 1) {
        break;
      }
      ++next;
    }
    if (next < out_[node].size()) {
      path_.push_back(out_[node][next]);
      node = edges_[path_.back()].to;
    } else if (path_.empty()) {
      return 0;
    } else {
      node = edges_[path_.back() ^ 1U].to;
      path_.pop_back();
      ++next_[node];
    }
  }
  std::int64_t pushed = kInfinite;
  for (const std::uint32_t e : path_) {
    pushed = std::min(pushed, edges_[e].left);
  }
  for (const std::uint32_t e : path_) {
    edges_[e].left -= pushed;
    edges_[e ^ 1U].left += pushed;
  }
  return pushed;
}

}  // namespace neap::budget
