// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/flow.hpp"

#include <gtest/gtest.h>

#include <random>

namespace neap::budget {
namespace {

struct Edge {
  std::size_t from, to;
  std::int64_t capacity;
};

// By trying every side for every node.
std::int64_t least_cut(std::size_t nodes, const std::vector<Edge>& edges) {
  std::int64_t least = Flow::kInfinite;
  for (std::uint32_t side = 0; side < (1U << nodes); ++side) {
    if ((side & 1U) == 0 || (side >> (nodes - 1) & 1U) != 0) {
      continue;  // node 0 is the source, the last one the sink
    }
    std::int64_t cut = 0;
    for (const Edge& edge : edges) {
      const bool crosses =
          (side >> edge.from & 1U) != 0 && (side >> edge.to & 1U) == 0;
      cut += crosses ? edge.capacity : 0;
    }
    least = std::min(least, cut);
  }
  return least;
}

TEST(FlowTest, FindsTheLeastCutOfEveryGraph) {
  for (std::uint32_t seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    const std::size_t nodes = 2 + random() % 6;
    std::vector<Edge> edges;
    Flow flow(nodes);
    for (std::uint32_t k = random() % 16; k > 0; --k) {
      edges.push_back({random() % nodes, random() % nodes,
                       static_cast<std::int64_t>(random() % 9)});
      flow.add_edge(edges.back().from, edges.back().to, edges.back().capacity);
    }
    const std::int64_t cut = flow.cut(0, nodes - 1);
    ASSERT_EQ(cut, least_cut(nodes, edges)) << seed;
    std::int64_t crossing = 0;
    for (const Edge& edge : edges) {
      crossing +=
          flow.is_with_source(edge.from) && !flow.is_with_source(edge.to)
              ? edge.capacity
              : 0;
    }
    EXPECT_EQ(crossing, cut) << seed;
    EXPECT_EQ(flow.cut(0, nodes - 1), cut) << seed;  // and once more
  }
}

TEST(FlowTest, CapacitiesCanChangeBetweenCuts) {
  Flow flow(3);
  const std::size_t first = flow.add_edge(0, 1, 5);
  flow.add_edge(1, 2, Flow::kInfinite);
  EXPECT_EQ(flow.cut(0, 2), 5);
  flow.set_capacity(first, 7);
  EXPECT_EQ(flow.cut(0, 2), 7);
  flow.set_capacity(first, Flow::kInfinite);
  EXPECT_EQ(flow.cut(0, 2), Flow::kInfinite);
}

}  // namespace
}  // namespace neap::budget
