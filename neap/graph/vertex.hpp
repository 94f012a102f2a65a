// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The two ends of a tape edge: a Node (a recorded op call) or a Leaf (a tensor
// whose gradient is accumulated). Edges point from a result to the inputs that
// it was computed from and own them, so reference counts free whatever no
// handle needs, at once.
//
//   x (Leaf) <--- mul (Node) <--- tanh (Node) <--- handle y
//
// A node also knows the edges that point to it (its uses), without owning
// anything: that is how the end of a node reaches all that was computed from
// it.
//
// Thread rule: references may be taken and dropped from any thread, and results
// built on a vertex by several; one backward at a time walks a node.
#pragma once

#include <cstddef>
#include <span>

#include "neap/base/spin_lock.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/graph/op.hpp"

namespace neap::graph {

class Node;

/// The part of a node or a leaf that a backward walk needs.
class Vertex : public tensor::GraphLink {
 public:
  bool is_leaf() const noexcept final { return op_ == nullptr; }

  /// Larger than that of everything this was computed from; 0 for a leaf.
  /// REQUIRES: not retired.
  std::uint64_t sequence() const noexcept { return sequence_; }

  /// The owner, by domain()'s numbers.
  memory::OwnerId owner() const noexcept { return owner_; }
  memory::Domain& domain() const noexcept { return *domain_; }
  void set_owner(memory::OwnerId owner) noexcept { owner_ = owner; }
  base::SiteId site() const noexcept { return site_; }

  /// Hooks and gradients kept of results; nullptr: none.
  Extras* extras() const noexcept {
    return extras_.load(std::memory_order_acquire);
  }
  /// The same as extras(), created when there are none. THROWS: OutOfMemory.
  NEAP_API Extras& need_extras();

 protected:
  Vertex(const Op* op, std::uint64_t sequence, memory::OwnerId owner,
         base::SiteId site) noexcept
      : op_(op), sequence_(sequence), owner_(owner), site_(site) {}
  ~Vertex() override {
    if (extras() != nullptr) {
      drop_extras();
    }
  }

  /// Frees this vertex and all that only it needs, iteratively.
  void destroy() noexcept final;
  static void drop_into(Vertex* vertex, Vertex** dying) noexcept;
  static void bury(Vertex* dying) noexcept;
  void drop_extras() noexcept;

  // Ordered by size: the headers of nodes are most of a graph's bytes.
  std::atomic<std::uint32_t> mark_{0};  // a walk's number for a node
  const Op* op_;                        // nullptr: a leaf

 private:
  // Lists of the dying and of the retired need a member only when nothing else
  // does.
  union {
    std::uint64_t sequence_;
    Vertex* next_;
  };
  memory::OwnerId owner_;  // layer that computed it, or of the parameter
  base::SiteId site_;

 protected:
  friend class Node;
  memory::Domain* domain_ = nullptr;
  std::atomic<Extras*> extras_{nullptr};  // owned; set once
  memory::BucketId bucket_{};             // bucket of the vertex's own block
};

/// An edge to the vertex of an input; null where no derivative flows. Edges to
/// one node form a list, guarded by that node's lock.
struct Edge {
  base::Ref<tensor::GraphLink> source;  // always a Vertex
  Edge* next_use = nullptr;
  Edge** back = nullptr;     // pointer to this edge; null: in no list
  std::uint32_t output = 0;  // number of the source's output
  std::uint32_t index = 0;   // number of the edge at its node

  Vertex* vertex() const noexcept { return static_cast<Vertex*>(source.get()); }
  inline Node* node_source() const noexcept;  // nullptr: none, or a leaf
};

/// A tensor that gradients are accumulated for.
class NEAP_API Leaf final : public Vertex {
 public:
  /// THROWS: OutOfMemory.
  static base::Ref<tensor::GraphLink> create(memory::OwnerId owner,
                                             base::SiteId site,
                                             memory::Domain& domain);

  bool requires_grad() const noexcept override { return requires_grad_; }
  /// A trace notes the value when the step began.
  void set_requires_grad(bool value) noexcept;
  Tensor grad(std::uint32_t output = 0) const override;
  void set_grad(Tensor grad) noexcept;

  /// Held by whoever adds to the gradient, from reading the old one until the
  /// sum is stored.
  base::SpinLock& accumulation() noexcept { return accumulation_; }

 private:
  friend class Vertex;
  Leaf(memory::OwnerId owner, base::SiteId site) noexcept
      : Vertex(nullptr, 0, owner, site) {}
  ~Leaf() override = default;
  void end() noexcept;

  Tensor grad_;
  mutable base::SpinLock lock_;  // guards grad_
  base::SpinLock accumulation_;
  bool requires_grad_ = true;
};

/// The leaf behind a tensor, or nullptr. THROWS: UseAfterRelease when
/// undefined.
NEAP_API Leaf* leaf_of(const Tensor& tensor);

}  // namespace neap::graph

namespace neap {

/// Asks that backward accumulate a gradient into `tensor` (or, with false, that
/// it no longer does; a gradient that is there stays). Returns a handle to the
/// same tensor, for use in initialisers.
/// THROWS: DTypeError unless floating; GraphError for the result of an op.
NEAP_API Tensor requires_grad_(Tensor tensor, bool value = true,
                               CallSite site = CallSite::here());

/// Sets a gradient (undefined: removes it). It is copied where anything else
/// refers to its elements, unless it carries a graph. THROWS: GraphError unless
/// a leaf that requires grad; ShapeError, DTypeError; UseAfterRelease when
/// `tensor` is undefined, or `grad` was released; OutOfMemory.
NEAP_API void set_grad(const Tensor& tensor, Tensor grad);

/// Removes the gradients of some tensors, freeing their bytes.
NEAP_API void zero_grad(std::span<const Tensor> tensors) noexcept;

}  // namespace neap
