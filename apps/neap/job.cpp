// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "job.hpp"

#include <array>
#include <optional>
#include <utility>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile.hpp"
#include "neap/files/door.hpp"
#include "neap/optim/clip.hpp"
#include "neap/program/ranks.hpp"
#include "neap/tensor/create.hpp"
#include "neap/train/fit.hpp"
#include "neap/train/mode_guard.hpp"
#include "neap/train/trainer.hpp"
#include "pretrained_task.hpp"
#include "ranks.hpp"
#include "run_parts.hpp"
#include "task.hpp"

namespace neap::app {
namespace {

using tensor::Spec;

// The first step of an eager run makes the optimizer's state, the second frees
// gradients, and the third is as the others.
constexpr int kEagerSteps = 3;

// A model with a loss of its own, over batches that lie ready.
template <class Model, class LossOf>
class LossJob final : public Job {
 public:
  LossJob(const TrainSettings& s, std::int64_t batch,
          std::unique_ptr<Model> model, const Spec& input, const Spec& target,
          LossOf loss_of)
      : model_(std::move(model)),
        optimizer_(make_optimizer(s, model_->parameters())),
        average_(make_average(s, *model_)),
        parameters_(model_->parameters()),
        facts_(facts_of(s, s.steps, nullptr)),
        clip_norm_(s.clip_norm),
        specs_{input, target},
        input_(batch_of(input)),
        target_(batch_of(target)),
        step_of_{this, loss_of},
        options_(step_options(for_dry_run(s, {batch}))),
        step_(compile(step_of_, options_)) {
    if (s.zero != 0) {
      optimizer_->share_out(options_.ranks);
    }
  }

  nn::Module& model() override { return *model_; }
  void prepare() override { step_.prepare(specs_); }
  compiler::FitCurve fit_curve() override {
    return compiler::fit(step_of_, specs_, options_);
  }
  void rehearse_save() const override {
    if (options_.ranks != nullptr && options_.ranks->rank() != 0) {
      return;  // rank 0 writes
    }
    train::Checkpoint{.model = *model_,
                      .optimizer = *optimizer_,
                      .generator = tensor::generator(),
                      .facts = facts_,
                      .average = average_.get()}
        .rehearse_save();
  }
  const compiler::Program& program() const override { return step_.program(); }
  const compiler::Plan& plan() const override { return step_.plan(); }

 private:
  struct Step {
    LossJob* job;
    LossOf loss_of;
    Tensor operator()(const Tensor& input, const Tensor& target) const {
      const Tensor loss = loss_of(*job->model_, input, target);
      backward(loss);
      if (job->clip_norm_ > 0.0) {
        optim::clip_grad_norm(job->parameters_, job->clip_norm_);
      }
      job->optimizer_->step({.release_gradients = true});
      if (job->average_) {
        job->average_->update();
      }
      return loss.detach();
    }
  };
  static Tensor batch_of(const Spec& spec) {
    const memory::ContextGuard guard(
        [](memory::Context& c) { c.category = memory::Category::kInputs; });
    return empty(spec.shape, spec.dtype);
  }

  std::unique_ptr<Model> model_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::unique_ptr<optim::Ema> average_;  // null: there are none
  ParameterList parameters_;
  train::Facts facts_;  // of a checkpoint
  double clip_norm_;
  std::array<Spec, 2> specs_;
  Tensor input_;
  Tensor target_;
  Step step_of_;
  CompileOptions options_;
  compiler::Compiled<Step> step_;
};

template <class Model, class LossOf>
std::unique_ptr<Job> loss_job(const TrainSettings& s, std::int64_t batch,
                              std::unique_ptr<Model> model, const Spec& input,
                              const Spec& target, LossOf loss_of) {
  return std::make_unique<LossJob<Model, LossOf>>(s, batch, std::move(model),
                                                  input, target, loss_of);
}

// A language model's job, without a text.
std::unique_ptr<Job> language_job(const TrainSettings& s, std::int64_t batch) {
  const Spec tokens{i64, {own_rows(s, batch), s.block}};
  auto away = born_away(s);
  auto made = make_language_model(s, s.vocab);
  away.reset();
  return loss_job(s, batch, std::move(made), tokens, tokens,
                  [loss = language_loss()](nn::Layer& model, const Tensor& in,
                                           const Tensor& targets) {
                    return loss(model(in), targets);
                  });
}

// The job of neap train, with its own trainer and data.
class TaskJob final : public Job {
 public:
  TaskJob(const TrainSettings& s, std::int64_t batch,
          std::unique_ptr<Task> task)
      : settings_(for_dry_run(s, {batch, task->train().size() % batch})),
        task_(std::move(task)),
        model_(model_of(s, *task_)),
        optimizer_(make_optimizer(s, model_->parameters())),
        average_(make_average(s, *model_)),
        plateau_(make_plateau(s, *optimizer_)),
        bytes_told_(told_of(*model_)),
        batch_(batch),
        loader_(std::in_place, task_->train(),
                options_of_loader(s, batch, task_->train().size())),
        tests_(loader_of_tests()),
        facts_(facts_of(s, s.steps, task_->vocabulary(), task_->class_names())),
        mode_(std::in_place, *model_, true),
        trainer_(
            std::in_place, *model_, *optimizer_, *loader_,
            train::TrainerOptions{.clip_norm = s.clip_norm,
                                  .loss = task_->loss(),
                                  .average = average_.get(),
                                  .plateau = plateau_.get(),
                                  .compile = s.compile,
                                  .compile_options = step_options(settings_),
                                  .zero = static_cast<int>(s.zero)}) {
    if (tests_) {
      add_test_data(s, *tests_, facts_);
      evaluator_.emplace(*model_, *tests_, test_options());
    }
  }

  nn::Module& model() override { return *model_; }
  Result<void> resume(const std::string& path,
                      formats::Verify verify) override {
    return trainer_->resume(path, facts_, files::system_door(), verify);
  }
  void prepare() override {
    trainer_->prepare();
    if (evaluator_) {
      evaluator_->prepare();
    }
    for (int step = 0; !settings_.compile && step < kEagerSteps; ++step) {
      trainer_->step();
    }
    if (!settings_.compile && evaluator_) {
      evaluator_->run();
    }
  }
  compiler::FitCurve fit_curve() override { return trainer_->fit_curve(); }
  void rehearse_save() const override { trainer_->rehearse_save(facts_); }
  // Where the training part has fewer sizes of batches than the test part, the
  // pass may need more than the steps did.
  void rehearse_test() override {
    memory::Domain& domain = memory::domain();
    const Bytes budget = domain.budget();
    domain.set_budget(kUnlimited);  // the state is there twice for a moment
    // Puts the state in memory as a step would, which the dry run leaves out:
    // otherwise it is freed with the plan.
    optimizer_->set_state(optimizer_->zero_state());
    evaluator_.reset();
    trainer_.reset();
    mode_.reset();
    facts_ = {};
    tests_.reset();
    loader_.reset();
    domain.trim();
    domain.reset_peak();
    domain.set_budget(budget);
    data::Loader loader(task_->test(), {.batch = test_batch(batch_, *task_)});
    train::evaluate(*model_, loader, test_options());
  }
  const compiler::Program& program() const override {
    return trainer_->program();
  }
  const compiler::Plan& plan() const override { return trainer_->plan(); }
  Bytes data_set_bytes() const override { return task_->data_bytes(); }

 private:
  static std::unique_ptr<nn::Layer> model_of(const TrainSettings& s,
                                             const Task& task) {
    const auto away = born_away(s);
    return task.make_model();
  }
  // The batch may be another one than the settings'.
  static data::LoaderOptions options_of_loader(TrainSettings s,
                                               std::int64_t batch,
                                               std::int64_t samples) {
    s.batch = batch;
    return loader_options(s, samples);
  }
  std::optional<data::Loader> loader_of_tests() const {
    if (settings_.eval_steps == 0) {
      return std::nullopt;
    }
    return std::optional<data::Loader>(
        std::in_place, task_->test(),
        data::LoaderOptions{.batch = test_batch(batch_, *task_)});
  }
  train::EvaluateOptions test_options() const {
    return {.loss = task_->loss(),
            .compile = settings_.compile,
            .compile_options = compile_options(settings_)};
  }
  // The run says how large its model is. To count takes memory for a moment,
  // and what comes later lies elsewhere for it.
  static Bytes told_of(const nn::Module& model) {
    return model.parameter_count() > 0 ? model.parameter_bytes() : 0;
  }

  TrainSettings settings_;  // of a dry run
  std::unique_ptr<Task> task_;
  std::unique_ptr<nn::Layer> model_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::unique_ptr<optim::Ema> average_;              // null: there are none
  std::unique_ptr<optim::ReduceOnPlateau> plateau_;  // null: another schedule
  Bytes bytes_told_;
  std::int64_t batch_;
  std::optional<data::Loader> loader_;
  std::optional<data::Loader> tests_;  // between steps
  train::Facts facts_;                 // of a checkpoint
  std::optional<train::ModeGuard> mode_;
  std::optional<train::Trainer> trainer_;
  std::optional<train::Evaluator> evaluator_;
};

}  // namespace

Result<std::unique_ptr<Job>> make_job(const TrainSettings& s,
                                      std::int64_t batch) {
  if (!has_task(s)) {
    if (s.eval_steps > 0) {
      return failure(FailureKind::kMismatch,
                     "--eval-every: without a text (--data text --path FILE) "
                     "there is nothing to test on");
    }
    if (!s.from.empty()) {
      if (auto good = look_at_pretrained(s); !good) {
        return tl::unexpected(good.error());
      }
    }
    return language_job(s, batch);
  }
  auto task = make_task(s);
  if (!task) {
    return tl::unexpected(task.error());
  }
  if (auto good = check_tests(s, **task); !good) {
    return tl::unexpected(good.error());
  }
  return std::make_unique<TaskJob>(s, batch, std::move(*task));
}

}  // namespace neap::app
