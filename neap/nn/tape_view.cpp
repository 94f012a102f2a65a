// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/tape_view.hpp"

#include <algorithm>
#include <functional>
#include <unordered_set>

namespace neap::nn {
namespace {

using LinkSet =
    std::unordered_set<const tensor::GraphLink*,
                       std::hash<const tensor::GraphLink*>, std::equal_to<>,
                       memory::Allocator<const tensor::GraphLink*>>;

// The link of what a recorded op made, else nullptr.
tensor::GraphLink* made_by(const Tensor& tensor) {
  return tensor.defined() && !tensor.is_leaf() ? tensor.link().get() : nullptr;
}

}  // namespace

memory::Vector<NodeRef> kept_nodes(std::span<const Tensor> roots,
                                   std::span<const Tensor> ends) {
  LinkSet seen;
  for (const Tensor& end : ends) {
    seen.insert(made_by(end));
  }
  for (const Tensor& root : roots) {
    seen.erase(made_by(root));
  }
  memory::Vector<NodeRef> found;
  memory::Vector<NodeRef> pending;
  const auto visit = [&](tensor::GraphLink* link) {
    if (link != nullptr && !link->is_leaf() && seen.insert(link).second) {
      pending.push_back(NodeRef::share(link));
    }
  };
  for (const Tensor& root : roots) {
    visit(made_by(root));
  }
  while (!pending.empty()) {
    const NodeRef at = std::move(pending.back());
    pending.pop_back();
    for (const graph::Edge& edge : node_of(at).edges()) {
      visit(edge.source.get());
    }
    if (!node_of(at).residuals().empty()) {
      found.push_back(at);
    }
  }
  std::ranges::sort(
      found, {}, [](const NodeRef& node) { return node_of(node).sequence(); });
  return found;
}

}  // namespace neap::nn
