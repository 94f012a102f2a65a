// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/handle_book.hpp"

#include <algorithm>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/memory/scope.hpp"

namespace neap::compiler {

using base::raise;

namespace {

const tensor::Storage* storage_of(const tensor::Array* array) noexcept {
  return array != nullptr ? array->storage().get() : nullptr;
}

template <class Handle>
std::uint32_t last_of(const memory::Vector<Handle>& handles) noexcept {
  return static_cast<std::uint32_t>(handles.size() - 1);
}

// The result is the tensor of the handle. Where it is that of several, nobody
// knows which one the step took: they must go on to share it.
void share(Program& program, Result* result, const HandlePlace& handle) {
  if (result == nullptr) {
    return;
  }
  if (result->shared == SharedWith::kNothing) {
    result->shared = handle.is_rebound ? SharedWith::kReboundHandle
                                       : SharedWith::kHeldHandle;
    result->index = handle.index;
    return;
  }
  const bool is_rebound = result->shared == SharedWith::kReboundHandle;
  program.twins.push_back({{is_rebound, result->index}, handle});
}

// Handles that meant one storage must go on to.
void find_partners(Program& program) {
  memory::Vector<std::uint32_t> first(program.externals.size(),
                                      ReboundHandle::kNone);
  for (std::uint32_t i = 0; i < program.rebound_handles.size(); ++i) {
    ReboundHandle& handle = program.rebound_handles[i];
    if (handle.external == ReboundHandle::kNone) {
      continue;
    }
    handle.partner = std::exchange(first[handle.external], i);
  }
}

}  // namespace

HandleBook::Entry* HandleBook::note(const Tensor& handle) {
  const auto found = entries_.find(&handle);
  if (found != entries_.end()) {
    return &found->second;
  }
  if (made_.contains(&handle) || blank_.contains(&handle) ||
      is_spared(handle)) {
    return nullptr;
  }
  const base::Ref<tensor::Body>& body = handle.shared();
  Entry entry{.handle = const_cast<Tensor*>(&handle),  // NOLINT: to restore
              .body = body,
              .array = nullptr,
              .link = nullptr,
              .order = ++touched_};
  if (body) {
    entry.array = body->array();
    entry.link = body->link();
    entry.output = body->output();
    entry.home = memory::Scope::home_of(*body);
  }
  return &entries_.emplace(&handle, std::move(entry)).first->second;
}

bool HandleBook::has_moved(const Entry& entry) noexcept {
  return entry.array && entry.body->array() &&
         memory::Scope::home_of(*entry.body) != entry.home;
}

// A handle that was assigned to and means its first tensor again has it from
// the step: it was read when it was copied, or is when it was moved.
void HandleBook::on_read(const Tensor& handle) {
  Entry* entry = note(handle);
  const tensor::Body* body = handle.shared().get();
  if (entry != nullptr && !entry->is_assigned && body == entry->body.get()) {
    entry->is_read = true;
  } else if (body != nullptr && !body->is_of_trace()) {
    asked_.insert(body);
  }
}

void HandleBook::on_begin(const Tensor& handle) {
  (handle.shared() ? made_ : blank_).insert(&handle);
}

void HandleBook::on_place_asked(const Tensor& handle) {
  const tensor::Body* body = handle.shared().get();
  if (body != nullptr && !body->is_of_trace()) {
    placed_.insert(body);
  }
}

void HandleBook::on_revoke(tensor::Body& body) {
  revoked_.push_back(
      {base::Ref<tensor::Body>::share(&body), body.array(), body.link()});
}

void HandleBook::on_change(const Tensor& handle) {
  if (blank_.contains(&handle)) {
    made_.insert(&handle);
    blank_.erase(&handle);
  }
  if (Entry* entry = note(handle)) {
    entry->is_assigned = true;
  }
}

// A handle that is read later is found by its body, unless it is undefined.
void HandleBook::on_taken(const Tensor& handle) {
  if (Entry* entry = note(handle)) {
    const bool is_own = handle.shared() == entry->body;
    entry->is_assigned = true;
    entry->is_taken = entry->is_taken || is_own;
    entry->is_read = entry->is_read || (!entry->array && is_own);
  }
}

bool HandleBook::is_spared(const Tensor& handle) const noexcept {
  return std::any_of(spares_.begin(), spares_.end(), [&](const Spare& known) {
    return known.handle == &handle;
  });
}

void HandleBook::spare(const Tensor& handle) noexcept {
  if (spare_count_ < spares_.size() && !made_.contains(&handle) &&
      !entries_.contains(&handle) && !is_spared(handle)) {
    auto* own = const_cast<Tensor*>(&handle);  // NOLINT: to restore
    spares_[spare_count_++] = {own, handle.shared()};
  }
}

void HandleBook::on_alias_asked(const Tensor& a, const Tensor& b) {
  const tensor::Body* one = a.shared().get();
  const tensor::Body* other = b.shared().get();
  if (!one->is_of_trace() && !other->is_of_trace()) {
    compared_.insert(one);
    compared_.insert(other);
  }
}

void HandleBook::on_scope_asked(const memory::ScopeMember& member) {
  members_.insert(&member);
}

void HandleBook::on_filled(const Tensor& handle) {
  blank_.erase(&handle);
  if (!entries_.contains(&handle)) {
    filled_.insert(&handle);
  }
}

bool HandleBook::on_end(const Tensor& handle) noexcept {
  for (std::size_t i = 0; i < spare_count_; ++i) {
    if (spares_[i].handle == &handle) {
      spares_[i] = {};
    }
  }
  if (made_.erase(&handle) + blank_.erase(&handle) + filled_.erase(&handle) !=
      0) {
    entries_.erase(&handle);
    return false;
  }
  base::Ref<tensor::Body> before = handle.shared();
  const auto found = entries_.find(&handle);
  if (found != entries_.end()) {
    // The entry's body and array are released when the map is whole again.
    const Entry last = std::move(found->second);
    entries_.erase(found);
    before = last.body;
  }
  return before && before->array() && !before->is_of_trace();
}

memory::Vector<HandleBook::Entry*> HandleBook::in_order() {
  memory::Vector<Entry*> all;
  all.reserve(entries_.size());
  for (auto& [address, entry] : entries_) {
    all.push_back(&entry);
  }
  std::sort(all.begin(), all.end(),
            [](const Entry* a, const Entry* b) { return a->order < b->order; });
  return all;
}

// A handle may be moved from, and what it meant be read then.
bool HandleBook::is_read(const Entry& entry,
                         const TracedValues& values) const noexcept {
  return entry.is_read ||
         (entry.is_taken &&
          (asked_.contains(entry.body.get()) ||
           (entry.array &&
            values.is_met_by(*entry.array->storage(), entry.body.get()))));
}

// Storages that rebound handles mean at the entry and that the program cannot
// take others in place of: something besides rebound handles leads there, too.
HandleBook::Set<const tensor::Storage*> HandleBook::find_fixed(
    const Program& program, const TracedValues& values,
    const LeafBook& leaves) const {
  Set<const tensor::Body*> rebound;
  for (const auto& [address, entry] : entries_) {
    if (entry.is_rebound && entry.body) {
      rebound.insert(entry.body.get());
    }
  }
  const auto is_rebound = [&](const tensor::Body* body) {
    return rebound.contains(body);
  };
  Set<const tensor::Storage*> fixed;
  for (const auto& [address, entry] : entries_) {
    if (entry.array && is_read(entry, values) &&
        (!entry.is_rebound || entry.link ||
         compared_.contains(entry.body.get()) ||
         values.is_met_otherwise(*entry.array->storage(), is_rebound))) {
      fixed.insert(storage_of(entry.array.get()));
    }
  }
  leaves.visit_gradients([&](ValueId gradient) {
    const External& external = program.externals[program[gradient].index];
    fixed.insert(external.tensor.array()->storage().get());
  });
  return fixed;
}

void HandleBook::add_rebound(const Entry& entry, Program& program,
                             const TracedValues& values, bool is_fixed) const {
  ReboundHandle rebound{.handle = entry.handle,
                        .is_read = is_read(entry, values),
                        .was_defined = static_cast<bool>(entry.array),
                        .array = nullptr,
                        .link = nullptr,
                        .spec = {},
                        .layout = {},
                        .result = entry.result};
  if (entry.array) {
    rebound.spec = entry.array->spec();
    rebound.layout = entry.array->layout();
  }
  if (entry.array && rebound.is_read && is_fixed) {
    rebound.is_fixed = true;
    rebound.array = entry.array;
    rebound.link = entry.link;
  } else if (entry.array && rebound.is_read) {
    const ValueId first = values.entry_of(*entry.array->storage());
    if (first != kNoValue) {
      rebound.external = program[first].index;
    }
    rebound.is_placed = first != kNoValue || placed_.contains(entry.body.get());
    if (rebound.is_placed) {
      rebound.link = entry.link;
    }
  }
  program.rebound_handles.push_back(std::move(rebound));
}

// The handle object says more than who else holds its body.
void HandleBook::stop_watching(const Entry& entry, Program& program,
                               const TracedValues& values) noexcept {
  const ValueId first =
      entry.array ? values.entry_of(*entry.array->storage()) : kNoValue;
  if (first == kNoValue) {
    return;
  }
  External& external = program.externals[program[first].index];
  if (external.met.shared() == entry.body) {
    external.is_watched = false;
    external.met = Tensor();
  }
}

// Bodies that several handles had: one that is assigned to another means the
// same, for once.
HandleBook::Set<const tensor::Body*> HandleBook::find_shared() const {
  Set<const tensor::Body*> seen;
  Set<const tensor::Body*> shared;
  for (const auto& [address, entry] : entries_) {
    if (entry.body && !seen.insert(entry.body.get()).second) {
      shared.insert(entry.body.get());
    }
  }
  return shared;
}

void HandleBook::note_exits(
    base::FunctionRef<std::uint32_t(const Tensor&)> exit_of) {
  const memory::Vector<Entry*> all = in_order();
  exits_.reserve(all.size());
  const Set<const tensor::Body*> shared = find_shared();
  for (Entry* entry : all) {
    if (has_moved(*entry)) {
      raise<TraceError>(
          "scope: the step moves a tensor that existed before it into a scope "
          "or out of one, which a run would not repeat; do it outside");
    }
    const base::Ref<tensor::Body>& now = entry->handle->shared();
    if (entry->array && entry->body->array() &&
        entry->body->link() != entry->link) {
      raise<TraceError>(
          "requires_grad_: the step makes a leaf of a tensor that existed "
          "before it, which a run would not repeat; do it outside");
    }
    entry->is_rebound =
        now != entry->body ||
        (entry->is_assigned && shared.contains(entry->body.get()));
    if (entry->is_rebound && members_.contains(entry->body.get())) {
      raise<TraceError>(
          "scope: the step keeps, moves or releases the tensor of a handle "
          "that it then assigns to, which depends on the scope that the tensor "
          "is of at each call; do it outside");
    }
    if (entry->is_rebound && now && now->array()) {
      entry->result = exit_of(*entry->handle);
    }
  }
}

// The scope that released a body takes it in again where it is the current one.
// No other does, which would release it too early.
void HandleBook::revive(Revoked& revoked) noexcept {
  tensor::Body& body = *revoked.body;
  if (body.array()) {
    return;
  }
  const memory::Scope* current = memory::Scope::innermost();
  const bool is_back =
      current != nullptr && current->opened_at() == body.revoked_by();
  const memory::ContextGuard guard(
      [&](memory::Context& c) { c.scope = is_back ? c.scope : nullptr; });
  body.revive(std::move(revoked.array), std::move(revoked.link));
}

void HandleBook::restore() noexcept {
  for (Revoked& revoked : revoked_) {
    revive(revoked);
  }
  for (Spare& spare : spares_) {
    if (spare.handle != nullptr) {
      std::exchange(spare.handle, nullptr)->exchange_shared(spare.body);
    }
  }
  for (auto& [address, entry] : entries_) {
    if (entry.array && entry.body->array() &&
        entry.body->link() != entry.link) {
      entry.body->set_link(entry.link, entry.output);
    }
    const bool is_away = has_moved(entry);
    if (entry.handle->shared() != entry.body) {
      base::Ref<tensor::Body> body = entry.body;
      entry.handle->exchange_shared(body);
      if (exits_.size() < exits_.capacity()) {
        exits_.push_back(std::move(body));
      } else {
        entry.body = std::move(body);  // of a trace that failed
      }
    }
    if (is_away) {
      memory::Scope::put_back(*entry.handle->shared(), entry.home);
    }
  }
  if (exits_.capacity() == 0) {
    // Handles may end as the entries do; the map is not looked at meanwhile.
    const Map gone = std::exchange(entries_, {});
  }
  exits_.clear();
}

void HandleBook::write_to(Program& program, const TracedValues& values,
                          const LeafBook& leaves, const GivenHandles& given) {
  const memory::Vector<Entry*> all = in_order();
  const auto fixed = find_fixed(program, values, leaves);
  for (const Entry* entry : all) {
    const bool is_entry_read = is_read(*entry, values);
    if (is_entry_read) {
      stop_watching(*entry, program, values);
    }
    if (!entry->is_rebound && !entry->is_assigned && !is_entry_read) {
      continue;
    }
    if (entry->is_rebound) {
      add_rebound(*entry, program, values,
                  fixed.contains(storage_of(entry->array.get())));
    } else {
      program.held_handles.push_back({entry->handle, entry->array, entry->link,
                                      members_.contains(entry->body.get()),
                                      entry->home});
    }
    if (is_entry_read) {
      share(program, given.find(program, entry->body.get()),
            entry->is_rebound
                ? HandlePlace{true, last_of(program.rebound_handles)}
                : HandlePlace{false, last_of(program.held_handles)});
    }
  }
  find_partners(program);
  entries_.clear();
}

}  // namespace neap::compiler
