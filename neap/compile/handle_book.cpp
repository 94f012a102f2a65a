// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/handle_book.hpp"

#include <algorithm>
#include <utility>

namespace neap::compiler {
namespace {

const tensor::Storage* storage_of(const tensor::Array* array) noexcept {
  return array != nullptr ? array->storage().get() : nullptr;
}

}  // namespace

HandleBook::Entry* HandleBook::note(const Tensor& handle) {
  const auto found = entries_.find(&handle);
  if (found != entries_.end()) {
    return &found->second;
  }
  if (made_.contains(&handle)) {
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
  }
  return &entries_.emplace(&handle, std::move(entry)).first->second;
}

void HandleBook::on_read(const Tensor& handle) {
  Entry* entry = note(handle);
  if (entry != nullptr && handle.shared() == entry->body) {
    entry->is_read = true;
  }
}

void HandleBook::on_end(const Tensor& handle) noexcept {
  made_.erase(&handle);
  const auto found = entries_.find(&handle);
  if (found != entries_.end()) {
    // What it meant is let go of when the map is whole again.
    const Entry last = std::move(found->second);
    entries_.erase(found);
  }
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

// Whether the storage that the entry meant was met by another way, too, so that
// the program cannot take another one in its place.
bool HandleBook::is_shared(const Entry& entry,
                           const TracedValues& values) const {
  const tensor::Storage* storage = storage_of(entry.array.get());
  if (entry.link || values.is_met_otherwise(*storage, entry.body.get())) {
    return true;
  }
  return std::any_of(entries_.begin(), entries_.end(), [&](const auto& pair) {
    const Entry& other = pair.second;
    return &other != &entry && other.is_read &&
           storage_of(other.array.get()) == storage;
  });
}

// A handle may be moved from, and what it meant be read then.
bool HandleBook::is_read(const Entry& entry,
                         const TracedValues& values) noexcept {
  return entry.is_read ||
         (entry.array &&
          values.is_met_by(*entry.array->storage(), entry.body.get()));
}

void HandleBook::add_rebound(const Entry& entry, Program& program,
                             const TracedValues& values) const {
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
  const ValueId first = entry.array && rebound.is_read
                            ? values.entry_of(*entry.array->storage())
                            : kNoValue;
  if (first != kNoValue) {
    rebound.link = entry.link;
    rebound.is_fixed = is_shared(entry, values);
    if (rebound.is_fixed) {
      rebound.array = entry.array;
    } else {
      rebound.external = program[first].index;
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

void HandleBook::note_exits(
    base::FunctionRef<std::uint32_t(const Tensor&)> exit_of) {
  const memory::Vector<Entry*> all = in_order();
  exits_.reserve(all.size());
  for (Entry* entry : all) {
    const base::Ref<tensor::Body>& now = entry->handle->shared();
    entry->is_rebound = now != entry->body;
    if (entry->is_rebound && now && now->array()) {
      entry->result = exit_of(*entry->handle);
    }
  }
}

void HandleBook::restore() noexcept {
  for (auto& [address, entry] : entries_) {
    if (entry.handle->shared() != entry.body) {
      base::Ref<tensor::Body> body = entry.body;
      entry.handle->exchange_shared(body);
      if (exits_.size() < exits_.capacity()) {
        exits_.push_back(std::move(body));
      } else {
        entry.body = std::move(body);  // of a trace that failed
      }
    }
  }
  if (exits_.capacity() == 0) {
    // Handles may end as the entries do; the map is not looked at meanwhile.
    const Map gone = std::exchange(entries_, {});
  }
  exits_.clear();
}

void HandleBook::write_to(Program& program, const TracedValues& values) {
  const memory::Vector<Entry*> all = in_order();
  for (const Entry* entry : all) {
    stop_watching(*entry, program, values);
    if (entry->is_rebound) {
      add_rebound(*entry, program, values);
    } else if (is_read(*entry, values)) {
      program.held_handles.push_back(
          {entry->handle, entry->array, entry->link});
    }
  }
  entries_.clear();
}

}  // namespace neap::compiler
