// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/optimizer_state.hpp"

#include <algorithm>

#include "neap/base/raise.hpp"
#include "neap/memory/scope.hpp"
#include "neap/optim/check.hpp"
#include "neap/optim/launch.hpp"
#include "neap/optim/optimizer.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/tensor/host_access.hpp"

namespace neap::optim {

using base::raise;

namespace {

// Its elements are nowhere, and everything else is as if they were there.
bool is_rehearsed(const Tensor& tensor) noexcept {
  return tensor.array()->storage()->absence() == tensor::Absence::kRehearsed;
}

std::span<std::byte> bytes_of(const Tensor& tensor) noexcept {
  return {tensor.array()->strided().data,
          static_cast<std::size_t>(tensor.element_count() *
                                   size_of(tensor.dtype()))};
}

// A tensor in the parameter's domain.
Tensor copy_of(const Tensor& given, const Tensor& parameter,
               const memory::Tag& tag) {
  Tensor copy = zeros_for(parameter, tag, tensor::executor());
  if (!is_rehearsed(copy)) {
    std::ranges::copy(bytes_of(given), bytes_of(copy).begin());
  }
  return copy;
}

void check_state_tensor(const Tensor& tensor, const Tensor& parameter,
                        std::string_view parameter_name,
                        std::string_view state_name, const CallSite& site) {
  if (tensor.shape() != parameter.shape()) {
    raise<ShapeError>("set_state: {} of \"{}\" has shape {}, expected {}",
                      state_name, parameter_name, format_shape(tensor.shape()),
                      format_shape(parameter.shape()));
  }
  if (tensor.dtype() != parameter.dtype()) {
    raise<DTypeError>("set_state: {} of \"{}\" is {}, expected {}", state_name,
                      parameter_name, name_of(tensor.dtype()),
                      name_of(parameter.dtype()));
  }
  if (!is_rehearsed(tensor)) {
    tensor::check_host_access(tensor, "set_state", site);
  }
  if (!tensor.is_contiguous()) {
    raise<ShapeError>("set_state: {} of \"{}\" is a view with gaps", state_name,
                      parameter_name);
  }
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
  for (const Slot& slot : slots_) {
    out.slots.push_back(
        {.steps = slot.steps, .tensor_count = state_count(slot.group)});
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
      out.slots[i].tensors[k] =
          zeros_for(parameters_[i].tensor, state_tag(i, base::intern(site)),
                    tensor::executor());
    }
    out.slots[i].steps = 0;
  }
  out.step_count = 0;
  return out;
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
    const std::size_t count = state_count(slots_[i].group);
    if (from.steps < 0 || from.tensor_count != count) {
      raise<ValueError>(
          "set_state: \"{}\" with {} steps and {} tensors, expected {} tensors",
          name, from.steps, from.tensor_count, count);
    }
    for (std::size_t k = 0; from.is_used() && k < count; ++k) {
      check_state_tensor(from.tensors[k], parameters_[i].tensor, name,
                         state_name(k), site);
    }
    for (const Tensor& own : slots_[i].state) {
      if (own.defined() && !is_rehearsed(own)) {
        tensor::check_host_look(own, "set_state", site);
        if (!tensor::is_whole(own)) {
          own.array()->storage()->fetch_elements();
        }
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
    // A program may hold the address of what is there.
    const std::span<std::byte> into = bytes_of(own);
    if (is_rehearsed(own)) {
      continue;
    }
    if (!is_given) {
      std::ranges::fill(into, std::byte{0});
    } else if (bytes_of(given).data() != into.data()) {
      std::ranges::copy(bytes_of(given), into.begin());
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
      if (!given.is_sole_owner()) {
        given = copy_of(given, parameters_[i].tensor, state_tag(i, site));
      }
      memory::detach_from_scope(given);
    }
  }
}

// State that is away is written as a whole: it comes home without its elements.
memory::Vector<tensor::Overwrite> Optimizer::overwrites() const {
  memory::Vector<tensor::Overwrite> out;
  for (const Slot& slot : slots_) {
    for (const Tensor& own : slot.state) {
      if (own.defined() && own.array()->storage()->is_away()) {
        out.emplace_back(*own.array()->storage());
      }
    }
  }
  return out;
}

void Optimizer::set_state(OptimizerState state, CallSite site) {
  check_not_traced("set_state");
  check_state(state, site);
  const base::SiteId where = site_or_context(site);
  own_tensors(state, where);
  for (tensor::Overwrite& own : overwrites()) {
    own.begin();
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
