// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A node's sequence is larger than those of all it was made from. So the latest
// of the nodes still pending is one that no other pending node leads to, and a
// node that several lead to comes up several times in a row: no set of what was
// seen is needed, and a long chain keeps one node pending.
#include "neap/graph/listing.hpp"

#include <algorithm>

namespace neap::graph {

Listing::Listing(const Tensor& tensor) {
  // Held: another thread may drop the handle's place on the graph.
  const base::Ref<tensor::GraphLink> link = tensor.link();
  const auto* root = static_cast<const Vertex*>(link.get());
  if (root == nullptr) {
    return;
  }
  meet(root);
  if (!root->is_leaf() && pending_.empty()) {  // retired: it leads nowhere
    auto* node = const_cast<Node*>(static_cast<const Node*>(root));
    nodes_.push_back({base::Ref<Node>::share(node)});
    return;
  }
  while (!pending_.empty()) {
    std::pop_heap(pending_.begin(), pending_.end(), is_earlier);
    Entry entry = std::move(pending_.back());
    pending_.pop_back();
    if (nodes_.empty() || !(nodes_.back().node == entry.node)) {
      enter(std::move(entry));
    }
  }
}

// Lists a node; sources_ holds its sources from now on.
void Listing::enter(Entry entry) {
  entry.first_source = sources_.size();
  entry.first_residual = residuals_.size();
  entry.node->look(sources_, residuals_);
  const std::size_t first = entry.first_source;
  nodes_.push_back(std::move(entry));
  for (std::size_t i = first; i < sources_.size(); ++i) {
    meet(sources_[i].vertex());
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
  auto* node = const_cast<Node*>(static_cast<const Node*>(vertex));
  if (const auto sequence = node->sequence_if_available()) {
    pending_.push_back({base::Ref<Node>::share(node), *sequence});
    std::push_heap(pending_.begin(), pending_.end(), is_earlier);
  }
}

std::span<const Node::Source> Listing::sources(
    std::size_t place) const noexcept {
  const std::size_t first = nodes_[place].first_source;
  const std::size_t end = place + 1 < nodes_.size()
                              ? nodes_[place + 1].first_source
                              : sources_.size();
  return std::span(sources_).subspan(first, end - first);
}

std::span<const Residual> Listing::residuals(std::size_t place) const noexcept {
  const std::size_t first = nodes_[place].first_residual;
  const std::size_t end = place + 1 < nodes_.size()
                              ? nodes_[place + 1].first_residual
                              : residuals_.size();
  return std::span(residuals_).subspan(first, end - first);
}

// A node that was retired meanwhile has no sequence to be found by.
std::size_t Listing::place_of(const Node& node) const noexcept {
  const auto sequence = node.sequence_if_available();
  const auto found = std::find_if(
      sequence ? std::lower_bound(nodes_.begin(), nodes_.end(), *sequence,
                                  [](const Entry& entry, std::uint64_t wanted) {
                                    return entry.sequence > wanted;
                                  })
               : nodes_.begin(),
      nodes_.end(),
      [&](const Entry& entry) { return entry.node.get() == &node; });
  return static_cast<std::size_t>(found - nodes_.begin());
}

std::size_t Listing::place_of(const Leaf& leaf) const noexcept {
  const auto found = leaf_places_.find(&leaf);
  return found != leaf_places_.end() ? found->second : leaves_.size();
}

}  // namespace neap::graph
