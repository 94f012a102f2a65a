// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/leaf_grads.hpp"

#include <utility>

#include "neap/memory/scope.hpp"
#include "neap/program/dataflow.hpp"

namespace neap::compiler {
namespace {

using tensor::Array;
using tensor::Storage;

// Two handles, the leaf's and this one, and nothing else means the elements.
bool is_leafs_alone(const Tensor& grad) {
  const auto* body = static_cast<const tensor::Body*>(grad.identity());
  const Array& array = *grad.array();
  return body->references() == 2 && array.is_unique() &&
         array.storage()->is_unique() && !array.storage()->is_lent() &&
         !array.has_tangents();
}

}  // namespace

LeafGrads::LeafGrads(const Program& program, const Plan& plan)
    : program_(program),
      plan_(plan),
      slot_of_block_(plan.lifetimes.own_blocks, kNone) {
  memory::Vector<std::uint32_t> users(plan.lifetimes.own_blocks, 0);
  const auto use = [&](const Operand& operand) {
    if (operand.value == kNoValue ||
        buffer_of(operand.value).where != Where::kOwn) {
      return kNone;
    }
    ++users[buffer_of(operand.value).index];
    return buffer_of(operand.value).index;
  };
  for (std::size_t g = 0; g < program.grads.size(); ++g) {
    const LeafGrad& grad = program.grads[g];
    if (!grad.is_set) {
      continue;
    }
    const std::uint32_t block = use(grad.last);
    if (block != kNone && slot_of_block_[block] == kNone) {
      slot_of_block_[block] = static_cast<std::uint32_t>(slots_.size());
    }
    slots_.push_back({.leaf = static_cast<graph::Leaf*>(grad.leaf.get()),
                      .grad = g,
                      .own_block = block,
                      .next = {}});
  }
  for (const Result& result : program.results) {
    use(result.operand);
  }
  for (Slot& slot : slots_) {
    slot.may_reuse = slot.own_block != kNone && users[slot.own_block] == 1;
  }
}

const Buffer& LeafGrads::buffer_of(ValueId value) const noexcept {
  return plan_.lifetimes.at(value);
}

bool LeafGrads::reuse(Slot& slot) const {
  const LeafGrad& grad = program_.grads[slot.grad];
  if (!slot.may_reuse || (grad.is_read && grad.was_defined)) {
    return false;  // the old one is needed beside the new one
  }
  Tensor old = slot.leaf->grad();
  if (!old.defined() || !is_leafs_alone(old) ||
      old.array()->layout() != grad.last.layout ||
      old.space() != program_[grad.last.value].spec.space ||
      old.array()->storage()->size() < program_[grad.last.value].size) {
    return false;
  }
  slot.next = std::move(old);
  slot.is_reused = true;
  return true;
}

Tensor LeafGrads::make(const Slot& slot,
                       std::span<const Tensor> arguments) const {
  const Operand& last = program_.grads[slot.grad].last;
  const Value& value = program_[last.value];
  const Buffer& buffer = buffer_of(last.value);
  base::Ref<Storage> storage;
  if (buffer.where == Where::kArgument) {
    storage = arguments[buffer.index].array()->storage();
  } else if (buffer.where == Where::kExternal) {
    storage = program_.externals[buffer.index].tensor.array()->storage();
  } else if (const Tensor& first = slots_[slot_of_block_[buffer.index]].next;
             first.defined()) {
    storage = first.array()->storage();
  }
  if (!storage) {
    const memory::Tag tag{memory::Category::kGradients, value.spec.space,
                          value.owner, value.site};
    const tensor::Layout& layout = last.layout;
    if (is_whole(layout, value.size)) {
      return Tensor(
          Array::allocate({layout.dtype, layout.shape, value.spec.space}, tag,
                          memory::domain()));
    }
    storage = Storage::allocate(value.size, tag, memory::domain());
  }
  return Tensor(Array::make(std::move(storage), last.layout));
}

void LeafGrads::acquire(std::span<const Tensor> arguments) {
  const memory::OutsideScopes apart;
  try {
    for (Slot& slot : slots_) {
      slot.is_reused = false;
      if (program_.grads[slot.grad].last.value != kNoValue && !reuse(slot)) {
        slot.next = make(slot, arguments);
      }
    }
  } catch (...) {
    abandon();
    throw;
  }
}

Storage* LeafGrads::own_block(std::size_t index) const noexcept {
  const std::uint32_t slot = slot_of_block_[index];
  return slot != kNone ? slots_[slot].next.array()->storage().get() : nullptr;
}

bool LeafGrads::is_in_place(std::size_t own_block) const noexcept {
  const std::uint32_t slot = slot_of_block_[own_block];
  return slot != kNone && slots_[slot].is_reused;
}

void LeafGrads::give() noexcept {
  for (Slot& slot : slots_) {
    if (slot.is_reused) {
      slot.next = Tensor();  // it is there
    } else {
      slot.leaf->set_grad(std::move(slot.next));
    }
  }
}

void LeafGrads::abandon() noexcept {
  for (Slot& slot : slots_) {
    slot.next = Tensor();
  }
}

}  // namespace neap::compiler
