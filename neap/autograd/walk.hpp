// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Walk: one pass of reverse mode over the part of the tape that some roots
// reach. It collects that part, checks it before anything is touched, and runs
// the vjp rules from the latest recorded call to the earliest, so that the
// cotangents of one value always add in the same (traced) order. Nothing
// recurses; its bookkeeping is two lists, proportional to what is
// walked. Kept references end node by node, as the walk passes.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>

#include "neap/graph/rules.hpp"
#include "neap/memory/containers.hpp"

namespace neap::autograd {

/// A vertex's owner where the current domain is its own: owners are numbered by
/// domain, elsewhere than at home a vertex has none.
memory::OwnerId owner_here(const graph::Vertex& vertex) noexcept;

class Walk {
 public:
  struct Options {
    bool retain_graph = false;
    bool create_graph = false;  // record the rules' own ops; retains the graph
    bool accumulate = false;    // what targets are given is for commit()
  };

  /// Collects what the roots (tensors that require grad) reach, all of it (for
  /// the gradients of leaves), or only what was recorded after the earliest of
  /// `targets` (leaves, or results of recorded ops) and leads to one, whose
  /// cotangents take_target() then gives, or commit() adds up. What is
  /// collected is claimed: no other walk may enter it. THROWS: GraphError when
  /// a part is retired, belongs to another walk, or needs a value that was
  /// overwritten, or when no leaf wants a gradient, with nothing changed;
  /// OutOfMemory.
  Walk(std::span<const Tensor> roots, const Options& options,
       base::SiteId site);
  Walk(std::span<const Tensor> roots, std::span<const Tensor> targets,
       const Options& options, base::SiteId site);

  /// Whether the roots depend on the i-th target.
  bool reaches(std::size_t i) const noexcept { return targets_[i].reached; }

  /// Gives a root its cotangent. Several add up.
  void seed(const Tensor& root, Tensor cotangent);

  /// Runs all rules. THROWS: whatever a rule or a hook throws; unless
  /// retain_graph, the walked part is then consumed all the same.
  void run();

  /// The cotangent of the i-th target; undefined when nothing flowed there.
  Tensor take_target(std::size_t i) noexcept;

  /// Adds the staged cotangents to the gradients of leaves and of results that
  /// keep theirs. Everything that can fail comes first: THROWS with no gradient
  /// changed, but for what hooks throw that are called afterwards.
  void commit();

 private:
  struct Step {
    base::Ref<tensor::GraphLink> link;  // a Node; null once passed
    std::uint32_t first_slot = 0;
    bool leads_to_target = false;  // run its rule
    graph::Node& node() const noexcept {
      return static_cast<graph::Node&>(*link);
    }
  };
  // Nodes that are claimed, until they are consumed or this ends.
  struct Claimed {
    memory::Vector<Step> steps;  // latest first
    Claimed() = default;
    Claimed(const Claimed&) = delete;
    Claimed& operator=(const Claimed&) = delete;
    ~Claimed() { let_go(); }
    void let_go() noexcept;
  };
  struct Sink {
    base::Ref<tensor::GraphLink> link;  // a Leaf
    Tensor cotangent;
    bool is_target = false;
    bool is_committed = false;  // its gradient is in place
    graph::Leaf& leaf() const noexcept {
      return static_cast<graph::Leaf&>(*link);
    }
  };
  struct Target {
    bool is_leaf = false;
    std::uint32_t index = 0;  // of a sink, or a slot
    bool reached = false;     // by the roots
  };
  struct Place {
    Tensor* slot = nullptr;  // null: not walked
    bool is_wanted = false;  // its cotangent
  };
  // A result that keeps its gradient.
  struct Kept {
    base::Ref<tensor::GraphLink> link;  // a Node
    std::uint32_t output = 0;
    Tensor cotangent;
  };
  class Accumulation;

  void collect(std::span<const Tensor> roots);
  void visit(const base::Ref<tensor::GraphLink>& link);
  void order();
  void aim_at(std::span<const Tensor> targets);
  void spread_needs();
  void check_wanted() const;
  void leave_what_leads_nowhere() noexcept;
  Place place_of(const graph::Edge& edge) noexcept;
  std::optional<std::uint32_t> index_of(
      const graph::Vertex* vertex) const noexcept;
  std::optional<std::uint32_t> sink_of(
      const graph::Vertex* vertex) const noexcept;
  void accumulate(Tensor& slot, Tensor cotangent) const;
  void pass(Step& step);
  void run_hooks(Step& step);
  void run_leaf_hooks();
  void run_rule(Step& step);
  void run_rule(Step& step, std::span<Tensor> results,
                std::span<std::uint8_t> wanted, std::span<Tensor*> sums);
  void consume_rest(std::size_t from) noexcept;
  Tensor sum_of(const graph::Vertex& vertex, Tensor staged,
                const Tensor& old) const;

  Options options_;
  base::SiteId site_;
  bool is_aimed_ = false;    // at targets
  std::uint64_t floor_ = 0;  // what was recorded before is not entered
  Claimed claimed_;
  memory::Vector<Sink> sinks_;  // in the order they were found
  // The position of each sink, once they are many.
  std::unordered_map<
      const graph::Vertex*, std::uint32_t, std::hash<const void*>,
      std::equal_to<>,
      memory::Allocator<std::pair<const graph::Vertex* const, std::uint32_t>>>
      sink_index_;
  memory::Vector<Tensor> slots_;           // cotangents of the nodes' outputs
  memory::Vector<std::uint8_t> is_asked_;  // slots whose cotangent stays
  memory::Vector<Target> targets_;
  memory::Vector<Kept> kept_;
};

}  // namespace neap::autograd
