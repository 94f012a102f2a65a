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

// A value of this trace is in a handle that the step made: all that it assigned
// to is noted already.
bool HandleBook::is_made_by_step(const tensor::Body& body) const noexcept {
  const tensor::Storage* storage = storage_of(body.array().get());
  const StandIn* stand_in = storage != nullptr ? StandIn::of(*storage) : nullptr;
  return stand_in != nullptr && stand_in->trace() == trace_;
}

void HandleBook::note(const Tensor& handle) {
  if (entries_.find(&handle) != entries_.end()) {
    return;
  }
  const base::Ref<tensor::Body>& body = handle.shared();
  if (body && is_made_by_step(*body)) {
    return;
  }
  Entry entry{.handle = const_cast<Tensor*>(&handle),  // NOLINT: to restore
              .body = body,
              .array = nullptr,
              .link = nullptr,
              .order = ++touched_};
  if (body) {
    entry.array = body->array();
    entry.link = body->link();
  }
  entries_.emplace(&handle, std::move(entry));
}

void HandleBook::on_end(const Tensor& handle) noexcept {
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
  std::sort(all.begin(), all.end(), [](const Entry* a, const Entry* b) {
    return a->order < b->order;
  });
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
    return &other != &entry && storage_of(other.array.get()) == storage;
  });
}

void HandleBook::note_rebound(const Entry& entry, Program& program,
                              const TracedValues& values,
                              std::uint32_t result) const {
  ReboundHandle rebound{.handle = entry.handle,
                        .was_defined = static_cast<bool>(entry.array),
                        .array = nullptr,
                        .link = nullptr,
                        .spec = {},
                        .layout = {},
                        .result = result};
  if (entry.array) {
    rebound.spec = entry.array->spec();
    rebound.layout = entry.array->layout();
  }
  const ValueId first =
      entry.array ? values.entry_of(*entry.array->storage()) : kNoValue;
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

void HandleBook::finish(
    Program& program, const TracedValues& values,
    base::FunctionRef<std::uint32_t(const Tensor&)> exit_of) {
  const memory::Vector<Entry*> all = in_order();
  memory::Vector<std::uint32_t> results(all.size(), ReboundHandle::kNone);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const base::Ref<tensor::Body>& now = all[i]->handle->shared();
    if (now != all[i]->body && now && now->array()) {
      results[i] = exit_of(*all[i]->handle);
    }
  }
  // What one handle means in the end may be what another meant in the
  // beginning: only now is it known which of these the program reads.
  for (std::size_t i = 0; i < all.size(); ++i) {
    stop_watching(*all[i], program, values);
    if (all[i]->handle->shared() == all[i]->body) {
      program.held_handles.push_back(
          {all[i]->handle, all[i]->array, all[i]->link});
    } else {
      note_rebound(*all[i], program, values, results[i]);
    }
  }
}

void HandleBook::restore() noexcept {
  for (auto& [address, entry] : entries_) {
    if (entry.handle->shared() != entry.body) {
      entry.handle->exchange_shared(entry.body);
    }
  }
  // Handles may end as the entries do; the map is not looked at meanwhile.
  const Map gone = std::exchange(entries_, {});
}

}  // namespace neap::compiler
