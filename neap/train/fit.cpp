// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/fit.hpp"

#include <chrono>
#include <optional>

#include "neap/base/ceil_div.hpp"
#include "neap/base/raise.hpp"
#include "neap/compile/profile.hpp"
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

// Tests the model between steps when its plan says so.
class Tester {
 public:
  // THROWS: ValueError.
  Tester(nn::Layer& model, const FitOptions& options, const CallSite& site)
      : plan_(options.test), trainer_(options.trainer) {
    if (plan_.loader == nullptr) {
      return;
    }
    if (plan_.every_steps <= 0) {
      base::raise<ValueError>("fit: a test every {} steps, expected 1 or more",
                              plan_.every_steps);
    }
    if (plan_.loader->batches_per_epoch() == 0) {
      base::raise<ValueError>(
          "fit: {} samples to test with give no batch of {}",
          plan_.loader->samples(), plan_.loader->batch_size());
    }
    evaluator_.emplace(model, *plan_.loader, plan_.options, site);
  }

  void prepare(const CallSite& site) {
    if (evaluator_) {
      evaluator_->prepare(site);
    }
  }
  void after_step(std::int64_t step, const CallSite& site) {
    if (!evaluator_ || step % plan_.every_steps != 0) {
      return;
    }
    const Evaluation found = measure(site);
    if (trainer_.plateau != nullptr) {
      trainer_.plateau->step(found.loss);
    }
    if (plan_.on_evaluation) {
      plan_.on_evaluation(step, found);
    }
  }

 private:
  Evaluation measure(const CallSite& site) {
    if (trainer_.average == nullptr) {
      return evaluator_->run(site);
    }
    const optim::UseAverages averaged(*trainer_.average, site);
    return evaluator_->run(site);
  }

  const TestPlan& plan_;
  const TrainerOptions& trainer_;
  std::optional<Evaluator> evaluator_;
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
  Tester tester(model, options, site);
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
  tester.prepare(site);
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
    tester.after_step(result.steps, site);
    saver.after_step(site);
  }
  saver.at_end(site);
  return result;
}

}  // namespace neap::train
