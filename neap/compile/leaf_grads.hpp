// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// LeafGrads: the gradients that a run leaves to leaves. Each lies in a block
// that belongs to the leaf, as after an eager backward: where the leaf's old
// one is held by nobody else it is written over, or added to in place, and a
// settled loop allocates nothing.
#pragma once

#include "neap/compile/plan.hpp"
#include "neap/graph/vertex.hpp"

namespace neap::compiler {

class NEAP_API LeafGrads {
 public:
  /// LIFETIME: of both, beyond this. THROWS: OutOfMemory.
  LeafGrads(const Program& program, const Plan& plan);

  /// Makes ahead the blocks of the first run that the leaves have not. THROWS:
  /// OutOfMemory, and it is as if nothing had been asked.
  void reserve();
  /// The gradient that a leaf has when a run begins, as the run may use it: a
  /// copy where it is added to in place and somebody else holds it, too.
  /// THROWS: OutOfMemory.
  static Tensor entry(const LeafGrad& grad);
  /// Finds memory for the gradients of the coming run; nobody sees any of it
  /// yet. REQUIRES: the program's externals have what entry() gave.
  /// THROWS: OutOfMemory, and it is as if nothing had been asked.
  void acquire();
  /// The storage of an own block; nullptr where it is none of these.
  tensor::Storage* own_block(std::size_t index) const noexcept;
  /// True where the run works in a block that a leaf's gradient lies in.
  bool is_in_place(const Buffer& buffer) const noexcept;
  /// Gives the leaves what was acquired.
  void give() noexcept;
  /// Releases what was acquired.
  void abandon() noexcept;

 private:
  struct Slot {
    graph::Leaf* leaf = nullptr;  // the program holds it
    std::size_t grad = 0;         // of Program::grads
    std::uint32_t own_block = kNone;
    bool may_reuse = false;  // the leaf's old gradient
    bool is_reused = false;
    Tensor next;  // acquired
  };
  static constexpr std::uint32_t kNone = ~0U;
  Tensor make(const Slot& slot) const;
  const Buffer& buffer_of(ValueId value) const noexcept;
  Tensor reusable(const Slot& slot) const;
  void acquire(Slot& slot) const;

  const Program& program_;
  const Plan& plan_;
  memory::Vector<Slot> slots_;
  memory::Vector<std::uint32_t> slot_of_block_;  // the first; kNone: none
};

}  // namespace neap::compiler
