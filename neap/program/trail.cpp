// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/trail.hpp"

#include <algorithm>
#include <functional>

#include "neap/graph/vertex.hpp"
#include "neap/program/hash.hpp"
#include "neap/program/pool_bytes.hpp"
#include "neap/program/program.hpp"

namespace neap::compiler {
namespace {

using tensor::Storage;

const Storage* storage_of(const Tensor& tensor) noexcept {
  const base::Ref<tensor::Body>& body = tensor.shared();
  return body && body->array() ? body->array()->storage().get() : nullptr;
}

// An object that the program holds, or that its guards compare: no other one
// has the address meanwhile.
template <class T>
std::uint64_t address_of(const T* object) noexcept {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(object));
}

// A tensor of before, as an exit: its place is its way's.
std::uint64_t digest_of_outside(const tensor::Layout& layout) noexcept {
  Hash hash;
  hash.add(Origin::kExternal);
  hash.add(layout);
  return hash.get();
}

bool is_before(const Exit& a, const Exit& b) noexcept {
  return std::less<>()(a.handle, b.handle);
}

class Follower {
 public:
  explicit Follower(const Program& program)
      : program_(program),
        numbers_(program.values.size()),
        ways_(program.externals.size()) {
    std::uint32_t made = 0;
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      const Value& value = program.values[i];
      numbers_[i] = value.origin == Origin::kCall       ? made++
                    : value.origin == Origin::kArgument ? value.index
                                                        : 0;
    }
    find_ways();
  }

  Trail follow() {
    Trail out;
    out.calls.reserve(program_.calls.size());
    out.ends.reserve(program_.calls.size());
    for (const Call& call : program_.calls) {
      out.calls.push_back(digest_of(call, out.ways));
      out.ends.push_back(static_cast<std::uint32_t>(out.ways.size()));
    }
    add_exits(out);
    out.end = digest_of_end(out.end_ways);
    add_reads(out);
    return out;
  }

 private:
  void find_ways() {
    for (std::size_t i = 0; i < ways_.size(); ++i) {
      const External& external = program_.externals[i];
      if (!external.is_constant) {
        ways_[i].storage = external.tensor.array()->storage().get();
      }
    }
    for (const LeafGrad& grad : program_.grads) {
      if (grad.entry != kNoValue) {
        ways_[program_[grad.entry].index] = {.leaf = grad.leaf.get()};
      }
    }
    for (const ReboundHandle& handle : program_.rebound_handles) {
      if (handle.external != ReboundHandle::kNone) {
        ways_[handle.external] = {.handle = handle.handle};
      }
    }
  }

  // The value that has its storage from the beginning.
  const Value& root_of(const Value& value) const {
    const Value* at = &value;
    while (at->over != kNoValue) {
      at = &program_[at->over];
    }
    return *at;
  }

  // An operand of a call: which value, and the way to a tensor of before.
  void add(const Operand& operand, Hash& hash,
           memory::Vector<Way>& ways) const {
    hash.add(operand.value == kNoValue);
    if (operand.value == kNoValue) {
      return;
    }
    const Value& value = program_[operand.value];
    const Value& root = root_of(value);
    hash.add(operand.layout);
    hash.add(value.origin);
    hash.add(numbers_[operand.value.value]);
    hash.add(root.origin);
    if (root.origin != Origin::kExternal) {
      hash.add(root.origin == Origin::kArgument ? root.index : 0);
      return;
    }
    const External& external = program_.externals[root.index];
    hash.add(external.is_constant);
    if (!external.is_constant) {
      ways.push_back(ways_[root.index]);
    } else if (&root == &value) {
      add_elements(*external.tensor.array()->storage(), hash);
    }
  }

  static void add_elements(const Storage& storage, Hash& hash) {
    if (storage.has_elements() && storage.space() == memory::kHost) {
      hash.add(storage.data(), static_cast<std::size_t>(storage.size()));
    }
  }

  std::uint64_t digest_of(const Call& call, memory::Vector<Way>& ways) const {
    Hash hash;
    hash.add(call.name.data(), call.name.size());
    hash.add(call.kind);
    for (const Operand& operand : program_.in(call)) {
      add(operand, hash, ways);
    }
    for (const Operand& operand : program_.out(call)) {
      add(operand, hash, ways);
    }
    add_attrs(call, hash);
    return hash.get();
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

  // A tensor that is left to somebody: one of before is that tensor, whatever
  // was written there.
  void add_left(const Operand& operand, Hash& hash,
                memory::Vector<Way>& ways) const {
    const Value* root =
        operand.value != kNoValue ? &root_of(program_[operand.value]) : nullptr;
    if (root != nullptr && root->origin == Origin::kExternal &&
        !program_.externals[root->index].is_constant) {
      hash.add(digest_of_outside(operand.layout));
      ways.push_back(ways_[root->index]);
      return;
    }
    add(operand, hash, ways);
  }

  // A tensor of before is in whatever scope it is in.
  static ResultScope scope_of(const Result& result) noexcept {
    return result.shared == SharedWith::kNothing ? result.scope
                                                 : ResultScope::kCallers;
  }

  void add_exits(Trail& out) {
    is_exit_.assign(program_.results.size(), 0);
    memory::Vector<Way> ways;
    for (const ReboundHandle& handle : program_.rebound_handles) {
      Exit exit{.handle = handle.handle};
      if (handle.result != ReboundHandle::kNone) {
        const Result& result = program_.results[handle.result];
        is_exit_[handle.result] = 1;
        Hash hash;
        ways.clear();
        add_left(result.operand, hash, ways);
        exit.way = ways.empty() ? Way{} : ways.front();
        hash.add(exit.way.is_none() ? scope_of(result) : ResultScope::kCallers);
        exit.digest = hash.get();
      }
      out.exits.push_back(exit);
    }
    std::sort(out.exits.begin(), out.exits.end(), is_before);
  }

  std::uint64_t digest_of_end(memory::Vector<Way>& ways) const {
    Hash hash;
    for (std::size_t i = 0; i < program_.results.size(); ++i) {
      if (i < program_.handed || is_exit_[i] == 0) {
        add_left(program_.results[i].operand, hash, ways);
        hash.add(scope_of(program_.results[i]));
      }
    }
    for (const LeafGrad& grad : program_.grads) {
      hash.add(address_of(grad.leaf.get()));
      hash.add(grad.is_set);
      add_left(grad.last, hash, ways);
    }
    for (const LeafMode& leaf : program_.leaves) {
      hash.add(address_of(leaf.leaf.get()));
      hash.add(leaf.is_set && leaf.set_to);
    }
    hash.add(program_.draws);
    return hash.get();
  }

  void add_reads(Trail& out) const {
    for (const ReboundHandle& handle : program_.rebound_handles) {
      if (handle.is_read) {
        out.read.push_back(handle.handle);
      }
    }
    for (const HeldHandle& handle : program_.held_handles) {
      out.read.push_back(handle.handle);
    }
    std::sort(out.read.begin(), out.read.end(), std::less<>());
  }

  const Program& program_;
  memory::Vector<std::uint32_t> numbers_;  // of values, by their origin
  memory::Vector<Way> ways_;               // of externals; constants have none
  memory::Vector<std::uint8_t> is_exit_;   // of results: of a handle
};

bool lead_to_one(const Way& a, const Way& b) {
  return a.now() == b.now();
}

bool lead_to_one(std::span<const Way> a, std::span<const Way> b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const Way& one, const Way& other) { return lead_to_one(one, other); });
}

std::span<const Way> ways_of(const Trail& trail, std::size_t call) {
  const std::size_t first = call == 0 ? 0 : trail.ends[call - 1];
  return std::span(trail.ways).subspan(first, trail.ends[call] - first);
}

// The tensor that a handle means after a run, where the step may not have
// assigned to it.
Exit exit_at(std::span<const Exit> exits, const Tensor& handle) {
  const Exit wanted{.handle = &handle};
  const auto found =
      std::lower_bound(exits.begin(), exits.end(), wanted, is_before);
  if (found != exits.end() && found->handle == &handle) {
    return *found;
  }
  Exit out = wanted;
  if (storage_of(handle) != nullptr) {
    Hash hash;
    hash.add(digest_of_outside(handle.shared()->array()->layout()));
    hash.add(ResultScope::kCallers);
    out.digest = hash.get();
    out.way.handle = &handle;
  }
  return out;
}

bool are_exits_equal(const Trail& now, const Trail& known) {
  const auto is_one = [&](const Exit& exit) {
    const Exit a = exit_at(now.exits, *exit.handle);
    const Exit b = exit_at(known.exits, *exit.handle);
    return a.digest == b.digest && lead_to_one(a.way, b.way);
  };
  return std::all_of(now.exits.begin(), now.exits.end(), is_one) &&
         std::all_of(known.exits.begin(), known.exits.end(), is_one);
}

bool assigns(const Trail& trail, const Tensor* handle) {
  return std::binary_search(trail.exits.begin(), trail.exits.end(),
                            Exit{.handle = handle}, is_before);
}

// A trace reads all handles of one tensor as soon as it reads one; and one that
// it assigns to where it gets the tensor that it has.
bool are_covered(const Trail& now, const Trail& known) {
  return std::all_of(now.read.begin(), now.read.end(), [&](const Tensor* read) {
    return assigns(known, read) ||
           std::any_of(
               known.read.begin(), known.read.end(), [&](const Tensor* other) {
                 return other == read ||
                        (read->shared() && other->shared() == read->shared());
               });
  });
}

}  // namespace

const Storage* Way::now() const {
  if (handle != nullptr) {
    return storage_of(*handle);
  }
  return leaf != nullptr
             ? storage_of(static_cast<const graph::Leaf&>(*leaf).grad())
             : storage;
}

Trail trail_of(const Program& program) {
  return Follower(program).follow();
}

Difference difference(const Trail& now, const Trail& known) {
  using What = Difference::What;
  const std::size_t calls = std::min(now.calls.size(), known.calls.size());
  for (std::size_t i = 0; i < calls; ++i) {
    if (now.calls[i] != known.calls[i]) {
      return {What::kCall, i};
    }
    if (!lead_to_one(ways_of(now, i), ways_of(known, i))) {
      return {What::kOperand, i};
    }
  }
  if (now.calls.size() != known.calls.size()) {
    return {What::kCall, calls};
  }
  if (now.end != known.end || !lead_to_one(now.end_ways, known.end_ways) ||
      !are_exits_equal(now, known)) {
    return {What::kEnd};
  }
  return {are_covered(now, known) ? What::kNone : What::kHandles};
}

Bytes bytes_of(const Trail& trail) noexcept {
  return pool_bytes(trail.calls, trail.ends, trail.ways, trail.end_ways,
                    trail.exits, trail.read);
}

}  // namespace neap::compiler
