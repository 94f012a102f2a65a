// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The two ends of a tape edge: a Node (a recorded op call) or a Leaf (a tensor
// whose gradient is accumulated). Edges point from a result to what it was
// made of; nothing points back, so reference counts free whatever no handle
// needs, at once.
//
//   x (Leaf) <--- mul (Node) <--- tanh (Node) <--- handle y
//
// Thread rule: references may be taken and dropped from any thread; one
// backward at a time walks a node.
#pragma once

#include <span>

#include "neap/graph/op.hpp"

namespace neap::graph {

/// What a backward walk needs of either end.
class Vertex : public tensor::GraphLink {
 public:
  bool is_leaf() const noexcept final { return op_ == nullptr; }

  /// Larger than that of everything this was made of; 0 for a leaf.
  std::uint64_t sequence() const noexcept { return sequence_; }
  /// Where a walk keeps its index of a node (valid during that walk).
  std::uint32_t mark() const noexcept { return mark_; }
  void set_mark(std::uint32_t mark) noexcept { mark_ = mark; }

  /// Of domain().
  memory::OwnerId owner() const noexcept { return owner_; }
  memory::Domain& domain() const noexcept { return *domain_; }
  void set_owner(memory::OwnerId owner) noexcept { owner_ = owner; }
  base::SiteId site() const noexcept { return site_; }

 protected:
  Vertex(const Op* op, std::uint64_t sequence, memory::OwnerId owner,
         base::SiteId site) noexcept
      : op_(op), sequence_(sequence), owner_(owner), site_(site) {}
  ~Vertex() override = default;

  /// Ends this vertex and all that goes with it, iteratively.
  void destroy() noexcept final;
  static void drop_into(Vertex* vertex, Vertex** dying) noexcept;
  static void bury(Vertex* dying) noexcept;

  const Op* op_;  // nullptr: a leaf

 private:
  // The list of the dying needs a place only when nothing else does.
  union {
    std::uint64_t sequence_;
    Vertex* next_dying_;
  };
  std::uint32_t mark_ = 0;
  memory::OwnerId owner_;  // layer that made it, or whose parameter it is
  base::SiteId site_;

 protected:
  memory::BucketId bucket_{};  // of the vertex's own block
  memory::Domain* domain_ = nullptr;
};

/// An edge to what made an input; null where no derivative flows.
struct Edge {
  base::Ref<tensor::GraphLink> source;  // a Vertex
  std::uint32_t output = 0;             // which output of it

  Vertex* vertex() const noexcept { return static_cast<Vertex*>(source.get()); }
};

/// A tensor that gradients are accumulated for.
class NEAP_API Leaf final : public Vertex {
 public:
  /// THROWS: OutOfMemory.
  static base::Ref<tensor::GraphLink> create(memory::OwnerId owner,
                                             base::SiteId site,
                                             memory::Domain& domain);

  bool requires_grad() const noexcept override { return requires_grad_; }
  void set_requires_grad(bool value) noexcept { requires_grad_ = value; }
  Tensor grad(std::uint32_t /*output*/ = 0) const override { return grad_; }
  void set_grad(Tensor grad) noexcept { grad_ = std::move(grad); }

 private:
  friend class Vertex;
  Leaf(memory::OwnerId owner, base::SiteId site) noexcept
      : Vertex(nullptr, 0, owner, site) {}
  ~Leaf() override = default;
  void end(Vertex** dying) noexcept;

  Tensor grad_;
  bool requires_grad_ = true;
};

}  // namespace neap::graph

namespace neap {

/// Asks that backward accumulate a gradient into `tensor` (or, with false, that
/// it no longer does; a gradient that is there stays). Returns a handle to the
/// same tensor, for use in initialisers.
/// THROWS: DTypeError unless floating; GraphError for the result of an op.
NEAP_API Tensor requires_grad_(Tensor tensor, bool value = true,
                               CallSite site = CallSite::here());

/// Puts a gradient in place (undefined: removes it).
/// THROWS: GraphError unless a leaf that requires grad; ShapeError, DTypeError.
NEAP_API void set_grad(const Tensor& tensor, Tensor grad);

/// Removes the gradients of some tensors, giving their bytes back.
NEAP_API void zero_grad(std::span<const Tensor> tensors) noexcept;

}  // namespace neap
