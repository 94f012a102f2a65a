// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

#include "neap/autograd/backward.hpp"
#include "neap/base/outside.hpp"
#include "neap/base/raise.hpp"
#include "neap/compile/compile.hpp"
#include "neap/compile/fit.hpp"
#include "neap/data/fingerprint.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/ops/ops.hpp"
#include "neap/optim/clip.hpp"
#include "neap/program/ranks.hpp"
#include "neap/tensor/generator.hpp"
#include "neap/train/batches.hpp"
#include "neap/train/checkpoint_keys.hpp"
#include "neap/train/measures.hpp"

namespace neap::train {
namespace {

// The rows whose label has the greatest logit. None is greatest beside a NaN.
Tensor hits_of(const Tensor& output, const Tensor& target) {
  const NoGrad no_grad;
  const Tensor most = amax(output, {1});
  const Tensor is_hit =
      logical_and(eq(most, most), eq(argmax(output, 1), target));
  return sum(cast(is_hit, f64));
}

// A loader's share is that of the step.
void check_ranks(const data::Loader& loader, const TrainerOptions& options) {
  const compiler::Ranks* ranks = options.compile_options.ranks.get();
  const data::LoaderShards& shards = loader.options().shards;
  const int count = ranks != nullptr && options.compile ? ranks->count() : 1;
  if (shards.ranks == 1 && count == 1) {
    return;
  }
  if (shards.ranks != count || shards.rank != ranks->rank() ||
      shards.count != options.compile_options.shards) {
    base::raise<ValueError>(
        "trainer: the loader reads for rank {} of {} and {} shards, the step "
        "is of {} ranks and {} shards; give both the same, and .compile",
        shards.rank, shards.ranks, shards.count, count,
        options.compile_options.shards);
  }
}

Result<void> rank_0_failed() {
  return failure(FailureKind::kIo,
                 "rank 0 could not write the checkpoint; it says why");
}

}  // namespace

// The step as a function of a batch alone. Results that there are not are the
// loss once more.
struct Trainer::Planned {
  struct Step {
    Trainer* trainer;

    /// The loss, the output where it is looked at, the gradients' norm.
    std::array<Tensor, 3> operator()(const Tensor& input,
                                     const Tensor& target) const {
      Tensor output = trainer->model_(input);
      Tensor loss = loss_of(trainer->options_.loss, output, target);
      if (!is_classification(output, target)) {
        output = loss;
      } else if (has_other_ranks(trainer->loader_)) {
        output = hits_of(output, target);  // of all ranks' rows
      }
      backward(loss);
      Tensor norm = trainer->update();
      return {loss, output, norm.defined() ? norm : loss};
    }
  };

  Planned(Trainer& trainer, const CompileOptions& options)
      : step(neap::compile(Step{&trainer}, options)) {}

  decltype(neap::compile(std::declval<Step>())) step;
};

namespace {

// Notes traced calls at the line that asked for the step.
class AtSite : public memory::ContextGuard {
 public:
  explicit AtSite(const CallSite& site)
      : ContextGuard([&](memory::Context& c) { c.site = base::intern(site); }) {
  }
};

}  // namespace

Trainer::Trainer(nn::Layer& model, optim::Optimizer& optimizer,
                 data::Loader& loader, TrainerOptions options)
    : model_(model),
      optimizer_(optimizer),
      loader_(loader),
      options_(std::move(options)),
      buffers_(model) {
  check_ranks(loader, options_);
  share_state();
  if (loader.batches_per_epoch() == 0) {
    base::raise<ValueError>(
        "trainer: {} samples give no batch of {}; use a smaller batch",
        loader.samples(), loader.batch_size());
  }
  if (options_.clip_norm > 0.0) {
    parameters_ = model.parameters();
  }
  if (options_.learning_rate) {
    optimizer.set_schedule(options_.learning_rate);
  }
  if (options_.compile) {
    planned_ = memory::make_owned<Planned>(
        memory::Category::kGraph, *this,
        options_for(loader, options_.compile_options));
  }
  loader_.start(0);
}

Trainer::~Trainer() = default;

void Trainer::share_state() const {
  if (options_.zero != 0 && options_.zero != 1) {
    base::raise<ValueError>(
        "trainer: .zero is {}; it must be 0 (each rank has all of the "
        "optimizer's state) or 1 (ranks share it out)",
        options_.zero);
  }
  if (options_.zero == 1 && has_other_ranks(loader_)) {
    optimizer_.share_out(options_.compile_options.ranks);
  }
}

Bytes Trainer::arena_bytes(const CallSite& site) const noexcept {
  return planned_ ? planned_->step.arena_bytes(site) : 0;
}

const Trainer::Planned& Trainer::planned() const {
  if (!planned_) {
    base::raise<ValueError>("trainer: its steps are not compiled");
  }
  return *planned_;
}

std::int64_t Trainer::traces(const CallSite& site) const {
  return planned().step.traces(site);
}

std::string Trainer::why(const CallSite& site) const {
  return planned().step.why(site);
}

const compiler::Program& Trainer::program(const CallSite& site) const {
  return planned().step.program(site);
}

const compiler::Plan& Trainer::plan(const CallSite& site) const {
  return planned().step.plan(site);
}

std::int64_t Trainer::steps_done(const CallSite& site) const noexcept {
  base::tell_of_question("steps_done", "how far a training is", site);
  return steps_done_;
}

Position Trainer::position(const CallSite& site) const noexcept {
  base::tell_of_question("position", "how far a training is", site);
  const std::int64_t fetched = batch_ != nullptr ? 1 : 0;
  return {steps_done_, loader_.epoch(), loader_.next_batch() - fetched};
}

Checkpoint Trainer::checkpoint(const Facts& facts) const {
  Checkpoint out{.model = model_,
                 .optimizer = optimizer_,
                 .generator = tensor::generator(),
                 .position = position(),
                 .facts = facts,
                 .average = options_.average,
                 .plateau = options_.plateau};
  const data::LoaderOptions& loader = loader_.options();
  const auto add = [&](const char* key, std::uint64_t value) {
    out.facts.push_back({key, memory::String(fmt::format("{}", value))});
  };
  add("loader.samples", static_cast<std::uint64_t>(loader_.samples()));
  add("loader.batch", static_cast<std::uint64_t>(loader.batch));
  add("loader.seed", loader.seed);
  add("loader.shuffle", loader.shuffle ? 1 : 0);
  add("loader.drop_last", loader.drop_last ? 1 : 0);
  if (const auto held = loader_.fingerprint()) {
    out.facts.push_back({memory::String(kDataFact), text_of("{:016x}", *held)});
  }
  return out;
}

// One rank writes what all of them have; the others learn how that ended.
Result<void> Trainer::save(const std::string& path, const Facts& facts,
                           files::Door& door, CallSite site) const {
  if (!has_other_ranks(loader_)) {
    return save_alone(path, facts, door, site);
  }
  if (optimizer_.is_shared_out()) {
    return save_shared(path, facts, door, site);
  }
  compiler::Ranks& ranks = *options_.compile_options.ranks;
  constexpr const char* kWhat = "the checkpoint that rank 0 writes";
  Result<void> result;
  if (ranks.rank() == 0) {
    try {
      result = save_alone(path, facts, door, site);
    } catch (...) {
      static_cast<void>(ranks.all(false, kWhat));
      throw;
    }
  }
  const bool is_saved = ranks.all(result.has_value(), kWhat);
  return is_saved || !result ? result : rank_0_failed();
}

// Rank 0 asks the others for their state as it writes it.
Result<void> Trainer::save_shared(const std::string& path, const Facts& facts,
                                  files::Door& door, CallSite site) const {
  Result<void> result;
  const auto said = optimizer_.read_state(
      "the checkpoint that rank 0 writes", [&]() -> std::uint64_t {
        result = save_alone(path, facts, door, site);
        return result.has_value() ? 1 : 0;
      });
  const bool is_saved = said.value_or(0) == 1;
  return is_saved || !result ? result : rank_0_failed();
}

Result<void> Trainer::save_alone(const std::string& path, const Facts& facts,
                                 files::Door& door, CallSite site) const {
  memory::trim();  // as the rehearsal: which pages are idle is an accident
  return checkpoint(facts).save(path, door, site);
}

void Trainer::rehearse_save(const Facts& facts) const {
  const data::LoaderShards& shards = loader_.options().shards;
  if (shards.ranks > 1 && shards.rank != 0) {
    return;  // rank 0 writes
  }
  memory::trim();
  checkpoint(facts).rehearse_save();
}

Result<void> Trainer::resume(const std::string& path, const Facts& facts,
                             files::Door& door, formats::Verify verify,
                             CallSite site) {
  Checkpoint found = checkpoint(facts);
  found.verify = verify;
  if (options_.compile && options_.compile_options.budget != kUnlimited) {
    found.spill = options_.compile_options.spill;
  }
  is_agreed_ = false;  // another rank's may fail
  return found.load(path, door, site).map([&] {
    steps_done_ = found.position.step;
    epoch_ = found.position.epoch;
    batch_ = nullptr;
    loader_.start(found.position.epoch, found.position.batch);
    memory::trim();  // what was read lay in pages that no step would reuse
  });
}

void Trainer::drop_gradients() noexcept {
  model_.zero_grad();
  optimizer_.zero_grad();  // it may have parameters that the model has not
}

const data::Batch& Trainer::fetch() {
  if (batch_ == nullptr) {
    batch_ = loader_.next();
  }
  if (batch_ == nullptr) {
    loader_.start(++epoch_);
    batch_ = loader_.next();
  }
  return *batch_;
}

void Trainer::prepare(CallSite site) {
  if (planned_) {
    const data::Batch& batch = fetch();
    drop_gradients();
    const AtSite guard(site);
    std::array specs{batch.input.spec(), batch.target.spec()};
    if (const std::int64_t rest = own_rest_of(loader_); rest != 0) {
      std::array smaller = specs;
      smaller[0].shape[0] = rest;
      smaller[1].shape[0] = rest;
      planned_->step.prepare(smaller);
    }
    planned_->step.prepare(specs);
  }
}

compiler::FitCurve Trainer::fit_curve(CallSite site) {
  const data::Batch& batch = fetch();
  drop_gradients();
  const AtSite guard(site);
  const CompileOptions options = options_for(loader_, options_.compile_options);
  std::array specs{batch.input.spec(), batch.target.spec()};
  for (tensor::Spec& spec : specs) {
    spec.shape[0] = options.max_batch > 0 ? options.max_batch : spec.shape[0];
  }
  return compiler::fit(Planned::Step{this}, specs, options, site);
}

void Trainer::set_profile(compiler::Profile* profile) {
  if (planned_) {
    planned_->step.set_profile(profile);
  }
}

// Ranks read the same data in the same order, from the same place on.
void Trainer::agree() {
  if (is_agreed_ || !has_other_ranks(loader_) ||
      memory::domain().is_rehearsal()) {
    return;
  }
  const data::LoaderOptions& options = loader_.options();
  const auto share = [](bool is_set) { return is_set ? std::int64_t{1} : 0; };
  const std::uint64_t facts = data::fingerprint(
      {loader_.samples(), options.batch,
       static_cast<std::int64_t>(options.seed), share(options.shuffle),
       share(options.drop_last), steps_done_, epoch_, position().batch},
      loader_.fingerprint().value_or(0));
  options_.compile_options.ranks->expect_equal(
      facts, "a trainer: its data, their order, or the place in it");
  is_agreed_ = true;
}

StepReport Trainer::step(CallSite site) {
  const auto start = std::chrono::steady_clock::now();
  const base::DrawKey random_state = tensor::generator().key();
  StepReport report;
  drop_gradients();
  buffers_.keep();
  try {
    agree();
    const data::Batch& batch = fetch();
    report.samples = batch.size();
    if (planned_) {
      run_program(batch, report, site);
    } else {
      run_eagerly(batch, report, site);
    }
  } catch (...) {
    tensor::generator().set_key(random_state);
    buffers_.restore();
    drop_gradients();
    throw;
  }
  batch_ = nullptr;
  report.learning_rate = optimizer_.lr();
  report.step = ++steps_done_;
  report.epoch = epoch_ + 1;
  report.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return report;
}

void Trainer::run_eagerly(const data::Batch& batch, StepReport& report,
                          const CallSite& site) {
  {
    const Tensor output = model_(batch.input, site);
    const Tensor loss = loss_of(options_.loss, output, batch.target);
    report.loss = number_of(loss);
    report.accuracy = accuracy_of(output, batch.target);
    backward(loss, BackwardOptions{}, site);
  }
  const Tensor norm = update(site);
  report.gradient_norm = norm.defined() ? number_of(norm) : 0.0;
}

void Trainer::run_program(const data::Batch& batch, StepReport& report,
                          const CallSite& site) {
  const AtSite guard(site);
  const auto [loss, output, norm] = planned_->step(batch.input, batch.target);
  report.loss = number_of(loss);
  report.gradient_norm = options_.clip_norm > 0.0 ? number_of(norm) : 0.0;
  if (!has_other_ranks(loader_)) {
    report.accuracy = accuracy_of(output, batch.target);
    return;
  }
  report.samples = planned_->step.program().sharding.rows;
  report.accuracy =
      output.array() != loss.array()
          ? number_of(output) / static_cast<double>(report.samples)
          : std::numeric_limits<double>::quiet_NaN();
}

// Gives the norm before clipping, where there is clipping.
Tensor Trainer::update(CallSite site) {
  Tensor norm;
  if (options_.clip_norm > 0.0) {
    norm = optim::clip_grad_norm(parameters_, options_.clip_norm, {}, site);
  }
  optimizer_.step({}, site);
  if (options_.average != nullptr) {
    options_.average->update(site);
  }
  drop_gradients();
  return norm;
}

}  // namespace neap::train
