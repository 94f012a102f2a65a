// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Listing: the part of the graph below some tensor, as two lists. What prints
// and measures graphs shares it. Nodes come latest first, so that each stands
// before everything it was made from; leaves come in the order they are met.
// Nothing recurses; the books are lists at the context's door.
//
// REQUIRES: nobody builds on, walks or drops this part of the graph meanwhile.
#pragma once

#include <unordered_map>

#include "neap/graph/node.hpp"
#include "neap/memory/containers.hpp"

namespace neap::graph {

class Listing {
 public:
  /// THROWS: OutOfMemory; UseAfterRelease for an undefined tensor.
  explicit Listing(const Tensor& tensor);

  std::span<const Node* const> nodes() const noexcept { return nodes_; }
  std::span<const Leaf* const> leaves() const noexcept { return leaves_; }

  /// Places in these lists. REQUIRES: a vertex of this listing.
  std::size_t place_of(const Node& node) const noexcept;
  std::size_t place_of(const Leaf& leaf) const noexcept;

 private:
  void meet(const Vertex* vertex);

  memory::Vector<const Node*> nodes_;
  memory::Vector<const Leaf*> leaves_;
  memory::Vector<const Node*> pending_;  // a heap, the latest on top
  std::unordered_map<
      const Leaf*, std::size_t, std::hash<const void*>, std::equal_to<>,
      memory::Allocator<std::pair<const Leaf* const, std::size_t>>>
      leaf_places_;
};

}  // namespace neap::graph
