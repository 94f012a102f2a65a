// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/digest.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <type_traits>

namespace neap::compiler {
namespace {

// Feeds one hash; nothing is allocated.
class Hash {
 public:
  void add(const void* data, std::size_t size) noexcept {
    state_ = XXH3_64bits_withSeed(data, size, state_);
  }
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void add(T value) noexcept { add(&value, sizeof(value)); }
  void add(const tensor::Layout& layout) noexcept {
    add(layout.dtype);
    add(layout.offset);
    for (int axis = 0; axis < layout.shape.rank(); ++axis) {
      add(layout.shape[axis]);
      add(layout.strides[axis]);
    }
  }
  std::uint64_t get() const noexcept { return state_; }

 private:
  std::uint64_t state_ = 0;
};

// An object that the program holds, or that its guards compare: no other one
// has the address meanwhile.
template <class T>
std::uint64_t address_of(const T* object) noexcept {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(object));
}

class Digester {
 public:
  explicit Digester(const Program& program)
      : program_(program), lasting_(program.externals.size()) {
    for (std::size_t i = 0; i < lasting_.size(); ++i) {
      const External& external = program.externals[i];
      lasting_[i] = external.is_constant
                        ? 0
                        : address_of(external.tensor.array()->storage().get());
    }
    for (const LeafGrad& grad : program.grads) {
      if (grad.entry != kNoValue) {
        lasting_[program[grad.entry].index] = address_of(grad.leaf.get());
      }
    }
    for (const ReboundHandle& handle : program.rebound_handles) {
      if (handle.external != ReboundHandle::kNone) {
        lasting_[handle.external] = 0;  // state_reads_of() has it
      }
    }
  }

  std::uint64_t of(const Call& call) const {
    Hash hash;
    hash.add(call.name.data(), call.name.size());
    hash.add(call.kind);
    for (const Operand& operand : program_.in(call)) {
      add(operand, hash);
    }
    for (const Operand& operand : program_.out(call)) {
      add(operand, hash);
    }
    add_attrs(call, hash);
    return hash.get();
  }

  std::uint64_t of_end() const {
    Hash hash;
    for (const Result& result : program_.results) {
      add(result.operand, hash);
      // A tensor of before is in whatever scope it is in.
      hash.add(result.shared == SharedWith::kNothing ? result.scope
                                                     : ResultScope::kCallers);
    }
    for (const ReboundHandle& handle : program_.rebound_handles) {
      hash.add(address_of(handle.handle));
      hash.add(handle.result);
    }
    for (const LeafGrad& grad : program_.grads) {
      hash.add(address_of(grad.leaf.get()));
      hash.add(grad.is_set);
      add(grad.last, hash);
    }
    for (const LeafMode& leaf : program_.leaves) {
      hash.add(address_of(leaf.leaf.get()));
      hash.add(leaf.is_set && leaf.set_to);
    }
    hash.add(program_.draws);
    return hash.get();
  }

 private:
  void add(const Operand& operand, Hash& hash) const {
    hash.add(operand.value.value);
    if (operand.value == kNoValue) {
      return;
    }
    hash.add(operand.layout);
    const Value& value = program_[operand.value];
    hash.add(value.origin);
    if (value.origin != Origin::kExternal) {
      return;
    }
    const External& external = program_.externals[value.index];
    if (!external.is_constant) {
      hash.add(lasting_[value.index]);
      return;
    }
    const tensor::Storage& storage = *external.tensor.array()->storage();
    if (storage.has_elements() && storage.space() == memory::kHost) {
      hash.add(storage.data(), static_cast<std::size_t>(storage.size()));
    }
  }

  // Attributes that own something are not compared: they hold addresses.
  void add_attrs(const Call& call, Hash& hash) const {
    const bool is_owned =
        call.op != nullptr &&
        (call.op->copy_attrs != nullptr || call.op->drop_attrs != nullptr);
    if (call.attrs_size != 0 && call.listener == nullptr && !is_owned) {
      hash.add(program_.attrs_of(call), call.attrs_size);
    }
  }

  const Program& program_;
  // The part of each external that is the same in every run; 0: nothing.
  memory::Vector<std::uint64_t> lasting_;
};

void add(const tensor::Spec& spec, Hash& hash) {
  hash.add(spec.dtype);
  hash.add(spec.shape.rank());
  for (int axis = 0; axis < spec.shape.rank(); ++axis) {
    hash.add(spec.shape[axis]);
  }
}

void add(std::span<const Operand> operands, Hash& hash) {
  hash.add(operands.size());
  for (const Operand& operand : operands) {
    hash.add(operand.value.value);
    if (operand.value != kNoValue) {
      hash.add(operand.layout->shape.rank());
      hash.add(operand.layout);
    }
  }
}

void add_values(const Program& program, Hash& hash) {
  hash.add(program.values.size());
  for (const Value& value : program.values) {
    add(*value.spec, hash);
    hash.add(value.spec->size);
    hash.add(value.origin);
    hash.add(value.over.value);
    if (value.origin == Origin::kExternal) {
      const External& external = program.externals[value.index];
      hash.add(external.is_written);
      hash.add(external.is_constant);
    }
  }
}

}  // namespace

std::uint64_t structure_digest(const Program& program) noexcept {
  Hash hash;
  hash.add(program.arguments.size());
  for (const tensor::Spec& spec : program.arguments) {
    add(spec, hash);
  }
  add_values(program, hash);
  hash.add(program.calls.size());
  for (const Call& call : program.calls) {
    hash.add(call.name.size());
    hash.add(call.name.data(), call.name.size());
    hash.add(call.kind);
    hash.add(call.space.value);
    add(program.in(call), hash);
    add(program.out(call), hash);
  }
  hash.add(program.results.size());
  for (const Result& result : program.results) {
    add(std::span(&result.operand, 1), hash);
    hash.add(result.is_kept);
  }
  hash.add(program.grads.size());
  for (const LeafGrad& grad : program.grads) {
    hash.add(grad.is_set);
    hash.add(grad.entry.value);
    add(std::span(&grad.last, 1), hash);
  }
  return hash.get();
}

memory::Vector<StateRead> state_reads_of(const Program& program) {
  memory::Vector<StateRead> out;
  out.reserve(program.rebound_handles.size() + program.held_handles.size());
  for (const ReboundHandle& handle : program.rebound_handles) {
    if (handle.is_read) {
      out.push_back({handle.handle, handle.external});
    }
  }
  for (const HeldHandle& handle : program.held_handles) {
    out.push_back({handle.handle});
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return std::less<>()(a.handle, b.handle);
  });
  return out;
}

bool are_covered(std::span<const StateRead> now,
                 std::span<const StateRead> known) {
  constexpr std::uint32_t kAny = ReboundHandle::kNone;
  const auto is_one = [&](const StateRead& a, const StateRead& b) {
    return a.external == kAny || b.external == kAny || a.external == b.external;
  };
  const auto knows = [&](const auto& is_it) {
    return std::any_of(known.begin(), known.end(), is_it);
  };
  return std::all_of(now.begin(), now.end(), [&](const StateRead& read) {
    const auto is_same = [&](const StateRead& other) {
      return other.handle == read.handle;
    };
    if (knows(is_same)) {
      return knows([&](const StateRead& other) {
        return is_same(other) && is_one(read, other);
      });
    }
    return knows([&](const StateRead& other) {
      return read.handle->shared() &&
             other.handle->shared() == read.handle->shared();
    });
  });
}

Digests digests_of(const Program& program) {
  const Digester digester(program);
  Digests out;
  out.reserve(program.calls.size() + 1);
  for (const Call& call : program.calls) {
    out.push_back(digester.of(call));
  }
  out.push_back(digester.of_end());
  return out;
}

}  // namespace neap::compiler
