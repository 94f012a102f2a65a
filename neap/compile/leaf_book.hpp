// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// LeafBook: the leaves that a step uses while it is traced, and what happens to
// their gradients. It knows how each was before, and puts the gradients back
// when the trace is over, whichever way it ends. For sources of this room.
#pragma once

#include <unordered_map>

#include "neap/compile/traced_values.hpp"

namespace neap::compiler {

class LeafBook {
 public:
  LeafBook();
  ~LeafBook() { restore(); }
  LeafBook(const LeafBook&) = delete;
  LeafBook& operator=(const LeafBook&) = delete;

  // All THROW: OutOfMemory, with nothing noted.

  /// An op is given the leaf.
  void on_use(graph::Leaf& leaf);
  /// Its gradient is read, or about to be replaced.
  void on_read(graph::Leaf& leaf);
  void on_change(graph::Leaf& leaf);

  /// The gradients that the step leaves become values of the program.
  void finish(Program& program, TracedValues& values, base::SiteId site);
  /// Puts the gradients back.
  void restore() noexcept;
  /// Tells the program of the leaves, in the order in which they were met, but
  /// for those that nothing else refers to any more: the step made them for
  /// itself. REQUIRES: finish(), restore().
  void write_to(Program& program) noexcept;

 private:
  struct Entry {
    base::Ref<tensor::GraphLink> leaf;
    Tensor before;
    bool requires_grad = false;  // when an op was given it
    bool is_used = false;        // by one
    bool is_touched = false;     // its gradient: `grad` says how
    LeafGrad grad;               // `leaf` is left out
    graph::Leaf& get() const noexcept;
  };
  Entry& note(graph::Leaf& leaf);
  Entry& touch(graph::Leaf& leaf, bool is_read);

  memory::Vector<Entry> entries_;
  std::unordered_map<
      const graph::Leaf*, std::size_t, std::hash<const void*>, std::equal_to<>,
      memory::Allocator<std::pair<const graph::Leaf* const, std::size_t>>>
      index_;
};

}  // namespace neap::compiler
