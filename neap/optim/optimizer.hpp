// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Optimizer: base of classes that update parameters in place from their
// gradients. It holds handles to the parameters, in groups of one set of
// options, and owns their state, which is created when a parameter first has a
// gradient.
//
// A step has two halves. First everything is acquired: state that is missing,
// the kernel of every update, scratch. Then one fused kernel writes, in one
// call for all parameters that lie dense in the host's memory and a call for
// each of the others, and nothing can fail. So a step that throws leaves
// everything unchanged, and a step in a warm loop allocates nothing.
//
// In a step that is traced nothing is updated: state that is missing is created
// (zeros, which mean the same as none), the updates are recorded, and the
// optimizer takes part in every run of the program, to which it gives its rates
// and counts. State that no run has used is freed with the last program. So a
// program holds for the groups and the state that it was traced with; settings
// may differ from run to run.
//
// Thread rule: one thread at a time; kernels run on the context's executor.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "neap/autograd/parameter.hpp"
#include "neap/base/function_ref.hpp"
#include "neap/graph/trace.hpp"
#include "neap/kernels/engine/kernel.hpp"
#include "neap/memory/counted.hpp"
#include "neap/optim/joint_update.hpp"
#include "neap/optim/optimizer_state.hpp"
#include "neap/optim/schedule.hpp"
#include "neap/optim/state_share.hpp"

namespace neap::optim {

struct StepOptions {
  /// Multiplies every gradient as it is read (clipping without a write).
  double grad_scale = 1.0;
  /// Frees the gradients once their parameters are updated; otherwise gradients
  /// stay, unchanged. A step that throws frees none.
  bool release_gradients = false;
};

/// LIFETIME: outlives the programs whose steps it takes part in.
class NEAP_API Optimizer : public graph::RunListener {
 public:
  ~Optimizer() override;

  /// Updates every parameter that has a gradient and requires one; the others,
  /// and their state, stay as they are. Gradients are not written. Strong.
  /// THROWS: ShapeError, DTypeError, DeviceError for a gradient unlike its
  /// parameter; ValueError for a schedule's rate that is negative or not
  /// finite; TraceError as trace()->write; OutOfMemory.
  void step(CallSite site = CallSite::here()) { step(StepOptions{}, site); }
  void step(const StepOptions& options, CallSite site = CallSite::here());

  /// Frees all gradients of the parameters.
  void zero_grad() noexcept;

  /// Calls of step() that succeeded; those of a program count in its runs. As
  /// lr(), schedule(), options(), state() and the visits below it is refused
  /// inside a step that is traced: the program would keep the number of its
  /// first call. THROWS: TraceError there.
  std::int64_t step_count() const {
    check_not_read("step_count");
    return step_count_;
  }

  /// Counted over all groups, in order. For a program of a step that asks for
  /// either, add_group is the end. THROW: OutOfMemory while a step is traced.
  const ParameterList& parameters() const {
    note_groups_read();
    return parameters_;
  }
  int group_count() const {
    note_groups_read();
    return group_count_;
  }
  /// The learning rate; after a step with a schedule, that step's. THROW:
  /// ValueError for a bad group, or a rate that is negative or not finite;
  /// TraceError while a step is traced, since it would be read or set once and
  /// not in each run.
  double lr(int group = 0) const;
  void set_lr(int group, double lr);
  /// Sets the rate of all groups.
  void set_lr(double lr);

  /// The rate of each step is schedule(step_count()) from now on, whatever
  /// set_lr says; an empty schedule ends that. THROW: ValueError for a bad
  /// group; TraceError while a step is traced.
  void set_schedule(int group, const Schedule& schedule);
  /// Sets the schedule of all groups.
  void set_schedule(const Schedule& schedule);
  /// Empty: none. THROWS: ValueError for a bad group; TraceError while a step
  /// is traced.
  const Schedule& schedule(int group = 0) const;

  /// Bytes of all state created so far, that of other ranks left out.
  Bytes state_bytes() const noexcept;
  /// Bytes of the largest state that a compiled step keeps in a file, or that
  /// another rank has, which reading it (a save) takes; 0 where none is.
  Bytes largest_state_away() const noexcept;

  // --- state that ranks share out (ZeRO, stage 1) ----------------------------

  /// From now on each rank has the state of some parameters alone: whole ones,
  /// the largest first, each to the rank that has least so far. Compiled steps
  /// with these ranks (CompileOptions::ranks) update a parameter in its rank
  /// and hand it on to the others; the bits are those without. nullptr or one
  /// rank: nothing is shared out; the same ranks once more: nothing changes.
  /// Rajbhandari, Rasley, Ruwase and He, "ZeRO: memory optimizations toward
  /// training trillion parameter models", 2020. THROWS: ValueError for an
  /// optimizer whose update couples parameters, after a step, a traced one
  /// too, and for other ranks than those before; TraceError while a step is
  /// traced; OutOfMemory.
  void share_out(const std::shared_ptr<compiler::Ranks>& ranks);
  bool is_shared_out() const noexcept { return share_ != nullptr; }
  /// True unless another rank has the state of the parameter with that index.
  bool has_state_of(std::size_t index) const noexcept;
  /// Runs `read` in rank 0, where it may read all of the state, also that of
  /// other ranks, which all call this, too, and hand theirs over meanwhile.
  /// Where nothing is shared out it is run in each. `what`: named where it
  /// fails. RETURNS: the number that `read` gave in rank 0; none: it threw, and
  /// what it threw is thrown there. THROWS: RankLost, RankMismatch, DistError
  /// of the ranks; TraceError while a step is traced.
  std::optional<std::uint64_t> read_state(
      std::string_view what, base::FunctionRef<std::uint64_t()> read) const;

  /// A group but for its rate as a text: "Adam(beta1=0.9, ...)", for comparing
  /// and for people; empty where an optimizer does not say. THROWS: ValueError
  /// for a bad group.
  virtual std::string describe(int group) const;

  /// Everything that steps have changed. THROWS: TraceError while a step is
  /// traced; OutOfMemory.
  OptimizerState state() const;
  /// The state before the first step, with all tensors, to be filled for
  /// set_state(). THROWS: OutOfMemory.
  OptimizerState zero_state(CallSite site = CallSite::here()) const;
  /// The state to be set in place: the optimizer's own tensors, those that no
  /// update has used yet included, and undefined ones where it has none yet.
  /// Whoever fills it gives the latter a new_state(), or leaves them. THROWS:
  /// as state().
  OptimizerState state_in_place() const;
  /// Zeros for state k of the parameter with that index. THROWS: OutOfMemory.
  Tensor new_state(std::size_t index, std::size_t k,
                   CallSite site = CallSite::here()) const;
  /// The shape of state k of the parameter with that index.
  Shape state_shape(std::size_t index, std::size_t k) const {
    return shape_of_state(parameters_[index].tensor.shape(), k);
  }
  /// Continues as an optimizer in that state would. Tensors that nobody else
  /// holds are taken over, others copied; the optimizer's own stay as they are,
  /// and where what is taken over is away, so it stays. Tensors that programs
  /// refer to keep their address. Strong. THROWS: ValueError, ShapeError,
  /// DTypeError for the state of other parameters or options; DeviceError off
  /// the host; TraceError while a step is traced; OutOfMemory.
  void set_state(OptimizerState state, CallSite site = CallSite::here());

  /// visit(name, tensor) for all state that an update has used, in a fixed
  /// order; names are such as "fc1.weight.exp_avg".
  template <class Visit>
  void visit_state(Visit&& visit) const {
    check_not_read("visit_state");
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      for (std::size_t k = 0; k < slots_[i].states_used; ++k) {
        visit(state_path(i, k), slots_[i].state[k]);
      }
    }
  }
  /// visit(name of the parameter, count of its updates).
  template <class Visit>
  void visit_steps(Visit&& visit) const {
    check_not_read("visit_steps");
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      visit(std::string_view(parameters_[i].name), slots_[i].steps);
    }
  }

 protected:
  static constexpr std::size_t kMaxState = OptimizerState::kMaxTensors;
  /// Bytes for the attributes of a kernel.
  struct AttrBytes {
    alignas(16) std::array<std::byte, 128> bytes{};
  };
  /// An update, as the optimizer tells it.
  struct Update {
    int group = 0;
    std::int64_t step = 1;  // number of this parameter's update, from 1
    double lr = 0.0;
    bool is_first_state = false;  // true: no update has used its state yet
    double grad_scale = 1.0;
  };

  Optimizer() = default;

  /// Adds a group. THROWS: ValueError for an empty list, or a parameter given
  /// twice (here or in another group); GraphError unless leaves; DTypeError
  /// unless f32 or f64; TraceError while a step is traced; OutOfMemory. Strong.
  void add_parameters(const ParameterList& parameters);
  void check_group(int group) const;
  static void check_lr(double lr);
  /// THROWS: TraceError while a step is traced.
  static void check_not_traced(const char* function);
  /// THROWS: TraceError while a step is traced: it would keep the value read.
  static void check_not_read(const char* function);
  void note_groups_read() const;

  // --- for an optimizer that has a step of its own ---------------------------

  /// Asked first by step(): an optimizer with a step of its own refuses.
  virtual void check_plain_step() const {}
  /// The rate of the step to come in the first group. THROWS: as step() for it.
  double begin_own_step();
  /// Creates all state that is missing (zeros), and brings the rest to memory;
  /// it counts as used from then on. RETURNS: whether any was missing. THROWS:
  /// OutOfMemory, IoError; the state is then as before.
  bool acquire_state(base::SiteId site);
  /// Frees all state, as before the first step.
  void forget_state() noexcept;
  /// REQUIRES: acquire_state() was called.
  const Tensor& own_state(std::size_t index, std::size_t k) const noexcept {
    return slots_[index].state[k];
  }
  /// The updates of the first parameter, as all have as many.
  std::int64_t own_updates() const noexcept { return slots_[0].steps; }
  /// Counts updates of all parameters, and the step where it succeeded. State
  /// was written.
  void end_own_step(std::int64_t updates, bool is_good,
                    base::SiteId site) noexcept;

  /// Notes changed options of a group; called after each change.
  void note_options(int group) noexcept;

  /// False: an update needs the state of all parameters at once.
  virtual bool is_by_parameter() const noexcept { return true; }

  // in[0] is the gradient, out[0] the parameter, out[1...] the state.
  virtual const kernels::KernelList& update_kernels(
      int group) const noexcept = 0;
  /// The number of state tensors that an update in this group takes at most, up
  /// to kMaxState.
  virtual std::size_t state_count(int group) const noexcept = 0;
  /// The same of a parameter of that shape.
  virtual std::size_t states_of(int group,
                                const Shape& /*parameter*/) const noexcept {
    return state_count(group);
  }
  /// The shape of state k of such a parameter.
  virtual Shape shape_of_state(const Shape& parameter,
                               std::size_t /*k*/) const noexcept {
    return parameter;
  }
  virtual std::string_view state_name(std::size_t k) const noexcept = 0;
  virtual void update_attrs(const Update& update,
                            AttrBytes& attrs) const noexcept = 0;
  virtual double get_lr(int group) const noexcept = 0;
  virtual void put_lr(int group, double lr) noexcept = 0;

 private:
  using State = std::array<Tensor, kMaxState>;
  struct Slot {
    State state;  // undefined until created
    int group = 0;
    int rank = 0;  // that has the state, where ranks share it out
    std::int64_t steps = 0;
    std::size_t states_used = 0;  // states that updates have used so far
    std::int32_t traced = 0;      // updates in the trace `traced_in_`
    mutable std::int32_t in_this_run = 0;  // updates, as far as asked for
  };
  // Programs depend on the flags, and keep the group for that.
  struct Group : memory::Counted<Group> {
    Schedule schedule;
    bool has_state = false;
    bool is_last = true;
  };
  struct Planned {
    std::size_t index = 0;  // index of the parameter and its slot
    Tensor grad;
    State state;
    std::size_t state_count = 0;
    AttrBytes attrs;
    std::int64_t step = 0;  // steps of this parameter, after the update
    base::Ref<tensor::Storage> scratch;
    const kernels::Kernel* kernel = nullptr;
    kernels::SpaceRuntime* runtime = nullptr;
    bool is_joint = false;  // true: updated with others, in one call
  };
  // State that is away, and is to be zeros.
  struct Blank {
    tensor::Storage* storage = nullptr;
    memory::Owned<tensor::Keeper> zeros;
  };
  struct Operands;
  class Programs;
  // The common part of the updates of a traced call of step().
  struct Traced {
    std::int32_t step = 0;    // number of the call in the trace
    std::int32_t update = 0;  // number of the parameter's update in the trace
    double grad_scale = 1.0;
    bool operator==(const Traced&) const = default;
  };

  memory::String state_path(std::size_t index, std::size_t k) const;
  std::size_t states_at(std::size_t index) const noexcept {
    return states_of(slots_[index].group, parameters_[index].tensor.shape());
  }
  void check_new(const ParameterList& parameters) const;
  memory::Tag state_tag(std::size_t index, base::SiteId site) const noexcept;
  void fill_rates(std::int64_t steps);
  double rate(std::int64_t step, int group) const noexcept;
  void take_rates(std::int64_t step) noexcept;
  void plan(std::size_t index, const Tensor& grad, double grad_scale,
            threads::Executor& executor, base::SiteId site);
  void launch(const Planned& planned, threads::Executor& executor) noexcept;
  void finish(Planned& planned, const StepOptions& options,
              base::SiteId site) noexcept;

  void check_state(const OptimizerState& state, const CallSite& site) const;
  void own_tensors(OptimizerState& state, base::SiteId site) const;
  memory::Vector<tensor::Overwrite> overwrites(
      const OptimizerState& state) const;
  memory::Vector<Blank> blanks(const OptimizerState& state) const;
  static void put_slot(Slot& slot, const OptimizerState::Slot& from,
                       base::SiteId site) noexcept;

  // In a trace.
  base::Ref<Programs> programs(base::SiteId site);
  void forget_programs() noexcept;
  void record(graph::Trace& trace, const StepOptions& options,
              base::SiteId site);
  void begin_traced_step(const graph::Trace& trace);
  void record_update(graph::Trace& trace, std::size_t index, const Tensor& grad,
                     double grad_scale, base::SiteId site);
  std::uint32_t write_index(std::size_t index, const Traced& traced);
  Update update_of(std::uint32_t write_index) const noexcept;

  // State that ranks share out.
  void check_shareable() const;
  void choose_ranks(int count);
  Bytes weight_of(std::size_t index) const;
  Tensor absent_state(std::size_t index, std::size_t k,
                      const memory::Tag& tag) const;
  void leave_absent(OptimizerState& state, base::SiteId site) const;
  void check_here() const;
  graph::WriteShare share_of(std::uint32_t index) const noexcept override;

  // Told by a program's runs.
  void before_run() override;
  void write_attrs(std::uint32_t index, void* attrs) const noexcept override;
  void after_run(std::uint32_t calls) noexcept override;

  ParameterList parameters_;
  memory::Vector<Slot> slots_;  // a slot for each parameter
  memory::Vector<base::Ref<Group>> groups_;
  memory::Vector<Planned> plan_;  // empty between steps; capacity for all slots
  JointUpdate joint_;             // updates that run as one call
  memory::Vector<double> rates_;  // rates of steps to come, group by group
  int group_count_ = 0;
  std::int64_t step_count_ = 0;
  std::shared_ptr<StateShare> share_;  // null: each rank has all state

  Programs* programs_ = nullptr;   // programs that it takes part in; null: none
  memory::Vector<Traced> traced_;  // kinds of updates that writes refer to
  std::uint64_t traced_in_ = 0;    // number of the latest trace
  std::int32_t traced_steps_ = 0;  // calls of step() in it
  std::int32_t most_steps_ = 1;    // largest number of steps in a trace
};

/// An optimizer whose groups have options of one type, with `lr` and check().
template <class Options>
class NEAP_API Grouped : public Optimizer {
 public:
  /// THROWS: as Optimizer::add_parameters and Options::check. Strong.
  void add_group(const ParameterList& parameters, const Options& options) {
    options.check();
    options_.reserve(options_.size() + 1);
    add_parameters(parameters);
    options_.push_back(options);
  }

  /// THROWS: ValueError for a bad group; TraceError while a step is traced.
  const Options& options(int group = 0) const {
    check_not_read("options");
    check_group(group);
    return at(group);
  }
  /// Holds from the next step on. THROWS: ValueError for a bad group or option;
  /// TraceError while a step is traced.
  void set_options(int group, const Options& options) {
    check_not_traced("set_options");
    check_group(group);
    options.check();
    options_[static_cast<std::size_t>(group)] = options;
    note_options(group);
  }

 protected:
  Grouped(const ParameterList& parameters, const Options& options) {
    add_group(parameters, options);
  }
  const Options& at(int group) const noexcept {
    return options_[static_cast<std::size_t>(group)];
  }
  double get_lr(int group) const noexcept override { return at(group).lr; }
  void put_lr(int group, double lr) noexcept override {
    options_[static_cast<std::size_t>(group)].lr = lr;
  }

 private:
  memory::Vector<Options> options_;  // options of each group
};

}  // namespace neap::optim
