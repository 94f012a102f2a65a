// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Trainer: one training step after another over a loader's epochs: batch,
// forward, loss, backward, update. Gradients live only from a step's backward
// to its update, activations only to its backward: gradients are undefined
// before and after a step, and those that are there when one begins are freed
// first.
//
// A step is strong: when anything in it throws, parameters, buffers, optimizer,
// learning rates and random state are unchanged, no gradient is left, and the
// next call repeats it on the same batch.
//
// With `compile` the whole step is traced once and runs as a plan (compile.hpp)
// whose arena is allocated for the loader's largest batch. The bits are the
// same.
#pragma once

#include <cstdint>
#include <functional>

#include "neap/autograd/parameter.hpp"
#include "neap/compile/options.hpp"
#include "neap/data/loader.hpp"
#include "neap/nn/layer.hpp"
#include "neap/optim/optimizer.hpp"
#include "neap/train/buffer_snapshot.hpp"
#include "neap/train/checkpoint.hpp"

namespace neap::compiler {
struct Profile;
class Program;
struct FitPoint;
struct Plan;
}  // namespace neap::compiler

namespace neap::train {

/// The measurements of a step.
struct StepReport {
  std::int64_t step = 0;     // done so far, this one included
  std::int64_t steps = 0;    // steps of the whole run; 0: not known
  std::int64_t epoch = 0;    // number of the epoch, from 1
  std::int64_t epochs = 0;   // epochs of the whole run; 0: not known
  std::int64_t samples = 0;  // samples in this step
  double loss = 0.0;         // mean over this step's samples
  double accuracy = 0.0;     // in [0, 1]; NaN where targets are not labels
  double learning_rate = 0.0;
  double gradient_norm = 0.0;  // norm before clipping; 0 without clipping
  double seconds = 0.0;  // seconds from fetching the batch to the update's end
};

/// loss(output, target): rank 0.
using Loss = std::function<Tensor(const Tensor&, const Tensor&)>;

struct TrainerOptions {
  double clip_norm = 0.0;  // > 0: largest norm of all gradients together
  /// The schedule of all groups from now on (Optimizer::set_schedule); empty:
  /// the optimizer's own.
  optim::Schedule learning_rate{};
  Loss loss{};  // empty: cross_entropy
  /// Averages that are updated after each of the optimizer's steps, and saved
  /// with the run; nullptr: none. LIFETIME: beyond the trainer.
  optim::Ema* average = nullptr;
  /// Saved with the run, and told of measures by the caller; nullptr: none.
  /// LIFETIME: beyond the trainer.
  optim::ReduceOnPlateau* plateau = nullptr;
  bool compile = false;  // the step runs as a plan
  /// The trainer sets the batches. With `ranks` the loader reads this rank's
  /// rows (LoaderOptions::shards), every rank makes the same calls, and rank 0
  /// writes checkpoints.
  CompileOptions compile_options{};
  /// 1: the ranks share out the optimizer's state (Optimizer::share_out), with
  /// the same bits and checkpoints; 0: each has all of it. One rank has all of
  /// it either way.
  int zero = 0;
};

/// LIFETIME: model, optimizer and loader outlive it.
class NEAP_API Trainer {
 public:
  /// Starts the loader's first epoch. THROWS: ValueError for a data set
  /// without a batch, and a `zero` that is neither 0 nor 1; as
  /// Optimizer::share_out; OutOfMemory.
  Trainer(nn::Layer& model, optim::Optimizer& optimizer, data::Loader& loader,
          TrainerOptions options = {});
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// Traces and plans the step, for all sizes of the loader's batches, so that
  /// the first step is as the others. Nothing without `compile`. THROWS: what
  /// a step that is traced may throw; PlanError; OutOfMemory.
  void prepare(CallSite site = CallSite::here());

  /// All arenas that the step of the loader's largest batch can be made to fit,
  /// and what each costs (compile/fit.hpp). Traces the step, which is not
  /// kept. THROWS: as prepare().
  memory::Vector<compiler::FitPoint> fit_curve(
      CallSite site = CallSite::here());

  /// THROWS: whatever a layer, the loss or the allocator throws; compiled, as
  /// neap::compile.
  StepReport step(CallSite site = CallSite::here());

  // The answers to these may be others after the next step: a step that is
  // traced is refused where it asks.

  std::int64_t steps_done(
      const CallSite& site = CallSite::here()) const noexcept;
  Position position(const CallSite& site = CallSite::here()) const noexcept;

  /// A checkpoint of this run: model, optimizer, the context's generator, the
  /// position in the data. `facts` are further facts that a run which resumes
  /// from it must share; those of the loader are among them anyway. Failures,
  /// THROWS: as Checkpoint::save.
  [[nodiscard]] Result<void> save(const std::string& path,
                                  const Facts& facts = {},
                                  files::Door& door = files::system_door(),
                                  CallSite site = CallSite::here()) const;
  /// The same as Checkpoint::rehearse_save.
  void rehearse_save(const Facts& facts = {}) const;
  /// Continues where the run that saved the file was: the steps from here on
  /// have its bits. Best before prepare(), while no state is created. With a
  /// budget and a folder of the compiled step, state goes to a file there
  /// (Checkpoint::spill). Failures, THROWS: as Checkpoint::load; everything is
  /// then unchanged, but after a TornLoad.
  [[nodiscard]] Result<void> resume(
      const std::string& path, const Facts& facts = {},
      files::Door& door = files::system_door(),
      formats::Verify verify = formats::Verify::kOn,
      CallSite site = CallSite::here());
  bool is_compiled() const noexcept { return planned_ != nullptr; }
  /// The arena of the plan; 0 before it is planned, and without `compile`.
  Bytes arena_bytes(const CallSite& site = CallSite::here()) const noexcept;
  /// The number of traces of the step, and the reason of the latest, in one
  /// line. THROW: ValueError without `compile`.
  std::int64_t traces(const CallSite& site = CallSite::here()) const;
  std::string why(const CallSite& site = CallSite::here()) const;
  /// The program and the plan of the latest batch. THROW: ValueError before
  /// they exist, and without `compile`.
  const compiler::Program& program(
      const CallSite& site = CallSite::here()) const;
  const compiler::Plan& plan(const CallSite& site = CallSite::here()) const;
  /// Sets where the times of the calls of the next steps go (those of the
  /// batch's size that comes first); nullptr: nowhere. Nothing without
  /// `compile`. LIFETIME: beyond the steps.
  void set_profile(compiler::Profile* profile);

 private:
  struct Planned;

  const Planned& planned() const;
  Checkpoint checkpoint(const Facts& facts) const;
  void share_state() const;
  Result<void> save_shared(const std::string& path, const Facts& facts,
                           files::Door& door, CallSite site) const;
  Result<void> save_alone(const std::string& path, const Facts& facts,
                          files::Door& door, CallSite site) const;
  void agree();
  const data::Batch& fetch();
  void drop_gradients() noexcept;
  void run_eagerly(const data::Batch& batch, StepReport& report,
                   const CallSite& site);
  void run_program(const data::Batch& batch, StepReport& report,
                   const CallSite& site);
  Tensor update(CallSite site = CallSite::here());

  nn::Layer& model_;
  optim::Optimizer& optimizer_;
  data::Loader& loader_;
  TrainerOptions options_;
  ParameterList parameters_;  // parameters whose gradients are clipped
  BufferSnapshot buffers_;
  memory::Owned<Planned> planned_;      // null: eager
  const data::Batch* batch_ = nullptr;  // fetched, its step not yet done
  bool is_agreed_ = false;              // all ranks read the same
  std::int64_t steps_done_ = 0;
  std::int64_t epoch_ = 0;
};

}  // namespace neap::train
