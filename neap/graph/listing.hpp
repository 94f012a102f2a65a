// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Listing: the part of the graph below some tensor, as two lists. What prints
// and measures graphs shares it. Nodes come latest first, so that each stands
// before everything it was made from; leaves come in the order they are met.
// Nothing recurses; its bookkeeping is lists in the context's domain.
//
// Thread rule: other threads may build on this part of the graph, walk it and
// drop it meanwhile. Each node is listed as it was at one instant, and is held
// with its residuals until the listing goes; one that was retired before its
// turn came is left out.
#pragma once

#include <unordered_map>

#include "neap/graph/node.hpp"
#include "neap/memory/containers.hpp"

namespace neap::graph {

class Listing {
 public:
  /// THROWS: OutOfMemory; UseAfterRelease for an undefined tensor.
  explicit Listing(const Tensor& tensor);

  std::size_t size() const noexcept { return nodes_.size(); }
  const Node& node(std::size_t place) const noexcept {
    return *nodes_[place].node;
  }
  /// A source for each input; null: no derivative flows. None: a retired node.
  std::span<const Node::Source> sources(std::size_t place) const noexcept;
  /// References of this listing, beside the node's own.
  std::span<const Residual> residuals(std::size_t place) const noexcept;
  std::span<const Residual> residuals() const noexcept { return residuals_; }
  std::span<const Leaf* const> leaves() const noexcept { return leaves_; }

  /// Places in these lists; size() or leaves().size() for what was left out.
  std::size_t place_of(const Node& node) const noexcept;
  std::size_t place_of(const Leaf& leaf) const noexcept;

 private:
  struct Entry {
    base::Ref<Node> node;
    std::uint64_t sequence = 0;
    std::size_t first_source = 0;  // of sources_
    std::size_t first_residual = 0;
  };
  static bool is_earlier(const Entry& a, const Entry& b) noexcept {
    return a.sequence < b.sequence;
  }
  void meet(const Vertex* vertex);
  void enter(Entry entry);

  memory::Vector<Entry> nodes_;
  memory::Vector<Node::Source> sources_;  // of one node after the other
  memory::Vector<Residual> residuals_;    // the same
  memory::Vector<const Leaf*> leaves_;
  memory::Vector<Entry> pending_;  // a heap, the latest on top
  std::unordered_map<
      const Leaf*, std::size_t, std::hash<const void*>, std::equal_to<>,
      memory::Allocator<std::pair<const Leaf* const, std::size_t>>>
      leaf_places_;
};

}  // namespace neap::graph
