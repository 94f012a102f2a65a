// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Greatest flow and least cut of a graph with whole capacities (Dinic, 1970).
#pragma once

#include <cstdint>
#include <limits>

#include "neap/memory/containers.hpp"

namespace neap::budget {

class Flow {
 public:
  /// More than any sum of finite capacities.
  static constexpr std::int64_t kInfinite =
      std::numeric_limits<std::int64_t>::max() / 4;

  /// THROWS: OutOfMemory.
  explicit Flow(std::size_t nodes);

  /// RETURNS: the edge's number. REQUIRES: 0 <= capacity <= kInfinite.
  /// THROWS: OutOfMemory.
  std::size_t add_edge(std::size_t from, std::size_t to, std::int64_t capacity);
  void set_capacity(std::size_t edge, std::int64_t capacity) noexcept;

  /// The least cut between two nodes; kInfinite where it has an infinite edge.
  /// All flow of before is forgotten. O(nodes^2 edges), in practice far less.
  std::int64_t cut(std::size_t source, std::size_t sink);
  /// Whether a node was on the source's side of the last cut.
  bool is_with_source(std::size_t node) const noexcept {
    return level_[node] >= 0;
  }

 private:
  struct Edge {
    std::uint32_t to = 0;
    std::int64_t capacity = 0;
    std::int64_t left = 0;
  };

  bool find_levels(std::size_t source, std::size_t sink);
  std::int64_t push_one(std::size_t source, std::size_t sink);

  memory::Vector<Edge> edges_;  // 2k and 2k + 1 are each other's reverse
  memory::Vector<memory::Vector<std::uint32_t>> out_;
  memory::Vector<std::int32_t> level_;
  memory::Vector<std::uint32_t> next_;  // of a node's edges
  memory::Vector<std::uint32_t> queue_;
  memory::Vector<std::uint32_t> path_;  // edges
};

}  // namespace neap::budget
