// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "neap/base/append.hpp"
#include "neap/base/raise.hpp"
#include "neap/base/version.hpp"
#include "neap/train/checkpoint.hpp"
#include "neap/train/checkpoint_keys.hpp"
#include "neap/train/optimizer_names.hpp"

namespace neap::train {
namespace {

using formats::Metadata;
using formats::NamedTensor;

constexpr std::size_t kLongestFigure = 32;  // characters

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

// Tensors that the optimizer updates must be parameters of the model, those
// that are averaged its tensors.
ParameterNames checked_names(const ParameterList& tensors,
                             const ParameterList& of, const char* whose,
                             const char* what) {
  ParameterNames names = names_in_model(tensors, of);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) {
      base::raise<ValueError>("checkpoint: the {} \"{}\" is no {} of the model",
                              whose, std::string_view(of[i].name), what);
    }
  }
  return names;
}

void add(Metadata& metadata, std::string_view key, memory::String value) {
  metadata.push_back({memory::String(key), std::move(value)});
}

// In as much memory whatever it is, so that every save of a run takes the same.
template <class T>
memory::String figure_of(const T& value) {
  memory::String out;
  out.reserve(kLongestFigure);
  base::append(out, "{}", value);
  return out;
}

void add_figures(const Checkpoint& checkpoint,
                 const optim::OptimizerState& state, Metadata& metadata) {
  const auto [step, epoch, batch] = checkpoint.position;
  if (step < 0 || epoch < 0 || batch < 0) {
    base::raise<ValueError>(
        "checkpoint: step {}, epoch {}, batch {}, expected numbers from 0 on",
        step, epoch, batch);
  }
  add(metadata, kCheckpointKey, memory::String(kCheckpointVersion));
  add(metadata, "neap.version", memory::String(version()));
  add(metadata, kStepKey, figure_of(step));
  add(metadata, kEpochKey, figure_of(epoch));
  add(metadata, kBatchKey, figure_of(batch));
  add(metadata, kSeedKey, figure_of(checkpoint.generator.key().seed));
  add(metadata, kDrawKey, figure_of(checkpoint.generator.key().draw));
  add(metadata, kOptimizerStepsKey, figure_of(state.step_count));
  for (std::size_t group = 0; group < state.rates.size(); ++group) {
    add(metadata, text_of("{}{}", kRatePrefix, group),
        figure_of(state.rates[group]));
    add(metadata, text_of("{}{}", kGroupPrefix, group),
        text_of("{}", checkpoint.optimizer.describe(static_cast<int>(group))));
  }
  if (checkpoint.plateau != nullptr) {
    const optim::PlateauState& plateau = checkpoint.plateau->state();
    add(metadata, kBestKey, figure_of(plateau.best));
    add(metadata, kBadKey, figure_of(plateau.bad));
    add(metadata, kCoolingKey, figure_of(plateau.cooling));
  }
  for (const formats::MetadataItem& fact : checkpoint.facts) {
    add(metadata, text_of("{}{}", kFactPrefix, std::string_view(fact.key)),
        fact.value);
  }
}

// Tensors and metadata that the file is to hold.
class Content {
 public:
  // `is_rehearsal`: with all of the optimizer's state, made and used or not.
  Content(const Checkpoint& checkpoint, bool is_rehearsal)
      : tensors_(tensors_of(checkpoint.model)),
        state_(checkpoint.optimizer.state()) {
    check_names(tensors_);
    const ParameterNames updated =
        checked_names(tensors_, checkpoint.optimizer.parameters(),
                      "optimizer's", "parameter");
    name_tensors(tensors_, named_, metadata_);
    add_figures(checkpoint, state_, metadata_);
    const optim::Ema* average = checkpoint.average;
    names_.reserve(state_.slots.size() * state_.names.size() +
                   (average == nullptr ? 0 : average->averages().size()));
    for (std::size_t i = 0; i < state_.slots.size(); ++i) {
      add_slot(checkpoint.optimizer, i, updated[i], is_rehearsal);
    }
    if (average != nullptr) {
      add_averages(*average);
    }
  }

  std::span<const NamedTensor> named() const noexcept { return named_; }
  // Bytes of the largest tensor that a save looks at in a copy.
  Bytes largest_away() const noexcept {
    Bytes largest = 0;
    for (const NamedTensor& one : named_) {
      const tensor::Storage& storage = *one.tensor.array()->storage();
      largest = std::max(largest, storage.is_away() ? storage.size() : 0);
    }
    return largest;
  }
  const Metadata& metadata() const noexcept { return metadata_; }

 private:
  void add_slot(const optim::Optimizer& optimizer, std::size_t index,
                std::string_view name, bool is_rehearsal) {
    const optim::OptimizerState::Slot& slot = state_.slots[index];
    add(metadata_, text_of("{}{}", kUpdatesPrefix, name),
        figure_of(slot.steps));
    const std::size_t count =
        slot.is_used() || is_rehearsal ? slot.tensor_count : 0;
    for (std::size_t k = 0; k < count; ++k) {
      names_.push_back(state_name(state_.names[k], name));
      named_.push_back({names_.back(), slot.is_used()
                                           ? slot.tensors[k]
                                           : stand_in(optimizer, index, k)});
    }
  }

  // A tensor as large as the state that is to come: the parameter, or zeros.
  static Tensor stand_in(const optim::Optimizer& optimizer, std::size_t index,
                         std::size_t k) {
    const Tensor& parameter = optimizer.parameters()[index].tensor;
    return optimizer.state_shape(index, k) == parameter.shape()
               ? parameter
               : optimizer.new_state(index, k);
  }

  void add_averages(const optim::Ema& average) {
    if (average.is_swapped()) {
      base::raise<ValueError>(
          "checkpoint: the averages are in the places of the model's tensors; "
          "swap() them back first");
    }
    const ParameterNames names =
        checked_names(tensors_, average.tensors(), "averaged", "tensor");
    add(metadata_, kAverageUpdatesKey, figure_of(average.update_count()));
    for (std::size_t i = 0; i < names.size(); ++i) {
      names_.push_back(state_name(kAverage, names[i]));
      named_.push_back({names_.back(), average.averages()[i].tensor});
    }
  }

  ParameterList tensors_;
  optim::OptimizerState state_;
  memory::Vector<NamedTensor> named_;
  Metadata metadata_;
  memory::Vector<memory::String> names_;  // what `named_` refers to
};

}  // namespace

Result<void> Checkpoint::save(const std::string& path, files::Door& door,
                              CallSite site) const {
  const Content content(*this, false);
  return formats::write_safetensors(door, path, content.named(),
                                    content.metadata(), site);
}

void Checkpoint::rehearse_save() const {
  const Content content(*this, true);
  formats::rehearse_safetensors(
      content.named(), content.metadata(),
      std::max(content.largest_away(), optimizer.largest_state_away()));
}

}  // namespace neap::train
