// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/optimizer_state.hpp"

#include <algorithm>

#include "neap/base/raise.hpp"
#include "neap/memory/scope.hpp"
#include "neap/optim/check.hpp"
#include "neap/optim/elements.hpp"
#include "neap/optim/launch.hpp"
#include "neap/optim/optimizer.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/tensor/host_access.hpp"

namespace neap::optim {

using base::raise;

namespace {

// A tensor in the parameter's domain.
Tensor copy_of(const Tensor& given, const Tensor& parameter,
               const memory::Tag& tag) {
  Tensor copy = zeros_for(parameter, given.shape(), tag, tensor::executor());
  if (!is_rehearsed(copy)) {
    std::ranges::copy(bytes_of(given), bytes_of(copy).begin());
  }
  return copy;
}

// `is_touched`: the elements are needed in memory.
void check_elements(const Tensor& tensor, bool is_touched,
                    const CallSite& site) {
  if (is_rehearsed(tensor)) {
    return;
  }
  if (is_touched) {
    tensor::check_host_access(tensor, "set_state", site);
  } else {
    tensor::check_host_look(tensor, "set_state", site);
  }
}

void check_state_tensor(const Tensor& tensor, const Tensor& parameter,
                        const Shape& shape, std::string_view parameter_name,
                        std::string_view state_name) {
  if (tensor.shape() != shape) {
    raise<ShapeError>("set_state: {} of \"{}\" has shape {}, expected {}",
                      state_name, parameter_name, format_shape(tensor.shape()),
                      format_shape(shape));
  }
  if (tensor.dtype() != parameter.dtype()) {
    raise<DTypeError>("set_state: {} of \"{}\" is {}, expected {}", state_name,
                      parameter_name, name_of(tensor.dtype()),
                      name_of(parameter.dtype()));
  }
  if (!tensor.is_contiguous()) {
    raise<ShapeError>("set_state: {} of \"{}\" is a view with gaps", state_name,
                      parameter_name);
  }
}

// One and the same, so that nothing is to be moved.
bool is_own(const Tensor& given, const Tensor& own) {
  return given.defined() && own.defined() && given.array() == own.array();
}

// Its elements are copied; else it is taken over, or stays where it is.
bool is_copied(const Tensor& given, const Tensor& own) {
  return own.defined() ? !is_own(given, own) : !given.owns_alone();
}

bool is_whole_and_away(const Tensor& own) {
  return own.defined() && own.array()->storage()->is_away() &&
         tensor::is_whole(own);
}

}  // namespace

std::string Optimizer::describe(int group) const {
  check_group(group);
  return {};
}

OptimizerState Optimizer::state() const {
  check_not_read("state");
  OptimizerState out;
  out.step_count = step_count_;
  out.rates.reserve(groups_.size());
  for (int group = 0; group < group_count_; ++group) {
    out.rates.push_back(lr(group));
  }
  for (std::size_t k = 0; k < kMaxState; ++k) {
    out.names[k] = state_name(k);
  }
  out.slots.reserve(slots_.size());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    out.slots.push_back({.steps = slot.steps, .tensor_count = states_at(i)});
    if (slot.states_used >= out.slots.back().tensor_count) {
      for (std::size_t k = 0; k < out.slots.back().tensor_count; ++k) {
        out.slots.back().tensors[k] = slot.state[k];
      }
    }
  }
  return out;
}

OptimizerState Optimizer::zero_state(CallSite site) const {
  OptimizerState out = state();
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    for (std::size_t k = 0; k < out.slots[i].tensor_count; ++k) {
      out.slots[i].tensors[k] = new_state(i, k, site);
    }
    out.slots[i].steps = 0;
  }
  out.step_count = 0;
  return out;
}

OptimizerState Optimizer::state_in_place() const {
  OptimizerState out = state();
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    for (std::size_t k = 0; k < out.slots[i].tensor_count; ++k) {
      out.slots[i].tensors[k] = slots_[i].state[k];
    }
  }
  return out;
}

Tensor Optimizer::new_state(std::size_t index, std::size_t k,
                            CallSite site) const {
  const memory::Tag tag = state_tag(index, base::intern(site));
  return has_state_of(index)
             ? zeros_for(parameters_[index].tensor, state_shape(index, k), tag,
                         tensor::executor())
             : absent_state(index, k, tag);
}

void Optimizer::check_state(const OptimizerState& state,
                            const CallSite& site) const {
  if (state.slots.size() != slots_.size() ||
      state.rates.size() != groups_.size()) {
    raise<ValueError>(
        "set_state: of {} parameters in {} groups, the optimizer has {} in {}",
        state.slots.size(), state.rates.size(), slots_.size(), groups_.size());
  }
  if (state.step_count < 0) {
    raise<ValueError>("set_state: {} steps", state.step_count);
  }
  for (const double rate : state.rates) {
    check_lr(rate);
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const OptimizerState::Slot& from = state.slots[i];
    const std::string_view name = parameters_[i].name;
    const std::size_t count = states_at(i);
    if (from.steps < 0 || from.tensor_count != count) {
      raise<ValueError>(
          "set_state: \"{}\" with {} steps and {} tensors, expected {} tensors",
          name, from.steps, from.tensor_count, count);
    }
    for (std::size_t k = 0; from.is_used() && k < count; ++k) {
      check_state_tensor(from.tensors[k], parameters_[i].tensor,
                         state_shape(i, k), name, state_name(k));
      if (has_state_of(i)) {
        check_elements(from.tensors[k],
                       is_copied(from.tensors[k], slots_[i].state[k]), site);
      }
    }
    for (std::size_t k = 0; k < kMaxState; ++k) {
      const Tensor& own = slots_[i].state[k];
      const bool stays = from.is_used() && is_own(from.tensors[k], own);
      if (own.defined()) {
        check_elements(own, !stays && !tensor::is_whole(own), site);
      }
    }
  }
}

void Optimizer::put_slot(Slot& slot, const OptimizerState::Slot& from,
                         base::SiteId site) noexcept {
  slot.steps = from.steps;
  slot.states_used = from.is_used() ? from.tensor_count : 0;
  for (std::size_t k = 0; k < kMaxState; ++k) {
    Tensor& own = slot.state[k];
    const Tensor& given = from.tensors[k];
    const bool is_given = k < slot.states_used;
    if (!own.defined()) {
      own = is_given ? given : Tensor();
      continue;
    }
    if (is_rehearsed(own) || (is_given && is_own(given, own))) {
      continue;
    }
    // A program may hold the address of what is there.
    if (is_given && bytes_of(given).data() != bytes_of(own).data()) {
      std::ranges::copy(bytes_of(given), bytes_of(own).begin());
    } else if (!is_given && !own.array()->storage()->is_away()) {
      std::ranges::fill(bytes_of(own), std::byte{0});
    }
    own.array()->storage()->bump_version(site);
  }
}

// Tensors that somebody else holds are copied: two optimizers never share one.
void Optimizer::own_tensors(OptimizerState& state, base::SiteId site) const {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    for (std::size_t k = 0; k < kMaxState; ++k) {
      Tensor& given = state.slots[i].tensors[k];
      if (!given.defined() || slots_[i].state[k].defined()) {
        continue;
      }
      if (!given.owns_alone()) {
        given = copy_of(given, parameters_[i].tensor, state_tag(i, site));
      }
      memory::detach_from_scope(given);
    }
  }
}

// State that is away is written as a whole: it comes home without its elements.
memory::Vector<tensor::Overwrite> Optimizer::overwrites(
    const OptimizerState& state) const {
  memory::Vector<tensor::Overwrite> out;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const OptimizerState::Slot& from = state.slots[i];
    for (std::size_t k = 0; from.is_used() && k < from.tensor_count; ++k) {
      const Tensor& own = slots_[i].state[k];
      if (!is_own(from.tensors[k], own) && is_whole_and_away(own)) {
        out.emplace_back(*own.array()->storage());
      }
    }
  }
  return out;
}

// State that is to be zeros stays away.
memory::Vector<Optimizer::Blank> Optimizer::blanks(
    const OptimizerState& state) const {
  memory::Vector<Blank> out;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const OptimizerState::Slot& from = state.slots[i];
    for (std::size_t k = from.is_used() ? from.tensor_count : 0; k < kMaxState;
         ++k) {
      const Tensor& own = slots_[i].state[k];
      if (is_whole_and_away(own) && has_state_of(i)) {
        out.push_back(
            {own.array()->storage().get(), tensor::keeper_of_zeros()});
      }
    }
  }
  return out;
}

void Optimizer::set_state(OptimizerState state, CallSite site) {
  check_not_traced("set_state");
  check_state(state, site);
  const base::SiteId where = site_or_context(site);
  leave_absent(state, where);
  own_tensors(state, where);
  memory::Vector<tensor::Overwrite> filled = overwrites(state);
  memory::Vector<Blank> blank = blanks(state);
  for (tensor::Overwrite& own : filled) {
    own.begin();
  }
  for (Blank& own : blank) {
    own.storage->send_away(std::move(own.zeros));
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    put_slot(slots_[i], state.slots[i], where);
  }
  for (int group = 0; group < group_count_; ++group) {
    put_lr(group, state.rates[static_cast<std::size_t>(group)]);
  }
  step_count_ = state.step_count;
}

}  // namespace neap::optim
