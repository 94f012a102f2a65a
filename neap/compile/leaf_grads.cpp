// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/leaf_grads.hpp"

#include <algorithm>
#include <utility>

#include "neap/memory/scope.hpp"

namespace neap::compile {
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
    : program_(program), plan_(plan) {
  memory::Vector<std::uint32_t> users(plan.lifetimes.own_blocks, 0);
  const auto own_block_of = [&](const Operand& operand) {
    if (operand.value == kNoValue) {
      return kNone;
    }
    const Buffer& buffer =
        plan.lifetimes
            .buffers[plan.lifetimes.buffer_of[operand.value.value].value];
    return buffer.where == Where::kOwn ? buffer.index : kNone;
  };
  const auto note_user = [&](std::uint32_t block) {
    if (block != kNone) {
      ++users[block];
    }
  };
  for (std::size_t g = 0; g < program.grads.size(); ++g) {
    const LeafGrad& grad = program.grads[g];
    if (grad.is_set) {
      slots_.push_back({.leaf = static_cast<graph::Leaf*>(grad.leaf.get()),
                        .grad = g,
                        .own_block = own_block_of(grad.last),
                        .next = {}});
      note_user(slots_.back().own_block);
    }
  }
  for (const Result& result : program.results) {
    note_user(own_block_of(result.operand));
  }
  for (Slot& slot : slots_) {
    slot.may_reuse = slot.own_block != kNone && users[slot.own_block] == 1;
  }
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
  const Buffer& buffer =
      plan_.lifetimes.buffers[plan_.lifetimes.buffer_of[last.value.value].value];
  base::Ref<Storage> storage;
  if (buffer.where == Where::kArgument) {
    storage = arguments[buffer.index].array()->storage();
  } else if (buffer.where == Where::kExternal) {
    storage = program_.externals[buffer.index].tensor.array()->storage();
  } else {
    for (const Slot& other : slots_) {
      if (other.own_block == slot.own_block && other.next.defined()) {
        storage = other.next.array()->storage();
      }
    }
  }
  if (!storage) {
    const memory::Tag tag{memory::Category::kGradients, value.spec.space,
                          value.owner, value.site};
    const tensor::Layout& layout = last.layout;
    if (layout.offset == 0 && tensor::is_contiguous(layout) &&
        tensor::extent_bytes(layout) == value.size) {
      return Tensor(Array::allocate(
          {layout.dtype, layout.shape, value.spec.space}, tag,
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
  for (const Slot& slot : slots_) {
    if (slot.own_block == index && slot.next.defined()) {
      return slot.next.array()->storage().get();
    }
  }
  return nullptr;
}

bool LeafGrads::is_in_place(std::size_t own_block) const noexcept {
  return std::any_of(slots_.begin(), slots_.end(), [&](const Slot& slot) {
    return slot.own_block == own_block && slot.is_reused;
  });
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

}  // namespace neap::compile
