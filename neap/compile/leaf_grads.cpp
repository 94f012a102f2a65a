// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/leaf_grads.hpp"

#include <algorithm>
#include <utility>

#include "neap/memory/scope.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/program/dataflow.hpp"

namespace neap::compiler {
namespace {

using tensor::Array;
using tensor::Storage;

// Two handles, the leaf's and this one, and nothing else means the elements.
bool is_leafs_alone(const Tensor& grad) {
  const auto* body = static_cast<const tensor::Body*>(grad.shared().get());
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

// The leaf's old gradient where it may be written over, or none.
Tensor LeafGrads::reusable(const Slot& slot) const {
  const LeafGrad& grad = program_.grads[slot.grad];
  if (!slot.may_reuse || (grad.is_read && grad.was_defined)) {
    return {};  // the old one is needed beside the new one
  }
  Tensor old = slot.leaf->grad();
  if (!old.defined() || !is_leafs_alone(old) ||
      old.array()->layout() != grad.last.layout ||
      old.space() != program_[grad.last.value].spec->space ||
      old.array()->storage()->size() < program_[grad.last.value].spec->size) {
    return {};
  }
  return old;
}

Tensor LeafGrads::entry(const LeafGrad& grad) {
  const auto& leaf = static_cast<const graph::Leaf&>(*grad.leaf);
  Tensor now = leaf.grad();
  if (!grad.is_accumulated ||
      (is_leafs_alone(now) &&
       is_whole(now.array()->layout(), now.array()->storage()->size()))) {
    return now;
  }
  const memory::OutsideScopes apart;
  const memory::ContextGuard guard([&](memory::Context& c) {
    const memory::Tag& tag = now.array()->storage()->tag();
    c.owner = tag.owner;
    c.site = tag.site;
    c.category = memory::Category::kGradients;
  });
  const NoGrad no_grad;
  return copy(now);
}

Tensor LeafGrads::make(const Slot& slot) const {
  const Operand& last = program_.grads[slot.grad].last;
  const Value& value = program_[last.value];
  const Buffer& buffer = buffer_of(last.value);
  base::Ref<Storage> storage;
  if (buffer.where == Where::kExternal) {
    storage = program_.externals[buffer.index].tensor.array()->storage();
  } else if (const Tensor& first = slots_[slot_of_block_[buffer.index]].next;
             first.defined()) {
    storage = first.array()->storage();
  }
  if (!storage) {
    const memory::Tag tag{memory::Category::kGradients, value.spec->space,
                          value.spec->owner, value.site};
    const tensor::Layout& layout = last.layout;
    if (is_whole(layout, value.spec->size)) {
      return Tensor(
          Array::allocate({layout.dtype, layout.shape, value.spec->space}, tag,
                          memory::domain()));
    }
    storage = Storage::allocate(value.spec->size, tag, memory::domain());
  }
  return Tensor(Array::make(std::move(storage), last.layout));
}

void LeafGrads::reserve() {
  const memory::OutsideScopes apart;
  try {
    for (Slot& slot : slots_) {
      if (slot.own_block != kNone && !slot.next.defined() &&
          !reusable(slot).defined()) {
        slot.next = make(slot);
      }
    }
  } catch (...) {
    abandon();
    throw;
  }
}

void LeafGrads::acquire() {
  const memory::OutsideScopes apart;
  try {
    for (Slot& slot : slots_) {
      if (program_.grads[slot.grad].last.value != kNoValue) {
        acquire(slot);
      }
    }
  } catch (...) {
    abandon();
    throw;
  }
}

void LeafGrads::acquire(Slot& slot) const {
  const LeafGrad& grad = program_.grads[slot.grad];
  if (grad.is_accumulated) {
    slot.next = program_.externals[program_[grad.entry].index].tensor;
    slot.is_reused =
        slot.next.shared().get() == slot.leaf->grad().shared().get();
    return;
  }
  Tensor old = reusable(slot);
  slot.is_reused = old.defined();
  if (slot.is_reused) {
    slot.next = std::move(old);
  } else if (!slot.next.defined()) {
    slot.next = make(slot);
  }
}

Storage* LeafGrads::own_block(std::size_t index) const noexcept {
  const std::uint32_t slot = slot_of_block_[index];
  return slot != kNone ? slots_[slot].next.array()->storage().get() : nullptr;
}

bool LeafGrads::is_in_place(const Buffer& buffer) const noexcept {
  return std::any_of(slots_.begin(), slots_.end(), [&](const Slot& slot) {
    const ValueId last = program_.grads[slot.grad].last.value;
    return slot.is_reused && last != kNoValue && &buffer_of(last) == &buffer;
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

}  // namespace neap::compiler
