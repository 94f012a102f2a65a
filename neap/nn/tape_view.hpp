// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// What the tape keeps below some results: its nodes, oldest first. Views, no
// second book: a node that a backward has consumed has nothing to show.
//
// Thread rule: not while another thread runs a backward over the same nodes.
#pragma once

#include <span>

#include "neap/graph/node.hpp"
#include "neap/memory/containers.hpp"

namespace neap::nn {

/// A node that keeps something. LIFETIME: the node lives as long as this, what
/// it keeps until a backward consumes it.
using NodeRef = base::Ref<tensor::GraphLink>;

inline const graph::Node& node_of(const NodeRef& ref) noexcept {
  return static_cast<const graph::Node&>(*ref);
}

/// The nodes that `roots` were made by, directly or not, and that keep a
/// residual; the search ends at what made one of `ends`, unless that is what
/// made a root. Undefined tensors and leaves count for nothing. O(nodes),
/// without recursion. THROWS: OutOfMemory.
NEAP_API memory::Vector<NodeRef> kept_nodes(std::span<const Tensor> roots,
                                            std::span<const Tensor> ends);

}  // namespace neap::nn
