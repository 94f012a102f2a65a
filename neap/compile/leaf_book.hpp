// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// LeafBook: the leaves that a step uses while it is traced, and what happens to
// their gradients. It knows how each was before, and puts the gradients back
// when the trace is over, whichever way it ends. For sources of this room.
#pragma once

#include <unordered_map>

#include "neap/base/function_ref.hpp"
#include "neap/compile/given_handles.hpp"
#include "neap/compile/traced_values.hpp"
#include "neap/graph/vertex.hpp"

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

  /// Whether it requires a gradient is about to be set.
  void on_mode_change(graph::Leaf& leaf);

  /// The gradients that the step leaves become values of the program; `own`
  /// gives a copy of one that lies in memory of somebody else's.
  void finish(Program& program, TracedValues& values, base::SiteId site,
              base::FunctionRef<Operand(const Tensor&)> own);
  /// Puts gradients and modes back.
  void restore() noexcept;
  /// Calls visit(ValueId) for each gradient at the entry that the step reads.
  /// REQUIRES: finish().
  template <class Visit>
  void visit_gradients(const Visit& visit) const {
    for (const Entry& entry : entries_) {
      if (entry.grad.entry != kNoValue) {
        visit(entry.grad.entry);
      }
    }
  }
  /// Tells the program of the leaves, in the order in which they were met, but
  /// for those that nothing else refers to any more: the step made them for
  /// itself. Also of the results that are their gradients.
  /// REQUIRES: finish(), restore().
  void write_to(Program& program, const GivenHandles& given);

 private:
  struct Entry {
    base::Ref<tensor::GraphLink> leaf;
    Tensor before;
    bool requires_grad = false;                    // when the step began
    bool is_mode_set = false;                      // by the step,
    bool set_to = false;                           // to this value in the end
    memory::Vector<base::Ref<graph::Hook>> hooks;  // when the step began
    bool is_touched = false;  // its gradient: `grad` says how
    LeafGrad grad;            // `leaf` is left out
    // Bodies of the gradients at the entry and at the end, to be compared.
    const tensor::Body* entry_body = nullptr;
    const tensor::Body* last_body = nullptr;
    graph::Leaf& get() const noexcept;
  };
  Entry& note(graph::Leaf& leaf);
  Entry& touch(graph::Leaf& leaf, bool is_read);

  bool is_restored_ = false;
  memory::Vector<Entry> entries_;
  std::unordered_map<
      const graph::Leaf*, std::size_t, std::hash<const void*>, std::equal_to<>,
      memory::Allocator<std::pair<const graph::Leaf* const, std::size_t>>>
      index_;
};

}  // namespace neap::compiler
