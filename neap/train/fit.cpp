// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/fit.hpp"

#include <chrono>
#include <limits>

#include "neap/base/ceil_div.hpp"
#include "neap/compile/compile.hpp"
#include "neap/compile/profile.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/train/batches.hpp"
#include "neap/train/measures.hpp"
#include "neap/train/mode_guard.hpp"

namespace neap::train {
namespace {

files::Door& door_of(files::Door* door) noexcept {
  return door != nullptr ? *door : files::system_door();
}

// Saves a run when its plan says so.
class Saver {
 public:
  Saver(const Trainer& trainer, const FitOptions& options, FitResult& result)
      : trainer_(trainer),
        options_(options),
        result_(result),
        saved_step_(trainer.steps_done()) {}

  void after_step(const CallSite& site) {
    const SavePlan& plan = options_.save;
    const bool is_due =
        (plan.every_steps > 0 &&
         trainer_.steps_done() - saved_step_ >= plan.every_steps) ||
        (plan.every_seconds > 0.0 &&
         seconds_since_save() >= plan.every_seconds);
    if (is_due) {
      save(site);
    }
  }
  void at_end(const CallSite& site) {
    if (!is_saved_ || saved_step_ != trainer_.steps_done()) {
      save(site);
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  double seconds_since_save() const {
    return std::chrono::duration<double>(Clock::now() - saved_at_).count();
  }
  void save(const CallSite& site) {
    if (options_.save.path.empty()) {
      return;
    }
    auto saved = trainer_.save(options_.save.path, options_.facts,
                               door_of(options_.door), site);
    is_saved_ = saved.has_value();
    saved_step_ = trainer_.steps_done();
    saved_at_ = Clock::now();
    result_.save_failure.reset();
    if (!saved) {
      result_.save_failure = std::move(saved.error());
    }
  }

  const Trainer& trainer_;
  const FitOptions& options_;
  FitResult& result_;
  std::int64_t saved_step_;  // or tried to
  Clock::time_point saved_at_ = Clock::now();
  bool is_saved_ = false;
};

// The first step warms up: caches, pages, the spill file.
void set_profile(Trainer& trainer, const FitOptions& options,
                 std::int64_t done) {
  if (options.profile != nullptr) {
    const bool is_on =
        done > 0 && options.profile->runs < options.profiled_steps;
    trainer.set_profile(is_on ? options.profile : nullptr);
  }
}

}  // namespace

FitResult fit(nn::Layer& model, optim::Optimizer& optimizer,
              data::Loader& loader, const FitOptions& options, CallSite site) {
  const ModeGuard mode(model, true);
  Trainer trainer(model, optimizer, loader, options.trainer);
  FitResult result;
  if (!options.resume.empty()) {
    auto resumed = trainer.resume(options.resume, options.facts,
                                  door_of(options.door), options.verify, site);
    if (!resumed) {
      result.resume_failure = std::move(resumed.error());
      return result;
    }
    result.steps = result.resumed = trainer.steps_done();
  }
  const std::int64_t each = loader.batches_per_epoch();
  const std::int64_t steps =
      options.steps > 0 ? options.steps : options.epochs * each;
  trainer.prepare(site);
  if (trainer.is_compiled() && !options.save.path.empty()) {
    trainer.rehearse_save(options.facts);
  }
  if (options.on_ready) {
    options.on_ready(trainer);
  }
  Saver saver(trainer, options, result);
  while (result.steps < steps && !result.is_stopped) {
    set_profile(trainer, options, result.steps - result.resumed);
    StepReport report = trainer.step(site);
    report.steps = steps;
    report.epochs = base::ceil_div(steps, each);
    result.steps = report.step;
    result.seconds += report.seconds;
    result.last_loss = report.loss;
    result.is_stopped =
        options.on_step && options.on_step(report) == Next::kStop;
    saver.after_step(site);
  }
  saver.at_end(site);
  return result;
}

namespace {

// The output where it is looked at, and the loss.
using Measured = std::pair<Tensor, Tensor>;

Measured measure(nn::Layer& model, const Loss& loss, const Tensor& input,
                 const Tensor& target, const CallSite& site) {
  const Tensor output = model(input, site);
  const Tensor value = loss_of(loss, output, target);
  return {is_classification(output, target) ? output : value, value};
}

template <class Measure>
Evaluation evaluate_by(Measure&& measure, data::Loader& loader) {
  Evaluation result;
  loader.start(0);
  while (const data::Batch* batch = loader.next()) {
    const Measured measured = measure(batch->input, batch->target);
    const Tensor& output = measured.first;
    const Tensor& loss = measured.second;
    const auto samples = static_cast<double>(batch->size());
    result.loss += number_of(loss) * samples;
    result.accuracy += accuracy_of(output, batch->target) * samples;
    result.samples += batch->size();
  }
  if (result.samples == 0) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    return {.loss = kNone, .accuracy = kNone, .samples = 0};
  }
  result.loss /= static_cast<double>(result.samples);
  result.accuracy /= static_cast<double>(result.samples);
  return result;
}

}  // namespace

Evaluation evaluate(nn::Layer& model, data::Loader& loader,
                    const EvaluateOptions& options, CallSite site) {
  const ModeGuard mode(model, false);
  const NoGrad no_grad;
  const auto measured = [&](const Tensor& input, const Tensor& target) {
    return measure(model, options.loss, input, target, site);
  };
  if (!options.compile || loader.batches_per_epoch() == 0) {
    return evaluate_by(measured, loader);
  }
  return evaluate_by(
      neap::compile(measured, options_for(loader, options.compile_options),
                    site),
      loader);
}

}  // namespace neap::train
