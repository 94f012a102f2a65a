// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "neap/base/raise.hpp"
#include "neap/base/version.hpp"
#include "neap/train/checkpoint.hpp"
#include "neap/train/checkpoint_keys.hpp"

namespace neap::train {
namespace {

using formats::Metadata;
using formats::NamedTensor;

void check_names(const ParameterList& tensors) {
  const auto check = [](std::string_view name) {
    if (name.starts_with(kOptimizerPrefix)) {
      base::raise<NameError>(
          "checkpoint: the model's \"{}\" would be taken for the optimizer's, "
          "give it another name",
          name);
    }
  };
  for (const Parameter& parameter : tensors) {
    check(parameter.name);
    for (const memory::String& alias : parameter.aliases) {
      check(alias);
    }
  }
}

// What the optimizer updates must be there to be updated.
void check_parameters(const ParameterList& tensors,
                      const optim::Optimizer& optimizer) {
  memory::Vector<const void*> known;
  for (const Parameter& parameter : tensors) {
    known.push_back(parameter.tensor.link().get());
  }
  std::ranges::sort(known);
  for (const Parameter& parameter : optimizer.parameters()) {
    const void* link = parameter.tensor.link().get();
    if (!std::ranges::binary_search(known, link)) {
      base::raise<ValueError>(
          "checkpoint: the optimizer's \"{}\" is no parameter of the model",
          std::string_view(parameter.name));
    }
  }
}

void add(Metadata& metadata, std::string_view key, memory::String value) {
  metadata.push_back({memory::String(key), std::move(value)});
}

void add_figures(const Checkpoint& checkpoint,
                 const optim::OptimizerState& state, Metadata& metadata) {
  const auto [step, epoch, batch] = checkpoint.position;
  add(metadata, kCheckpointKey, memory::String(kCheckpointVersion));
  add(metadata, "neap.version", memory::String(version()));
  add(metadata, kStepKey, text_of("{}", step));
  add(metadata, kEpochKey, text_of("{}", epoch));
  add(metadata, kBatchKey, text_of("{}", batch));
  add(metadata, kSeedKey, text_of("{}", checkpoint.generator.state().seed));
  add(metadata, kDrawKey, text_of("{}", checkpoint.generator.state().draw));
  add(metadata, kOptimizerStepsKey, text_of("{}", state.step_count));
  for (std::size_t group = 0; group < state.rates.size(); ++group) {
    add(metadata, text_of("{}{}", kRatePrefix, group),
        text_of("{}", state.rates[group]));
    add(metadata, text_of("{}{}", kGroupPrefix, group),
        text_of("{}", checkpoint.optimizer.describe(static_cast<int>(group))));
  }
  for (const formats::MetadataItem& fact : checkpoint.facts) {
    add(metadata, text_of("{}{}", kFactPrefix, std::string_view(fact.key)),
        fact.value);
  }
}

}  // namespace

Result<void> Checkpoint::save(const std::string& path, files::Door& door,
                              CallSite site) const {
  const ParameterList tensors = tensors_of(model);
  check_names(tensors);
  check_parameters(tensors, optimizer);
  const optim::OptimizerState state = optimizer.state();
  const ParameterList& updated = optimizer.parameters();
  memory::Vector<NamedTensor> named;
  Metadata metadata;
  name_tensors(tensors, named, metadata);
  add_figures(*this, state, metadata);
  memory::Vector<memory::String> names;  // what `named` refers to
  names.reserve(state.slots.size() * state.names.size());
  for (std::size_t i = 0; i < state.slots.size(); ++i) {
    const optim::OptimizerState::Slot& slot = state.slots[i];
    add(metadata,
        text_of("{}{}", kUpdatesPrefix, std::string_view(updated[i].name)),
        text_of("{}", slot.steps));
    for (std::size_t k = 0; slot.is_used() && k < slot.tensor_count; ++k) {
      names.push_back(state_name(state.names[k], updated[i].name));
      named.push_back({names.back(), slot.tensors[k]});
    }
  }
  return formats::write_safetensors(door, path, named, metadata, site);
}

}  // namespace neap::train
