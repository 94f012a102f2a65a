// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Optimizer: base of those that update parameters in place from their
// gradients. It holds handles to the parameters, in groups of one set of
// options, and owns their state, which is made when a parameter first has a
// gradient.
//
// A step has two halves. First everything is acquired: state that is missing,
// the kernel of every update, scratch. Then one fused kernel a parameter
// writes, and nothing can fail. So a step that throws leaves everything as it
// was, and a step in a settled loop asks the door for nothing.
//
// Thread rule: one thread at a time; kernels run on the context's executor.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "neap/autograd/parameter.hpp"
#include "neap/kernels/kernel.hpp"

namespace neap::optim {

struct StepOptions {
  /// Multiplies every gradient as it is read (clipping without a write).
  double grad_scale = 1.0;
  /// Gives the gradient of each parameter back as soon as it is updated;
  /// otherwise gradients stay, as they were. A step that throws gives none.
  bool release_gradients = false;
};

class NEAP_API Optimizer {
 public:
  virtual ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Updates every parameter that has a gradient and requires one; the others,
  /// and their state, stay as they are. Gradients are not written. Strong.
  /// THROWS: ShapeError, DTypeError, DeviceError for a gradient unlike its
  /// parameter; OutOfMemory.
  void step(CallSite site = CallSite::here()) { step(StepOptions{}, site); }
  void step(const StepOptions& options, CallSite site = CallSite::here());

  /// Gives all gradients of the parameters back.
  void zero_grad() noexcept;

  /// Calls of step() that succeeded.
  std::int64_t step_count() const noexcept { return step_count_; }

  /// Of all groups, in the order given.
  const ParameterList& parameters() const noexcept { return parameters_; }

  int group_count() const noexcept { return group_count_; }
  /// THROW: ValueError for a bad group, or a rate that is negative or not
  /// finite.
  virtual double lr(int group = 0) const = 0;
  virtual void set_lr(int group, double lr) = 0;
  /// Of all groups.
  void set_lr(double lr);

  /// Bytes of all state made so far.
  Bytes state_bytes() const noexcept;

  /// visit(name, tensor) for all state, in a fixed order; names are such as
  /// "fc1.weight.exp_avg".
  template <class Visit>
  void visit_state(Visit&& visit) const {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      for (std::size_t k = 0; k < kMaxState; ++k) {
        if (slots_[i].state[k].defined()) {
          visit(state_path(i, k), slots_[i].state[k]);
        }
      }
    }
  }
  /// visit(name of the parameter, count of its updates).
  template <class Visit>
  void visit_steps(Visit&& visit) const {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      visit(std::string_view(parameters_[i].name), slots_[i].steps);
    }
  }

 protected:
  static constexpr std::size_t kMaxState = 2;
  /// Room for the attributes of a kernel.
  struct AttrBytes {
    alignas(16) std::array<std::byte, 128> bytes{};
  };
  /// What an optimizer says of one update.
  struct Update {
    int group = 0;
    std::int64_t step = 1;        // of this parameter, counted from 1
    bool is_first_state = false;  // its state was made for this step
    double grad_scale = 1.0;
  };

  Optimizer() = default;

  /// Adds a group. THROWS: ValueError for an empty list, or a parameter given
  /// twice (here or in another group); GraphError unless leaves; DTypeError
  /// unless f32 or f64; OutOfMemory. Strong.
  void add_parameters(const ParameterList& parameters);
  void check_group(int group) const;
  static void check_lr(double lr);

  // in[0] is the gradient, out[0] the parameter, out[1...] the state.
  virtual const kernels::KernelList& update_kernels() const noexcept = 0;
  /// How many state tensors an update in this group takes, up to kMaxState.
  virtual std::size_t state_count(int group) const noexcept = 0;
  virtual std::string_view state_name(std::size_t k) const noexcept = 0;
  virtual void write_attrs(const Update& update,
                           AttrBytes& attrs) const noexcept = 0;

 private:
  using State = std::array<Tensor, kMaxState>;
  struct Slot {
    State state;  // undefined until made
    int group = 0;
    std::int64_t steps = 0;
  };
  struct Planned {
    std::size_t index = 0;  // of the parameter and its slot
    Tensor grad;
    State state;
    std::size_t state_count = 0;
    Update update;
    base::Ref<tensor::Storage> scratch;
    const kernels::Kernel* kernel = nullptr;
    kernels::SpaceRuntime* runtime = nullptr;
  };
  struct Operands;

  memory::String state_path(std::size_t index, std::size_t k) const;
  void check_new(const ParameterList& parameters) const;
  void plan(std::size_t index, const Tensor& grad, double grad_scale,
            threads::Executor& executor, base::SiteId site);
  void run(Planned& planned, const StepOptions& options,
           threads::Executor& executor, base::SiteId site) noexcept;

  ParameterList parameters_;
  memory::Vector<Slot> slots_;    // one a parameter
  memory::Vector<Planned> plan_;  // empty between steps; room for all slots
  int group_count_ = 0;
  std::int64_t step_count_ = 0;
};

/// An optimizer whose groups have options of one type, with `lr` and check().
template <class Options>
class Grouped : public Optimizer {
 public:
  /// THROWS: as Optimizer::add_parameters and Options::check. Strong.
  void add_group(const ParameterList& parameters, const Options& options) {
    options.check();
    groups_.reserve(groups_.size() + 1);
    add_parameters(parameters);
    groups_.push_back(options);
  }

  /// THROWS: ValueError for a bad group.
  const Options& options(int group = 0) const {
    check_group(group);
    return at(group);
  }
  /// From the next step on. THROWS: ValueError for a bad group or option.
  void set_options(int group, const Options& options) {
    check_group(group);
    options.check();
    groups_[static_cast<std::size_t>(group)] = options;
  }

  double lr(int group = 0) const override { return options(group).lr; }
  using Optimizer::set_lr;
  void set_lr(int group, double lr) override {
    check_group(group);
    check_lr(lr);
    groups_[static_cast<std::size_t>(group)].lr = lr;
  }

 protected:
  Grouped(const ParameterList& parameters, const Options& options) {
    add_group(parameters, options);
  }
  const Options& at(int group) const noexcept {
    return groups_[static_cast<std::size_t>(group)];
  }

 private:
  memory::Vector<Options> groups_;
};

}  // namespace neap::optim
