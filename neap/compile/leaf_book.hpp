// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// LeafBook: what happens to leaves' gradients while a step is traced. It knows
// how each was before, and puts them back when the trace is over, whichever way
// it ends. For sources of this room.
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

  /// THROWS: OutOfMemory, with nothing noted.
  void on_read(graph::Leaf& leaf) { note(leaf, true); }
  void on_change(graph::Leaf& leaf);

  /// What the step leaves, in the order in which leaves were met.
  void write_to(Program& program, TracedValues& values, base::SiteId site);
  /// Puts the gradients back.
  void restore() noexcept;

 private:
  struct Entry {
    base::Ref<tensor::GraphLink> leaf;
    Tensor before;
    bool is_read = false;
    bool is_changed = false;
    graph::Leaf& get() const noexcept;
  };
  Entry& note(graph::Leaf& leaf, bool is_read);

  memory::Vector<Entry> entries_;
  std::unordered_map<
      const graph::Leaf*, std::size_t, std::hash<const void*>, std::equal_to<>,
      memory::Allocator<std::pair<const graph::Leaf* const, std::size_t>>>
      index_;
};

/// Drops what the program says of leaves that nothing else refers to: those
/// that the step made for itself.
void drop_lonely_leaves(Program& program) noexcept;

}  // namespace neap::compiler
