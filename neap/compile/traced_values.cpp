// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/traced_values.hpp"

#include "neap/base/raise.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/scope.hpp"
#include "neap/tensor/creator.hpp"

namespace neap::compiler {
namespace {

using tensor::Absence;
using tensor::Storage;

// A handle that belongs to no scope and has no place on a graph.
Tensor own_handle(const Tensor& tensor) {
  const memory::OutsideScopes apart;
  return Tensor(tensor.array());
}

const Storage& storage_of(const Tensor& tensor) {
  return *tensor.array()->storage();
}

}  // namespace

TracedValues::TracedValues(Program& program, TraceNumber trace)
    : program_(program), domain_(memory::domain()), number_(trace) {}

Operand TracedValues::operand(const Tensor& tensor, std::string_view what,
                              base::SiteId site) {
  return {value_of(tensor, what, site),
          program_.keep(tensor.array()->layout())};
}

ValueId TracedValues::value_of(const Tensor& tensor, std::string_view what,
                               base::SiteId site) {
  const Storage& storage = storage_of(tensor);
  if (const StandIn* stand_in = StandIn::of(storage)) {
    if (stand_in->trace() != number_) {
      base::raise<TraceError>(
          "{}: at {} the tensor stands for a value of another trace, which has "
          "no elements; let that step return it",
          what, base::format_site(site));
    }
    return stand_in->value();
  }
  if (storage.absence() == Absence::kRevoked) {
    tensor::refuse_elements(storage, what, site);
  }
  Known& known = known_[&storage];
  if (known.first == kNoValue) {
    try {
      add_external(tensor, known);
    } catch (...) {
      if (!known.is_made) {
        known_.erase(&storage);
      }
      throw;
    }
  }
  note_body(tensor, known);
  return known.current;
}

// Views that the step makes of a tensor have bodies of the trace's own.
void TracedValues::note_body(const Tensor& tensor, Known& known) noexcept {
  const tensor::Body* body = tensor.shared().get();
  if (body->is_of_trace()) {
    return;
  }
  for (const tensor::Body*& place : known.bodies) {
    if (place == nullptr || place == body) {
      place = body;
      return;
    }
  }
  known.has_more_bodies = true;
}

bool TracedValues::is_met_by(const Storage& storage,
                             const tensor::Body* body) const noexcept {
  const auto found = known_.find(&storage);
  if (found == known_.end()) {
    return false;
  }
  const auto& bodies = found->second.bodies;
  return found->second.has_more_bodies ||
         std::find(bodies.begin(), bodies.end(), body) != bodies.end();
}

bool TracedValues::is_met_otherwise(
    const Storage& storage,
    base::FunctionRef<bool(const tensor::Body*)> is_known) const noexcept {
  const auto found = known_.find(&storage);
  if (found == known_.end()) {
    return false;
  }
  const auto& bodies = found->second.bodies;
  return found->second.has_more_bodies ||
         std::any_of(bodies.begin(), bodies.end(), [&](const auto* body) {
           return body != nullptr && !is_known(body);
         });
}

void TracedValues::add_external(const Tensor& tensor, Known& known) {
  const Storage& storage = storage_of(tensor);
  const memory::Tag& tag = storage.tag();
  const bool is_home = &storage.domain() == &domain_;
  program_.externals.push_back({.tensor = own_handle(tensor),
                                .is_constant = known.is_made,
                                .is_leaf = graph::leaf_of(tensor) != nullptr,
                                .is_watched = !known.is_made,
                                .met = known.is_made ? Tensor() : tensor});
  try {
    const auto index = program_.externals.size() - 1;
    known.first =
        program_.add({.spec = program_.keep(tensor.spec()),
                      .size = storage.size(),
                      .category = tag.category,
                      .owner = is_home ? tag.owner : memory::OwnerId{},
                      .site = tag.site,
                      .origin = Origin::kExternal,
                      .index = static_cast<std::uint32_t>(index),
                      .over = kNoValue});
  } catch (...) {
    program_.externals.pop_back();
    throw;
  }
  known.current = known.first;
}

Tensor TracedValues::add_argument(const tensor::Spec& spec,
                                  const tensor::Layout* layout,
                                  base::SiteId site) {
  const memory::Tag tag{.category = memory::Category::kInputs,
                        .space = spec.space,
                        .owner = {},
                        .site = site};
  const auto index = static_cast<std::uint32_t>(program_.arguments.size());
  program_.arguments.push_back(spec);
  if (layout != nullptr) {
    program_.gapped.push_back({index, *layout});
  }
  const ValueId value =
      program_.add({.spec = program_.keep(spec),
                    .size = layout != nullptr ? tensor::extent_bytes(*layout)
                                              : dense_bytes(spec),
                    .category = tag.category,
                    .owner = {},
                    .site = site,
                    .origin = Origin::kArgument,
                    .index = index,
                    .over = kNoValue});
  return StandIn::make(spec, layout, tag, number_, value, stand_ins_);
}

const StandIn* TracedValues::first_kept() const noexcept {
  const StandIn* at = stand_ins_.latest();
  while (at != nullptr && at->earlier() != nullptr) {
    at = at->earlier();
  }
  return at;
}

void TracedValues::add_made(const Tensor& tensor) {
  made_.push_back(own_handle(tensor));
  try {
    known_[&storage_of(tensor)].is_made = true;
  } catch (...) {
    made_.pop_back();
    throw;
  }
}

const TracedValues::Known* TracedValues::find(const Tensor& tensor) const {
  const auto found = known_.find(tensor.array()->storage().get());
  return found != known_.end() ? &found->second : nullptr;
}

bool TracedValues::is_made(const Tensor& tensor) const {
  const Known* known = find(tensor);
  return known != nullptr && known->is_made;
}

bool TracedValues::is_used(const Tensor& tensor) const {
  const Known* known = find(tensor);
  return known != nullptr && known->first != kNoValue;
}

bool TracedValues::is_written(const Tensor& tensor) const {
  const Known* known = find(tensor);
  return known != nullptr && known->first != known->current;
}

bool TracedValues::is_constant(const Tensor& tensor) const {
  return is_made(tensor) && !is_written(tensor);
}

void TracedValues::set_value(const Tensor& tensor, ValueId value,
                             bool is_copy) noexcept {
  const auto& storage = tensor.array()->storage();
  if (StandIn* stand_in = StandIn::of(*storage)) {
    stand_in->set_value(value);
    return;
  }
  Known& known = known_.find(storage.get())->second;
  known.current = value;
  if (!is_copy && !known.is_made) {
    program_.externals[program_[known.first].index].is_written = true;
  }
}

void TracedValues::count_write(const Tensor& tensor,
                               base::SiteId site) noexcept {
  const auto& storage = tensor.array()->storage();
  if (StandIn::of(*storage) != nullptr) {
    storage->bump_version(site);
    return;
  }
  graph::TracedWrites::Seen& writes = known_.find(storage.get())->second.writes;
  ++writes.count;
  writes.site = site;
}

graph::TracedWrites::Seen TracedValues::writes_to(
    const Storage& storage) const noexcept {
  const auto found = known_.find(&storage);
  return found != known_.end() ? found->second.writes
                               : graph::TracedWrites::Seen{};
}

ValueId TracedValues::entry_of(const Storage& storage) const noexcept {
  const auto found = known_.find(&storage);
  return found != known_.end() && !found->second.is_made ? found->second.first
                                                         : kNoValue;
}

}  // namespace neap::compiler
