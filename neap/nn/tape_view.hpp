// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The nodes that the tape keeps below some results, oldest first. These are
// views, no second list: a node that a backward has consumed has nothing to
// show.
//
// Thread rule: not while another thread runs a backward over the same nodes.
#pragma once

#include <span>

#include "neap/graph/node.hpp"
#include "neap/memory/containers.hpp"

namespace neap::nn {

/// A node that keeps something. LIFETIME: the node lives as long as this, its
/// residuals until a backward consumes it.
using NodeRef = base::Ref<tensor::GraphLink>;

inline const graph::Node& node_of(const NodeRef& ref) noexcept {
  return static_cast<const graph::Node&>(*ref);
}

/// The nodes that `roots` were computed by, directly or not, and that keep a
/// residual; the search ends at the node of one of `ends`, unless that is the
/// node of a root. Undefined tensors and leaves count for nothing. O(nodes),
/// without recursion. THROWS: OutOfMemory.
NEAP_API memory::Vector<NodeRef> kept_nodes(std::span<const Tensor> roots,
                                            std::span<const Tensor> ends);

}  // namespace neap::nn
