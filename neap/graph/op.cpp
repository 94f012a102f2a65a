// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/graph/op.hpp"

namespace neap::graph {
namespace {

Bytes bytes_of(const Spec& spec) {
  return spec.shape.element_count() * size_of(spec.dtype);
}

}  // namespace

Cost cost_of(const Op& op, const OpArgs& args, std::span<const Spec> outputs) {
  if (op.facts.cost != nullptr) {
    return op.facts.cost(args, outputs);
  }
  Cost cost;
  if (op.view != nullptr) {
    return cost;
  }
  for (const Spec& input : args.inputs) {
    cost.read += bytes_of(input);
  }
  for (const Spec& output : outputs) {
    cost.written += bytes_of(output);
    cost.flops += output.shape.element_count();
  }
  return cost;
}

}  // namespace neap::graph
