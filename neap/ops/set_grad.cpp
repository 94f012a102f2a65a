// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// set_grad stands here, since it copies what somebody else may write into.
#include "neap/base/raise.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/scope.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap {

using base::raise;

namespace {

// Dense, in memory of its own; what carries a graph, with a handle of its own.
Tensor own(Tensor grad, const graph::Leaf& leaf) {
  if (!grad.defined() || (grad.owns_alone() && grad.is_contiguous())) {
    return grad;
  }
  const memory::OutsideScopes apart;
  if (grad.requires_grad()) {
    return grad.is_one_handle() ? grad : grad.alias();
  }
  const memory::ContextGuard guard([&](memory::Context& c) {
    c.category = memory::Category::kGradients;
    c.owner = &leaf.domain() == &memory::domain() ? leaf.owner() : c.owner;
  });
  const NoGrad no_grad;
  return copy(grad);
}

}  // namespace

void set_grad(const Tensor& tensor, Tensor grad) {
  graph::Leaf* leaf = graph::leaf_of(tensor);
  if (leaf == nullptr) {
    raise<GraphError>("set_grad: the tensor is no leaf that requires grad");
  }
  const bool is_set = grad.is_given();
  if (is_set && grad.shape() != tensor.shape()) {
    raise<ShapeError>("set_grad: shape {} for a tensor of shape {}",
                      format_shape(grad.shape()), format_shape(tensor.shape()));
  }
  if (is_set && grad.dtype() != tensor.dtype()) {
    raise<DTypeError>("set_grad: {} for a tensor of {}", name_of(grad.dtype()),
                      name_of(tensor.dtype()));
  }
  leaf->set_grad(own(std::move(grad), *leaf));
}

}  // namespace neap
