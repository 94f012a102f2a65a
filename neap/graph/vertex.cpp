// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How vertices end. A chain of any length dies on a constant stack: what loses
// its last reference joins a list that runs through the dying vertices
// themselves (nothing is allocated), and one loop empties the list.
#include "neap/graph/vertex.hpp"

#include <utility>

#include "neap/base/raise.hpp"
#include "neap/graph/node.hpp"

namespace neap::graph {

// Takes one reference from a vertex; when it was the last, the vertex joins
// the dying.
void Vertex::drop_into(Vertex* vertex, Vertex** dying) noexcept {
  if (vertex != nullptr && vertex->drop_reference()) {
    vertex->next_dying_ = *dying;
    *dying = vertex;
  }
}

void Vertex::bury(Vertex* dying) noexcept {
  while (dying != nullptr) {
    Vertex* vertex = std::exchange(dying, dying->next_dying_);
    if (vertex->is_leaf()) {
      static_cast<Leaf*>(vertex)->end(&dying);
    } else {
      static_cast<Node*>(vertex)->end(&dying);
    }
  }
}

void Vertex::destroy() noexcept {
  next_dying_ = nullptr;
  bury(this);
}

base::Ref<tensor::GraphLink> Leaf::create(memory::OwnerId owner,
                                          base::SiteId site,
                                          memory::Domain& domain) {
  const memory::Block block = domain.allocate(
      sizeof(Leaf), memory::current_tag(memory::Category::kGraph, site));
  Leaf* leaf = ::new (block.data) Leaf(owner, site);
  leaf->domain_ = &domain;
  leaf->bucket_ = block.bucket;
  return base::Ref<tensor::GraphLink>::adopt(leaf);
}

void Leaf::end(Vertex** dying) noexcept {
  // A gradient that was made with create_graph holds a graph of its own: its
  // link joins the list rather than dying inside this call.
  if (grad_.defined() && grad_.has_sole_handle()) {
    base::Ref<tensor::GraphLink> link = grad_.link();
    grad_.set_link(nullptr);
    drop_into(static_cast<Vertex*>(link.leak()), dying);
  }
  const memory::Block block{this, sizeof(Leaf), bucket_};
  memory::Domain& domain = *domain_;
  this->~Leaf();
  domain.release(block);
}

void Node::clear(Vertex** dying) noexcept {
  for (Edge& edge : std::span(edge_data(), input_count_)) {
    drop_into(static_cast<Vertex*>(edge.source.leak()), dying);
  }
  for (Residual& residual : std::span(residual_data(), residual_count_)) {
    std::destroy_at(&residual);
  }
  op_->let_go_attrs(shape_data() + shape_words_);
  consumed_ = true;
}

void Node::end(Vertex** dying) noexcept {
  if (!consumed_) {
    clear(dying);
  }
  const memory::Block block{this, bytes_, bucket_};
  memory::Domain& domain = *domain_;
  const Op& op = *op_;
  this->~Node();
  domain.release(block);
  op.release();
}

void Node::consume(base::SiteId site) noexcept {
  if (consumed_) {
    return;
  }
  consumed_at_ = site;
  Vertex* dying = nullptr;
  clear(&dying);
  bury(dying);
}

namespace {

Leaf* leaf_of(const Tensor& tensor) {
  return tensor.link() && tensor.is_leaf()
             ? static_cast<Leaf*>(tensor.link().get())
             : nullptr;
}

}  // namespace
}  // namespace neap::graph

namespace neap {

using base::raise;

Tensor requires_grad_(Tensor tensor, bool value, CallSite site) {
  if (!is_floating(tensor.dtype())) {
    raise<DTypeError>("requires_grad_: {} cannot carry a derivative",
                      name_of(tensor.dtype()));
  }
  if (!tensor.is_leaf()) {
    raise<GraphError>(
        "requires_grad_: the tensor is the result of a recorded op, detach() "
        "it first");
  }
  if (graph::Leaf* leaf = graph::leaf_of(tensor)) {
    leaf->set_requires_grad(value);
  } else if (value) {
    tensor.set_link(graph::Leaf::create(tensor.array()->storage()->tag().owner,
                                        base::intern(site),
                                        tensor.array()->domain()));
  }
  return tensor;
}

void set_grad(const Tensor& tensor, Tensor grad) {
  graph::Leaf* leaf = graph::leaf_of(tensor);
  if (leaf == nullptr) {
    raise<GraphError>("set_grad: the tensor is no leaf that requires grad");
  }
  if (grad.defined() && grad.shape() != tensor.shape()) {
    raise<ShapeError>("set_grad: shape {} for a tensor of shape {}",
                      format_shape(grad.shape()), format_shape(tensor.shape()));
  }
  if (grad.defined() && grad.dtype() != tensor.dtype()) {
    raise<DTypeError>("set_grad: {} for a tensor of {}", name_of(grad.dtype()),
                      name_of(tensor.dtype()));
  }
  leaf->set_grad(std::move(grad));
}

void zero_grad(std::span<const Tensor> tensors) noexcept {
  for (const Tensor& tensor : tensors) {
    if (graph::Leaf* leaf =
            tensor.defined() ? graph::leaf_of(tensor) : nullptr) {
      leaf->set_grad({});
    }
  }
}

}  // namespace neap
