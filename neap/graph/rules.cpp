// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/graph/rules.hpp"

#include <algorithm>

#include "neap/base/raise.hpp"

namespace neap::graph {
namespace {

const base::Ref<tensor::Array>& kept(const Node& node, std::uint16_t position) {
  const Residual* residual = node.find(position);
  if (residual == nullptr) {
    base::raise<InternalError>(
        "{}: its vjp reads {} {}, which its facts do not declare",
        node.op().name,
        (position & Residual::kOutputBit) != 0 ? "output" : "input",
        position & ~Residual::kOutputBit);
  }
  return residual->array;
}

}  // namespace

Tensor VjpContext::input(int i) const {
  const auto& array = kept(node_, static_cast<std::uint16_t>(i));
  const Edge& edge = node_.edges()[static_cast<std::size_t>(i)];
  return keep_graph_ ? Tensor(array, edge.source, edge.output) : Tensor(array);
}

Tensor VjpContext::output(int k) const {
  const auto& array =
      kept(node_, static_cast<std::uint16_t>(Residual::kOutputBit | k));
  // Like the call's own handles, it has no link where no derivative is: none
  // flows through integers and bits.
  const bool carries = keep_graph_ && is_floating(array->dtype());
  return carries ? Tensor(array,
                          base::Ref<tensor::GraphLink>::share(
                              const_cast<Node*>(&node_)),
                          static_cast<std::uint32_t>(k))
                 : Tensor(array);
}

Tensor VjpContext::take_cotangent(int k) noexcept {
  const auto slot = static_cast<std::size_t>(k);
  Tensor& cotangent = cotangents_[slot];
  if (k == 0 && cotangent.defined()) {
    taken_shape_ = cotangent.shape();
  }
  return asked_[slot] != 0 ? cotangent : std::move(cotangent);
}

Shape VjpContext::input_shape(int i) const noexcept {
  return node_.input_shape(
      i, cotangents_[0].defined() ? cotangents_[0].shape() : taken_shape_,
      shape_cursor_);
}

std::uint32_t JvpContext::reads(const Op& op,
                                std::span<const Tensor> tangents) noexcept {
  const auto& rules = op.facts.vjp_reads;
  std::uint32_t mask = 0;
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    if (tangents[i].defined()) {
      mask |= rules[std::min(i, rules.size() - 1)].inputs;
    }
  }
  return mask;
}

// The output that took an input over has the same spec.
Spec JvpContext::input_spec(int i) const {
  const Tensor& tensor = call_.inputs[static_cast<std::size_t>(i)].tensor();
  return tensor.defined() ? tensor.spec() : outputs_[0].spec();
}

const Tensor& JvpContext::input(int i) const {
  if ((reads(call_.op, tangents_) >> std::min(i, 31) & 1U) == 0) {
    base::raise<InternalError>(
        "{}: its jvp reads input {}, which its facts do not declare",
        call_.op.name, i);
  }
  return call_.inputs[static_cast<std::size_t>(i)].tensor();
}

}  // namespace neap::graph
