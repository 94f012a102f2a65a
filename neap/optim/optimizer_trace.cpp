// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Optimizers in a step that is traced, and in the runs of its program. A
// write's index says which update it is: of which parameter (the low bits), and
// of which kind (a position in `traced_`: nearly always the only one).
#include <algorithm>
#include <cstring>

#include "neap/base/raise.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/counted.hpp"
#include "neap/optim/launch.hpp"
#include "neap/optim/optimizer.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::optim {

namespace {

constexpr std::uint32_t kIndexBits = 24;
constexpr std::size_t kMostIndices = std::size_t{1} << kIndexBits;
constexpr std::size_t kMostKinds = std::size_t{1} << (32 - kIndexBits);

}  // namespace

// All programs hold it, traces that fail too: what was made for them alone goes
// with the last.
class Optimizer::Programs : public memory::Counted<Programs> {
 public:
  explicit Programs(Optimizer& optimizer) noexcept : optimizer_(&optimizer) {}
  ~Programs() {
    if (optimizer_ != nullptr) {
      optimizer_->forget_programs();
    }
  }
  void leave() noexcept { optimizer_ = nullptr; }

 private:
  Optimizer* optimizer_;
};

Optimizer::~Optimizer() {
  if (programs_ != nullptr) {
    programs_->leave();
  }
}

base::Ref<Optimizer::Programs> Optimizer::programs(base::SiteId site) {
  if (programs_ != nullptr) {
    return base::Ref<Programs>::share(programs_);
  }
  memory::Tag tag;
  tag.category = memory::Category::kGraph;
  tag.site = site;
  auto made = Programs::create(memory::domain(), tag, 0, *this);
  programs_ = made.get();
  return made;
}

void Optimizer::forget_programs() noexcept {
  programs_ = nullptr;
  for (Slot& slot : slots_) {
    for (std::size_t k = slot.states_used; k < kMaxState; ++k) {
      slot.state[k] = Tensor();
    }
  }
  traced_.clear();
  traced_.shrink_to_fit();
  if (most_steps_ > 1) {
    most_steps_ = 1;
    rates_.resize(groups_.size());
    rates_.shrink_to_fit();
  }
}

void Optimizer::note_options(int group) noexcept {
  groups_[static_cast<std::size_t>(group)]->has_state = state_count(group) != 0;
}

void Optimizer::record(graph::Trace& trace, const StepOptions& options,
                       base::SiteId site) {
  trace.listen(*this);
  for (int group = 0; group < group_count_; ++group) {
    note_options(group);
    trace.depends_on(groups_[static_cast<std::size_t>(group)]->has_state,
                     base::AnyRef(programs(site)));
  }
  trace.depends_on(groups_.back()->is_last, {});
  begin_traced_step(trace);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& parameter = parameters_[i].tensor;
    if (!parameter.requires_grad()) {
      continue;
    }
    const Tensor grad = parameter.grad();
    if (grad.defined()) {
      check_gradient(parameters_[i].name, parameter, grad);
      record_update(trace, i, grad, options.grad_scale, site);
      if (options.release_gradients) {
        graph::leaf_of(parameter)->set_grad({});
      }
    }
  }
}

void Optimizer::begin_traced_step(const graph::Trace& trace) {
  if (traced_in_ != trace.number()) {
    traced_in_ = trace.number();
    traced_steps_ = 0;
    for (Slot& slot : slots_) {
      slot.traced = 0;
    }
  }
  const std::int32_t steps = std::max(most_steps_, traced_steps_ + 1);
  rates_.reserve(groups_.size() * static_cast<std::size_t>(steps));
  most_steps_ = steps;
  ++traced_steps_;
  fill_rates(most_steps_);
}

void Optimizer::record_update(graph::Trace& trace, std::size_t index,
                              const Tensor& grad, double grad_scale,
                              base::SiteId site) {
  const Tensor& parameter = parameters_[index].tensor;
  Slot& slot = slots_[index];
  const std::size_t states = states_at(index);
  const std::array in{grad};
  std::array<Tensor, kMaxState + 1> out{parameter};
  for (std::size_t k = 0; k < states; ++k) {
    if (!slot.state[k].shared()) {
      // The optimizer's own: no state of the step's that a run would set.
      const memory::Tag tag = state_tag(index, site);
      base::Ref<tensor::Body> zeros =
          (!has_state_of(index) ? absent_state(index, k, tag)
           : trace.is_state_late()
               ? late_zeros_for(parameter, state_shape(index, k), tag)
               : zeros_for(parameter, state_shape(index, k), tag,
                           tensor::executor()))
              .shared();
      slot.state[k].exchange_shared(zeros);
    }
    out[k + 1] = slot.state[k];
  }
  const std::uint32_t at = write_index(index, {.step = traced_steps_ - 1,
                                               .update = slot.traced,
                                               .grad_scale = grad_scale});
  AttrBytes attrs;
  update_attrs(update_of(at), attrs);
  trace.write({.name = update_kernels(slot.group).name,
               .list = update_kernels(slot.group),
               .in = in,
               .out = std::span(out).first(states + 1),
               .attrs = attrs.bytes,
               .listener = this,
               .index = at,
               .site = site});
  ++slot.traced;
}

std::uint32_t Optimizer::write_index(std::size_t index, const Traced& traced) {
  auto kind = std::ranges::find(traced_, traced);
  if (kind == traced_.end()) {
    if (traced_.size() == kMostKinds) {
      base::raise<TraceError>(
          "step: {} values of grad_scale in traced steps, use no more",
          kMostKinds);
    }
    traced_.push_back(traced);
    kind = traced_.end() - 1;
  }
  if (index >= kMostIndices) {
    base::raise<TraceError>("step: {} parameters in a traced step, at most {}",
                            parameters_.size(), kMostIndices);
  }
  return static_cast<std::uint32_t>(kind - traced_.begin()) << kIndexBits |
         static_cast<std::uint32_t>(index);
}

// In the next run.
Optimizer::Update Optimizer::update_of(
    std::uint32_t write_index) const noexcept {
  const Slot& slot = slots_[write_index % kMostIndices];
  const Traced& traced = traced_[write_index >> kIndexBits];
  return {.group = slot.group,
          .step = slot.steps + 1 + traced.update,
          .lr = rate(traced.step, slot.group),
          .is_first_state =
              traced.update == 0 &&
              slot.states_used < states_at(write_index % kMostIndices),
          .grad_scale = traced.grad_scale};
}

// State is what ranks share out: an update without any is made by all.
graph::WriteShare Optimizer::share_of(std::uint32_t index) const noexcept {
  const std::size_t slot = index % kMostIndices;
  return share_ == nullptr || states_at(slot) == 0
             ? graph::WriteShare{}
             : graph::WriteShare{slots_[slot].rank, share_->count()};
}

void Optimizer::before_run() {
  fill_rates(most_steps_);
  for (const Slot& slot : slots_) {
    slot.in_this_run = 0;
  }
}

void Optimizer::write_attrs(std::uint32_t index, void* attrs) const noexcept {
  const Slot& slot = slots_[index % kMostIndices];
  const Traced& traced = traced_[index >> kIndexBits];
  AttrBytes bytes;
  update_attrs(update_of(index), bytes);
  std::memcpy(attrs, bytes.bytes.data(), bytes.bytes.size());
  slot.in_this_run = std::max(slot.in_this_run, traced.update + 1);
}

// Adds the updates and calls of the run that has ended to the counts.
void Optimizer::after_run(std::uint32_t calls) noexcept {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (slot.in_this_run > 0) {
      slot.steps += slot.in_this_run;
      slot.states_used = std::max(slot.states_used, states_at(i));
      slot.in_this_run = 0;
    }
  }
  take_rates(std::int64_t{calls} - 1);
  step_count_ += calls;
}

}  // namespace neap::optim
