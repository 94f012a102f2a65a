// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/results.hpp"

#include <algorithm>
#include <utility>

#include "neap/memory/scope.hpp"

namespace neap::compiler {
namespace {

using tensor::Array;
using tensor::Storage;

memory::Tag tag_of(const Value& value) {
  return {value.spec->category, value.spec->space, value.spec->owner,
          value.site};
}

Tensor handle_of(const Result& result, const base::Ref<Array>& array) {
  if (result.scope == ResultScope::kNone) {
    const memory::OutsideScopes apart;
    return Tensor(array);
  }
  Tensor handle(array);
  if (result.scope == ResultScope::kCallersKept) {
    if (memory::Scope* current = memory::Scope::innermost()) {
      current->keep(handle);
    }
  }
  return handle;
}

}  // namespace

bool Results::BackingStorage::is_free() const noexcept {
  return storage->references() == 1 + arrays.size() &&
         std::all_of(arrays.begin(), arrays.end(),
                     [](const auto& array) { return array->is_unique(); });
}

Results::Results(const Program& program, const Plan& plan)
    : program_(program),
      plan_(plan),
      buffer_of_block_(plan.lifetimes.own_blocks, kNone) {
  for (std::size_t i = 0; i < program.results.size(); ++i) {
    if (program.results[i].shared == SharedWith::kNothing) {
      slots_.push_back({program.results[i].operand, i, {}});
    }
  }
  const auto buffer_of = [&](const Slot& slot) {
    const ValueId value = slot.operand.value;
    return value != kNoValue ? plan.lifetimes.buffer_of[value.value]
                             : kNoBuffer;
  };
  std::sort(slots_.begin(), slots_.end(), [&](const Slot& a, const Slot& b) {
    return std::pair(buffer_of(a), a.result) <
           std::pair(buffer_of(b), b.result);
  });
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const BufferId buffer = buffer_of(slots_[i]);
    if (buffer == kNoBuffer) {
      continue;
    }
    if (buffers_.empty() || buffers_.back().buffer != buffer) {
      OutputBuffer& output = buffers_.emplace_back();
      output.buffer = buffer;
      output.first_slot = i;
      output.is_of_step =
          program[slots_[i].operand.value].origin == Origin::kCall &&
          plan.lifetimes.at(buffer).where != Where::kExternal;
      if (plan.lifetimes.at(buffer).where == Where::kOwn) {
        buffer_of_block_[plan.lifetimes.at(buffer).index] = buffers_.size() - 1;
      }
      output.is_entry = std::any_of(
          program.grads.begin(), program.grads.end(),
          [&](const LeafGrad& grad) {
            return grad.entry != kNoValue &&
                   plan.lifetimes.buffer_of[grad.entry.value] == buffer;
          });
    }
    ++buffers_.back().slot_count;
  }
}

Results::~Results() {
  revoke({});
}

bool Results::are_held() const noexcept {
  return std::any_of(
      buffers_.begin(), buffers_.end(), [&](const OutputBuffer& output) {
        return plan_.lifetimes.at(output.buffer).where == Where::kArena &&
               output.backings[0].storage && !output.backings[0].is_free();
      });
}

Bytes Results::kept_bytes() const noexcept {
  Bytes sum = 0;
  for (const OutputBuffer& output : buffers_) {
    if (plan_.lifetimes.at(output.buffer).where == Where::kOwn) {
      for (const BackingStorage& backing : output.backings) {
        sum += backing.storage ? backing.storage->size() : 0;
      }
    }
  }
  return sum;
}

void Results::reserve(const Arenas& arenas, const LeafGrads& grads) {
  try {
    reserve_places(arenas);
    for (OutputBuffer& output : buffers_) {
      const Where where = plan_.lifetimes.at(output.buffer).where;
      const bool is_known = where != Where::kArgument && !output.is_entry;
      if (is_known && where != Where::kArena) {
        choose(output, arenas, grads, {});
      }
    }
  } catch (...) {
    abandon();
    throw;
  }
}

void Results::reserve_places(const Arenas& arenas) {
  for (OutputBuffer& output : buffers_) {
    if (plan_.lifetimes.at(output.buffer).where == Where::kArena &&
        !output.is_entry && !output.backings[0].storage) {
      choose_in_arena(output, arenas);
      output.backings[0] = std::exchange(output.fresh, {});
    }
  }
}

void Results::acquire(const Arenas& arenas, const LeafGrads& grads,
                      std::span<const Tensor> arguments) {
  try {
    for (OutputBuffer& output : buffers_) {
      const BackingStorage& backing = choose(output, arenas, grads, arguments);
      for (std::size_t k = 0; k < output.slot_count; ++k) {
        Slot& slot = slots_[output.first_slot + k];
        slot.next = handle_of(program_.results[slot.result], backing.arrays[k]);
      }
    }
  } catch (...) {
    abandon();
    throw;
  }
}

Results::BackingStorage& Results::choose(OutputBuffer& output,
                                         const Arenas& arenas,
                                         const LeafGrads& grads,
                                         std::span<const Tensor> arguments) {
  const Buffer& buffer = plan_.lifetimes.at(output.buffer);
  base::Ref<Storage> storage;
  switch (buffer.where) {
    case Where::kArena:
      return choose_in_arena(output, arenas);
    case Where::kOwn:
      storage = base::Ref<Storage>::share(grads.own_block(buffer.index));
      if (!storage) {
        return choose_kept(output);
      }
      break;
    case Where::kArgument: {
      const Array& argument = *arguments[buffer.index].array();
      output.fresh =
          make_backing(output, argument.storage(), &argument.layout());
      return output.fresh;
    }
    case Where::kExternal:
      storage = program_.externals[buffer.index].tensor.array()->storage();
      if (!output.is_entry) {
        return choose_on(output, std::move(storage));
      }
      break;
  }
  if (output.fresh.storage != storage) {
    output.fresh = make_backing(output, std::move(storage));
  }
  return output.fresh;
}

// A storage that is there in every run.
Results::BackingStorage& Results::choose_on(OutputBuffer& output,
                                            base::Ref<Storage> storage) {
  BackingStorage& last = output.backings[0];
  const bool is_same =
      last.storage == storage &&
      std::all_of(last.arrays.begin(), last.arrays.end(),
                  [](const auto& array) { return array->is_unique(); });
  if (!is_same) {
    last = make_backing(output, std::move(storage));
  }
  return last;
}

Results::BackingStorage& Results::choose_in_arena(OutputBuffer& output,
                                                  const Arenas& arenas) {
  const Value& value = value_of(output);
  std::byte* data = nullptr;
  if (value.spec->size != 0) {
    data = arenas.address_of(plan_, output.buffer);
  }
  BackingStorage& last = output.backings[0];
  if (last.storage && last.is_free()) {
    if (last.address == data) {
      return last;
    }
    last = {};  // the arena has moved
  }
  memory::Domain& domain = memory::domain();
  const memory::Tag tag = tag_of(value);
  output.fresh = make_backing(
      output, domain.is_rehearsal()
                  ? Storage::stand_in(value.spec->size, {}, tag, domain)
                  : Storage::borrow(data, value.spec->size, {}, tag, domain));
  output.fresh.address = data;
  return output.fresh;
}

Results::BackingStorage& Results::choose_kept(OutputBuffer& output) {
  for (std::size_t k = 0; k < output.backings.size(); ++k) {
    if (output.backings[k].storage && output.backings[k].is_free()) {
      output.chosen = k;
      return output.backings[k];
    }
  }
  // The one of the last run may well be held until this one ends; the other
  // goes with its handles.
  const std::size_t other = output.backings[output.chosen].storage
                                ? 1 - output.chosen
                                : output.chosen;
  const Value& value = value_of(output);
  output.backings[other] = make_backing(
      output,
      Storage::allocate(value.spec->size, tag_of(value), memory::domain()));
  output.chosen = other;
  return output.backings[other];
}

// `seen`: how the caller sees the storage (an argument's); the program counts
// from its first element.
Results::BackingStorage Results::make_backing(
    const OutputBuffer& output, base::Ref<Storage> storage,
    const tensor::Layout* seen) const {
  BackingStorage backing{std::move(storage), {}, nullptr};
  backing.arrays.reserve(output.slot_count);
  for (std::size_t k = 0; k < output.slot_count; ++k) {
    tensor::Layout layout = slots_[output.first_slot + k].operand.layout;
    if (seen != nullptr) {
      layout.offset +=
          seen->offset * size_of(seen->dtype) / size_of(layout.dtype);
    }
    backing.arrays.push_back(Array::make(backing.storage, layout));
  }
  if (seen == nullptr && output.is_of_step) {
    backing.storage->mark_of_step();
  }
  return backing;
}

Tensor& Results::next(std::size_t result) noexcept {
  return std::find_if(slots_.begin(), slots_.end(),
                      [&](const Slot& slot) { return slot.result == result; })
      ->next;
}

std::byte* Results::own_block(std::size_t index) const noexcept {
  const OutputBuffer& output = buffers_[buffer_of_block_[index]];
  return output.backings[output.chosen].storage->data();
}

void Results::begin(base::SiteId site) noexcept {
  for (OutputBuffer& output : buffers_) {
    const bool is_arena =
        plan_.lifetimes.at(output.buffer).where == Where::kArena;
    if (is_arena && output.fresh.storage) {
      if (output.backings[0].storage && !output.backings[0].is_free()) {
        output.backings[0].storage->revoke(site);
      }
      output.backings[0] = std::move(output.fresh);
    }
    output.fresh = {};
  }
}

void Results::revoke(base::SiteId site) noexcept {
  for (OutputBuffer& output : buffers_) {
    BackingStorage& last = output.backings[0];
    if (plan_.lifetimes.at(output.buffer).where == Where::kArena &&
        last.storage && !last.is_free()) {
      last.storage->revoke(site);
      last = {};
    }
  }
}

void Results::give(std::span<Tensor> out) noexcept {
  for (Slot& slot : slots_) {
    out[slot.result] = std::move(slot.next);
  }
}

void Results::abandon() noexcept {
  for (Slot& slot : slots_) {
    slot.next = Tensor();
  }
  for (OutputBuffer& output : buffers_) {
    output.fresh = {};
  }
}

}  // namespace neap::compiler
