// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A node's sequence is larger than those of all it was made from. So the latest
// of the nodes still pending is one that no other pending node leads to, and a
// node that several lead to comes up several times in a row: no set of what was
// seen is needed, and a long chain keeps one node pending.
#include "neap/graph/listing.hpp"

#include <algorithm>

namespace neap::graph {
namespace {

bool is_earlier(const Node* a, const Node* b) noexcept {
  return a->sequence() < b->sequence();
}

}  // namespace

Listing::Listing(const Tensor& tensor) {
  const auto* root = static_cast<const Vertex*>(tensor.link().get());
  if (root == nullptr) {
    return;
  }
  if (!root->is_leaf() &&
      static_cast<const Node*>(root)->state() != State::kAvailable) {
    nodes_.push_back(static_cast<const Node*>(root));  // it leads nowhere
    return;
  }
  meet(root);
  while (!pending_.empty()) {
    std::pop_heap(pending_.begin(), pending_.end(), is_earlier);
    const Node* node = pending_.back();
    pending_.pop_back();
    if (!nodes_.empty() && nodes_.back() == node) {
      continue;
    }
    nodes_.push_back(node);
    for (const Edge& edge : node->edges()) {
      meet(edge.vertex());
    }
  }
}

void Listing::meet(const Vertex* vertex) {
  if (vertex == nullptr) {
    return;
  }
  if (vertex->is_leaf()) {
    const auto* leaf = static_cast<const Leaf*>(vertex);
    if (leaf_places_.try_emplace(leaf, leaves_.size()).second) {
      leaves_.push_back(leaf);
    }
    return;
  }
  pending_.push_back(static_cast<const Node*>(vertex));
  std::push_heap(pending_.begin(), pending_.end(), is_earlier);
}

std::size_t Listing::place_of(const Node& node) const noexcept {
  const auto found = std::lower_bound(
      nodes_.begin(), nodes_.end(), &node,
      [](const Node* a, const Node* b) noexcept { return is_earlier(b, a); });
  return static_cast<std::size_t>(found - nodes_.begin());
}

std::size_t Listing::place_of(const Leaf& leaf) const noexcept {
  return leaf_places_.find(&leaf)->second;
}

}  // namespace neap::graph
