// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/graph/record_result.hpp"

#include <array>

namespace neap::graph {

void record_result(const OpCall& call, std::span<Tensor> results) {
  if (!is_recorded(call)) {
    return;
  }
  std::array<Spec, kMaxOutputs> specs;
  for (std::size_t k = 0; k < results.size(); ++k) {
    specs[k] = results[k].spec();
  }
  const base::Ref<Node> node = Node::create(
      call, std::span(specs).first(results.size()), memory::domain());
  std::array<base::Ref<tensor::Array>, kMaxOutputs> arrays;
  for (std::size_t k = 0; k < results.size(); ++k) {
    arrays[k] = results[k].array();
  }
  node->keep(std::span(arrays).first(results.size()));
  for (std::size_t k = 0; k < results.size(); ++k) {
    if (is_floating(specs[k].dtype)) {
      results[k].set_link(base::Ref<tensor::GraphLink>::share(node.get()),
                          static_cast<std::uint32_t>(k));
    }
  }
  node->finish();
}

}  // namespace neap::graph
