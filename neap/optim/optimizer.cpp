// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/optimizer.hpp"

#include <algorithm>

#include "neap/base/outside.hpp"
#include "neap/base/raise.hpp"
#include "neap/graph/trace.hpp"
#include "neap/graph/update_watch.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/scope.hpp"
#include "neap/optim/check.hpp"
#include "neap/optim/launch.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::optim {

using base::raise;

namespace {

constexpr const char* kAboutState = "how much state an optimizer has";

void check_parameter(const Parameter& parameter) {
  const Tensor& tensor = parameter.tensor;
  if (!tensor.link() || !tensor.is_leaf()) {
    raise<GraphError>("optimizer: \"{}\" is no leaf that requires grad",
                      std::string_view(parameter.name));
  }
  if (tensor.dtype() != f32 && tensor.dtype() != f64) {
    raise<DTypeError>("optimizer: \"{}\" is {}, expected f32 or f64",
                      std::string_view(parameter.name),
                      name_of(tensor.dtype()));
  }
}

}  // namespace

// The views of one update, made anew on the stack for each half of a step.
struct Optimizer::Operands {
  Operands(const Planned& planned, const Optimizer& optimizer,
           threads::Executor& executor) noexcept {
    in[0] = planned.grad.array()->strided();
    out[0] = optimizer.parameters_[planned.index].tensor.array()->strided();
    for (std::size_t k = 0; k < planned.state_count; ++k) {
      out[k + 1] = planned.state[k].array()->strided();
    }
    args.in = in;
    args.out = std::span(out.data(), planned.state_count + 1);
    args.attrs = planned.attrs.bytes.data();
    args.executor = &executor;
    if (planned.scratch) {
      args.scratch = {planned.scratch->data(),
                      static_cast<std::size_t>(planned.scratch->size())};
    }
  }
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;

  std::array<kernels::Strided, 1> in;
  std::array<kernels::Strided, kMaxState + 1> out;
  kernels::Args args;
};

void Optimizer::check_new(const ParameterList& parameters) const {
  if (parameters.empty()) {
    raise<ValueError>("optimizer: the list of parameters is empty");
  }
  memory::Vector<const tensor::GraphLink*> leaves;
  leaves.reserve(slots_.size() + parameters.size());
  for (const Parameter& parameter : parameters_) {
    leaves.push_back(parameter.tensor.link().get());
  }
  // Two of them may have been tied since.
  std::ranges::sort(leaves);
  leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
  for (const Parameter& parameter : parameters) {
    check_parameter(parameter);
    leaves.push_back(parameter.tensor.link().get());
  }
  std::ranges::sort(leaves);
  const auto twice = std::ranges::adjacent_find(leaves);
  if (twice == leaves.end()) {
    return;
  }
  const auto named = std::ranges::find_if(parameters, [&](const Parameter& p) {
    return p.tensor.link().get() == *twice;
  });
  raise<ValueError>(
      "optimizer: \"{}\" is given twice (here or in another group)",
      std::string_view(named->name));
}

void Optimizer::add_parameters(const ParameterList& parameters) {
  check_not_traced("add_group");
  if (share_ != nullptr) {
    raise<ValueError>(
        "optimizer: ranks share out its state, so that no group can be added; "
        "add groups before share_out()");
  }
  check_new(parameters);
  groups_.reserve(groups_.size() + 1);
  rates_.reserve((groups_.size() + 1) * static_cast<std::size_t>(most_steps_));
  base::Ref<Group> group = Group::create(
      memory::domain(), memory::current_tag(memory::Category::kGraph), 0);
  const std::size_t before = slots_.size();
  slots_.reserve(before + parameters.size());
  plan_.reserve(before + parameters.size());
  joint_.reserve(before + parameters.size());
  parameters_.reserve(before + parameters.size());
  try {
    for (const Parameter& parameter : parameters) {
      parameters_.push_back(parameter);
    }
  } catch (...) {
    parameters_.erase(parameters_.begin() + static_cast<std::ptrdiff_t>(before),
                      parameters_.end());
    throw;
  }
  Slot slot;
  slot.group = group_count_++;
  slots_.resize(parameters_.size(), slot);
  if (!groups_.empty()) {
    groups_.back()->is_last = false;
  }
  groups_.push_back(std::move(group));
  for (const Parameter& parameter : parameters) {
    memory::detach_from_scope(parameter.tensor);
  }
}

void Optimizer::check_group(int group) const {
  if (group < 0 || group >= group_count_) {
    raise<ValueError>("optimizer: group {} of {}", group, group_count_);
  }
}

void Optimizer::check_lr(double lr) {
  check_not_negative("optimizer", "lr", lr);
}

void Optimizer::check_not_traced(const char* function) {
  if (graph::trace() != nullptr) {
    raise<TraceError>(
        "{}: inside a step that is traced, where it would be done once and not "
        "in each run; give the rate as a schedule, and set up the rest before "
        "the call",
        function);
  }
}

void Optimizer::check_not_read(const char* function) {
  if (graph::trace() != nullptr) {
    raise<TraceError>(
        "{}: read inside a step that is traced, whose program would keep the "
        "value of its first call; read it outside and give it to the step as "
        "an argument",
        function);
  }
}

void Optimizer::note_groups_read() const {
  graph::Trace* trace = graph::trace();
  if (trace != nullptr && !groups_.empty()) {
    trace->depends_on(groups_.back()->is_last, base::AnyRef(groups_.back()));
  }
}

double Optimizer::lr(int group) const {
  check_not_read("lr");
  check_group(group);
  return get_lr(group);
}

void Optimizer::set_lr(int group, double lr) {
  check_not_traced("set_lr");
  check_group(group);
  check_lr(lr);
  put_lr(group, lr);
}

void Optimizer::set_lr(double lr) {
  check_not_traced("set_lr");
  check_lr(lr);
  for (int group = 0; group < group_count_; ++group) {
    put_lr(group, lr);
  }
}

void Optimizer::set_schedule(int group, const Schedule& schedule) {
  check_not_traced("set_schedule");
  check_group(group);
  groups_[static_cast<std::size_t>(group)]->schedule = schedule;
}

void Optimizer::set_schedule(const Schedule& schedule) {
  check_not_traced("set_schedule");
  for (const base::Ref<Group>& group : groups_) {
    group->schedule = schedule;
  }
}

const Schedule& Optimizer::schedule(int group) const {
  check_not_read("schedule");
  check_group(group);
  return groups_[static_cast<std::size_t>(group)]->schedule;
}

// The rates of the next `steps` steps.
void Optimizer::fill_rates(std::int64_t steps) {
  rates_.clear();
  for (std::int64_t step = 0; step < steps; ++step) {
    for (int group = 0; group < group_count_; ++group) {
      const Schedule& schedule =
          groups_[static_cast<std::size_t>(group)]->schedule;
      const double rate =
          schedule ? schedule(step_count_ + step) : get_lr(group);
      check_lr(rate);
      rates_.push_back(rate);  // room was reserved
    }
  }
}

double Optimizer::rate(std::int64_t step, int group) const noexcept {
  return rates_[static_cast<std::size_t>(step * group_count_ + group)];
}

// Shows the rates of a step as those of the groups.
void Optimizer::take_rates(std::int64_t step) noexcept {
  for (int group = 0; group < group_count_; ++group) {
    if (groups_[static_cast<std::size_t>(group)]->schedule) {
      put_lr(group, rate(step, group));
    }
  }
}

// The tag of a parameter's state.
memory::Tag Optimizer::state_tag(std::size_t index,
                                 base::SiteId site) const noexcept {
  const Tensor& parameter = parameters_[index].tensor;
  return {.category = memory::Category::kOptimizerState,
          .space = parameter.space(),
          .owner = graph::leaf_of(parameter)->owner(),
          .site = site};
}

void Optimizer::plan(std::size_t index, const Tensor& grad, double grad_scale,
                     threads::Executor& executor, base::SiteId site) {
  const Tensor& parameter = parameters_[index].tensor;
  const Slot& slot = slots_[index];
  check_gradient(parameters_[index].name, parameter, grad);
  Planned& planned = plan_.emplace_back();  // room was reserved
  planned.index = index;
  planned.grad = grad;
  planned.state = slot.state;
  planned.state_count = states_at(index);
  planned.step = slot.steps + 1;
  update_attrs({.group = slot.group,
                .step = planned.step,
                .lr = rate(0, slot.group),
                .is_first_state = slot.states_used < planned.state_count,
                .grad_scale = grad_scale},
               planned.attrs);
  const memory::Tag tag = state_tag(index, site);
  parameter.array()->storage()->fetch_elements();
  for (std::size_t k = 0; k < planned.state_count; ++k) {
    if (!planned.state[k].defined()) {
      planned.state[k] =
          zeros_for(parameter, state_shape(index, k), tag, executor);
    }
    planned.state[k].array()->storage()->fetch_elements();
  }
  const Operands operands(planned, *this, executor);
  planned.kernel = &kernels::find(update_kernels(slot.group), parameter.space(),
                                  parameter.dtype(), operands.args);
  planned.runtime = &kernels::runtime(parameter.space());
  planned.scratch = scratch_for(*planned.kernel, operands.args, parameter, tag);
  planned.is_joint = parameter.space() == memory::kHost &&
                     parameter.array()->storage()->has_elements() &&
                     joint_.add(*planned.kernel, operands.args);
}

void Optimizer::launch(const Planned& planned,
                       threads::Executor& executor) noexcept {
  const Tensor& parameter = parameters_[planned.index].tensor;
  if (parameter.array()->storage()->has_elements()) {  // no rehearsal
    const Operands operands(planned, *this, executor);
    planned.runtime->launch(*planned.kernel, operands.args);
  }
}

void Optimizer::finish(Planned& planned, const StepOptions& options,
                       base::SiteId site) noexcept {
  const Tensor& parameter = parameters_[planned.index].tensor;
  parameter.array()->storage()->bump_version(site);
  Slot& slot = slots_[planned.index];
  slot.state = std::move(planned.state);
  slot.steps = planned.step;
  slot.states_used = std::max(slot.states_used, planned.state_count);
  if (options.release_gradients) {
    planned.grad = Tensor();
    graph::leaf_of(parameter)->set_grad({});
  }
}

double Optimizer::begin_own_step() {
  fill_rates(1);
  return rate(0, 0);
}

bool Optimizer::acquire_state(base::SiteId site) {
  threads::Executor& executor = tensor::executor();
  bool is_new = false;
  memory::Vector<State> made(slots_.size());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const std::size_t count = states_at(i);
    for (std::size_t k = 0; k < count; ++k) {
      made[i][k] = slots_[i].state[k];
      if (!made[i][k].defined()) {
        is_new = true;
        made[i][k] = zeros_for(parameters_[i].tensor, state_shape(i, k),
                               state_tag(i, site), executor);
      }
      made[i][k].array()->storage()->fetch_elements();
    }
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].state = std::move(made[i]);
    slots_[i].states_used = states_at(i);
  }
  return is_new;
}

void Optimizer::forget_state() noexcept {
  for (Slot& slot : slots_) {
    slot.state = {};
    slot.states_used = 0;
  }
}

void Optimizer::end_own_step(std::int64_t updates, bool is_good,
                             base::SiteId site) noexcept {
  for (Slot& slot : slots_) {
    slot.steps += updates;
    for (const Tensor& state : slot.state) {
      if (state.defined()) {
        state.array()->storage()->bump_version(site);
      }
    }
  }
  if (!is_good) {
    return;
  }
  take_rates(0);
  ++step_count_;
  if (graph::UpdateWatcher* watcher = graph::update_watcher()) {
    watcher->updated(this);
  }
}

void Optimizer::step(const StepOptions& options, CallSite site) {
  check_plain_step();
  const base::SiteId where = site_or_context(site);
  if (graph::Trace* trace = graph::trace()) {
    record(*trace, options, where);
    return;
  }
  check_here();
  threads::Executor& executor = tensor::executor();
  try {
    fill_rates(1);
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const Tensor& parameter = parameters_[i].tensor;
      const Tensor grad = parameter.grad();
      if (grad.is_given() && parameter.requires_grad()) {
        plan(i, grad, options.grad_scale, executor, where);
      }
    }
  } catch (...) {
    plan_.clear();
    joint_.clear();
    throw;
  }
  joint_.run(executor);
  for (Planned& planned : plan_) {
    if (!planned.is_joint) {
      launch(planned, executor);
    }
    finish(planned, options, where);
  }
  plan_.clear();
  take_rates(0);
  ++step_count_;
  if (graph::UpdateWatcher* watcher = graph::update_watcher()) {
    watcher->updated(this);
  }
}

void Optimizer::zero_grad() noexcept {
  for (const Parameter& parameter : parameters_) {
    graph::leaf_of(parameter.tensor)->set_grad({});
  }
}

Bytes Optimizer::largest_state_away() const noexcept {
  base::tell_of_question("largest_state_away", kAboutState, {});
  Bytes largest = 0;
  for (const Slot& slot : slots_) {
    for (const Tensor& state : slot.state) {
      const bool is_away =
          state.defined() && state.array()->storage()->is_away();
      largest =
          std::max(largest, is_away ? state.array()->storage()->size() : 0);
    }
  }
  return largest;
}

Bytes Optimizer::state_bytes() const noexcept {
  base::tell_of_question("state_bytes", kAboutState, {});
  Bytes bytes = 0;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    for (const Tensor& state : slots_[i].state) {
      const bool is_here = has_state_of(i) && state.defined();
      bytes += is_here ? state.array()->storage()->size() : 0;
    }
  }
  return bytes;
}

memory::String Optimizer::state_path(std::size_t index, std::size_t k) const {
  memory::String path = parameters_[index].name;
  path += '.';
  path += state_name(k);
  return path;
}

}  // namespace neap::optim
