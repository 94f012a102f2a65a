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
  return {value.category, value.spec.space, value.owner, value.site};
}

Tensor handle_of(const Result& result, const base::Ref<Array>& array) {
  if (result.scope == ResultScope::kNone) {
    const memory::OutsideScopes apart;
    return Tensor(array);
  }
  Tensor handle(array);
  if (result.scope == ResultScope::kCallersKept) {
    if (memory::Scope* current = memory::Scope::current()) {
      current->keep(handle);
    }
  }
  return handle;
}

}  // namespace

bool Results::Ground::is_free() const noexcept {
  return storage->references() == 1 + arrays.size() &&
         std::all_of(arrays.begin(), arrays.end(),
                     [](const auto& array) { return array->is_unique(); });
}

Results::Results(const Program& program, const Plan& plan)
    : program_(program),
      plan_(plan),
      home_of_block_(plan.lifetimes.own_blocks, kNone) {
  for (std::size_t i = 0; i < program.results.size(); ++i) {
    slots_.push_back({program.results[i].operand, i, {}});
  }
  const auto buffer_of = [&](const Slot& slot) {
    const ValueId value = slot.operand.value;
    return value != kNoValue ? plan.lifetimes.buffer_of[value.value]
                             : kNoBuffer;
  };
  std::stable_sort(slots_.begin(), slots_.end(),
                   [&](const Slot& a, const Slot& b) {
                     return buffer_of(a) < buffer_of(b);
                   });
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const BufferId buffer = buffer_of(slots_[i]);
    if (buffer == kNoBuffer) {
      continue;
    }
    if (homes_.empty() || homes_.back().buffer != buffer) {
      Home& home = homes_.emplace_back();
      home.buffer = buffer;
      home.first_slot = i;
      home.is_of_step =
          program[slots_[i].operand.value].origin == Origin::kCall &&
          plan.lifetimes.at(buffer).where != Where::kExternal;
      if (plan.lifetimes.at(buffer).where == Where::kOwn) {
        home_of_block_[plan.lifetimes.at(buffer).index] = homes_.size() - 1;
      }
      home.is_entry = std::any_of(
          program.grads.begin(), program.grads.end(),
          [&](const LeafGrad& grad) {
            return grad.entry != kNoValue &&
                   plan.lifetimes.buffer_of[grad.entry.value] == buffer;
          });
    }
    ++homes_.back().slot_count;
  }
}

Results::~Results() {
  revoke({});
}

bool Results::are_held() const noexcept {
  return std::any_of(homes_.begin(), homes_.end(), [&](const Home& home) {
    return plan_.lifetimes.at(home.buffer).where == Where::kArena &&
           home.grounds[0].storage && !home.grounds[0].is_free();
  });
}

Bytes Results::kept_bytes() const noexcept {
  Bytes sum = 0;
  for (const Home& home : homes_) {
    if (plan_.lifetimes.at(home.buffer).where == Where::kOwn) {
      for (const Ground& ground : home.grounds) {
        sum += ground.storage ? ground.storage->size() : 0;
      }
    }
  }
  return sum;
}

void Results::reserve(const Arenas& arenas, const LeafGrads& grads) {
  try {
    reserve_places(arenas);
    for (Home& home : homes_) {
      const Where where = plan_.lifetimes.at(home.buffer).where;
      const bool is_known = where != Where::kArgument && !home.is_entry;
      if (is_known && where != Where::kArena) {
        choose(home, arenas, grads, {});
      }
    }
  } catch (...) {
    abandon();
    throw;
  }
}

void Results::reserve_places(const Arenas& arenas) {
  for (Home& home : homes_) {
    if (plan_.lifetimes.at(home.buffer).where == Where::kArena &&
        !home.is_entry && !home.grounds[0].storage) {
      choose_in_arena(home, arenas);
      home.grounds[0] = std::exchange(home.fresh, {});
    }
  }
}

void Results::acquire(const Arenas& arenas, const LeafGrads& grads,
                      std::span<const Tensor> arguments) {
  try {
    for (Home& home : homes_) {
      const Ground& ground = choose(home, arenas, grads, arguments);
      for (std::size_t k = 0; k < home.slot_count; ++k) {
        Slot& slot = slots_[home.first_slot + k];
        slot.next = handle_of(program_.results[slot.result], ground.arrays[k]);
      }
    }
  } catch (...) {
    abandon();
    throw;
  }
}

Results::Ground& Results::choose(Home& home, const Arenas& arenas,
                                 const LeafGrads& grads,
                                 std::span<const Tensor> arguments) {
  const Buffer& buffer = plan_.lifetimes.at(home.buffer);
  base::Ref<Storage> storage;
  switch (buffer.where) {
    case Where::kArena:
      return choose_in_arena(home, arenas);
    case Where::kOwn:
      storage = base::Ref<Storage>::share(grads.own_block(buffer.index));
      if (!storage) {
        return choose_kept(home);
      }
      break;
    case Where::kArgument: {
      const Array& argument = *arguments[buffer.index].array();
      home.fresh = make_ground(home, argument.storage(), &argument.layout());
      return home.fresh;
    }
    case Where::kExternal:
      storage = program_.externals[buffer.index].tensor.array()->storage();
      if (!home.is_entry) {
        return choose_on(home, std::move(storage));
      }
      break;
  }
  if (home.fresh.storage != storage) {
    home.fresh = make_ground(home, std::move(storage));
  }
  return home.fresh;
}

// A storage that is there in every run.
Results::Ground& Results::choose_on(Home& home, base::Ref<Storage> storage) {
  Ground& last = home.grounds[0];
  const bool is_same =
      last.storage == storage &&
      std::all_of(last.arrays.begin(), last.arrays.end(),
                  [](const auto& array) { return array->is_unique(); });
  if (!is_same) {
    last = make_ground(home, std::move(storage));
  }
  return last;
}

Results::Ground& Results::choose_in_arena(Home& home, const Arenas& arenas) {
  const Value& value = value_of(home);
  std::byte* data = nullptr;
  if (value.size != 0) {
    data = arenas.address_of(plan_, home.buffer);
  }
  Ground& last = home.grounds[0];
  if (last.storage && last.is_free()) {
    if (last.address == data) {
      return last;
    }
    last = {};  // the arena has moved
  }
  memory::Domain& domain = memory::domain();
  const memory::Tag tag = tag_of(value);
  home.fresh = make_ground(
      home, domain.is_rehearsal()
                ? Storage::stand_in(value.size, {}, tag, domain)
                : Storage::borrow(data, value.size, {}, tag, domain));
  home.fresh.address = data;
  return home.fresh;
}

Results::Ground& Results::choose_kept(Home& home) {
  for (std::size_t k = 0; k < home.grounds.size(); ++k) {
    if (home.grounds[k].storage && home.grounds[k].is_free()) {
      home.chosen = k;
      return home.grounds[k];
    }
  }
  // The one of the last run may well be held until this one ends; the other
  // goes with its handles.
  const std::size_t other =
      home.grounds[home.chosen].storage ? 1 - home.chosen : home.chosen;
  const Value& value = value_of(home);
  home.grounds[other] = make_ground(
      home, Storage::allocate(value.size, tag_of(value), memory::domain()));
  home.chosen = other;
  return home.grounds[other];
}

// `seen`: how the caller sees the storage (an argument's); the program counts
// from its first element.
Results::Ground Results::make_ground(const Home& home,
                                     base::Ref<Storage> storage,
                                     const tensor::Layout* seen) const {
  Ground ground{std::move(storage), {}, nullptr};
  ground.arrays.reserve(home.slot_count);
  for (std::size_t k = 0; k < home.slot_count; ++k) {
    tensor::Layout layout = slots_[home.first_slot + k].operand.layout;
    if (seen != nullptr) {
      layout.offset +=
          seen->offset * size_of(seen->dtype) / size_of(layout.dtype);
    }
    ground.arrays.push_back(Array::make(ground.storage, layout));
  }
  if (seen == nullptr && home.is_of_step) {
    ground.storage->mark_of_step();
  }
  return ground;
}

Tensor& Results::next(std::size_t result) noexcept {
  return std::find_if(slots_.begin(), slots_.end(),
                      [&](const Slot& slot) { return slot.result == result; })
      ->next;
}

std::byte* Results::own_block(std::size_t index) const noexcept {
  const Home& home = homes_[home_of_block_[index]];
  return home.grounds[home.chosen].storage->data();
}

void Results::begin(base::SiteId site) noexcept {
  for (Home& home : homes_) {
    const bool is_arena =
        plan_.lifetimes.at(home.buffer).where == Where::kArena;
    if (is_arena && home.fresh.storage) {
      if (home.grounds[0].storage && !home.grounds[0].is_free()) {
        home.grounds[0].storage->revoke(site);
      }
      home.grounds[0] = std::move(home.fresh);
    }
    home.fresh = {};
  }
}

void Results::revoke(base::SiteId site) noexcept {
  for (Home& home : homes_) {
    Ground& last = home.grounds[0];
    if (plan_.lifetimes.at(home.buffer).where == Where::kArena &&
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
  for (Home& home : homes_) {
    home.fresh = {};
  }
}

}  // namespace neap::compiler
