// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How vertices end. A chain of any length dies on a constant stack: what loses
// its last reference joins a list that runs through the dying vertices
// themselves (nothing is allocated), and one loop empties the list.
#include "neap/graph/vertex.hpp"

#include <mutex>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/graph/node.hpp"
#include "neap/graph/own_handle.hpp"
#include "neap/graph/trace.hpp"
#include "neap/memory/scope.hpp"

namespace neap::graph {

namespace {

// The dying of the loop that runs in this thread, if one does. What ends inside
// it (a handle that a hook's closure holds, the graph of a gradient) joins the
// list rather than a loop within the loop.
constinit thread_local Vertex** burial = nullptr;

// Scopes leave alone what a leaf holds, whatever the user does with handles to
// it: a gradient that a scope took away would count as none.
void begin_gradient(const Tensor& gradient) noexcept {
  if (gradient.shared()) {
    memory::Scope::begin_gradient(*gradient.shared());
  }
}

void end_gradient(const Tensor& gradient) noexcept {
  if (gradient.shared()) {
    memory::Scope::end_gradient(*gradient.shared());
  }
}

}  // namespace

Extras& Vertex::need_extras() {
  if (Extras* known = extras()) {
    return *known;
  }
  const memory::Tag tag = memory::current_tag(memory::Category::kGraph, site());
  base::Ref<Extras> made = Extras::create(domain(), tag, 0, domain(), tag);
  Extras* first = nullptr;
  const bool is_first = extras_.compare_exchange_strong(
      first, made.get(), std::memory_order_acq_rel, std::memory_order_acquire);
  return is_first ? *made.leak() : *first;
}

// A handle of the user's may keep the list: what is in it goes now.
void Vertex::drop_extras() noexcept {
  const auto extras = base::Ref<Extras>::adopt(extras_.load());
  extras->close();
}

// Takes one reference from a vertex; when it was the last, the vertex joins
// the dying.
void Vertex::drop_into(Vertex* vertex, Vertex** dying) noexcept {
  if (vertex != nullptr && vertex->drop_reference()) {
    vertex->next_ = *dying;
    *dying = vertex;
  }
}

void Vertex::bury(Vertex* dying) noexcept {
  if (burial != nullptr) {
    while (dying != nullptr) {
      Vertex* vertex = std::exchange(dying, dying->next_);
      vertex->next_ = std::exchange(*burial, vertex);
    }
    return;
  }
  burial = &dying;
  while (dying != nullptr) {
    Vertex* vertex = std::exchange(dying, dying->next_);
    if (vertex->is_leaf()) {
      static_cast<Leaf*>(vertex)->end();
    } else {
      static_cast<Node*>(vertex)->end(&dying);
    }
  }
  burial = nullptr;
}

void Vertex::destroy() noexcept {
  next_ = nullptr;
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

void Leaf::end() noexcept {
  end_gradient(grad_);
  const memory::Block block{this, sizeof(Leaf), bucket_};
  memory::Domain& domain = *domain_;
  this->~Leaf();
  domain.release(block);
}

Tensor Leaf::grad(std::uint32_t /*output*/) const {
  if (Trace* current = trace()) {
    current->on_grad_read(const_cast<Leaf&>(*this));
  }
  const std::lock_guard guard(lock_);
  return copy_of(grad_);
}

void Leaf::set_requires_grad(bool value) noexcept {
  if (Trace* current = trace()) {
    if (!current->on_mode_change(*this)) {
      return;
    }
  }
  requires_grad_ = value;
}

void Leaf::set_grad(Tensor grad) noexcept {
  if (Trace* current = trace()) {
    if (!current->on_grad_change(*this)) {
      return;
    }
  }
  const tensor::Body* fresh = grad.shared().get();
  begin_gradient(grad);
  {
    const std::lock_guard guard(lock_);
    exchange(grad_, grad);
  }
  // The old one goes here, outside the lock.
  if (grad.shared().get() != fresh) {
    end_gradient(grad);
  }
}

Leaf* leaf_of(const Tensor& tensor) {
  if (tensor::are_handles_heard()) [[unlikely]] {
    // An argument of a traced step is none there, and may be one in a call.
    tensor::handle_is_asked(tensor, tensor::Question::kGrad);
  }
  return tensor.link() && tensor.is_leaf()
             ? static_cast<Leaf*>(tensor.link().get())
             : nullptr;
}

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
  } else {
    // A traced step hears that an argument is not to require a gradient.
    static_cast<void>(tensor.requires_grad());
  }
  return tensor;
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
