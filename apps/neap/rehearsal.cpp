// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "rehearsal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>

#include "neap/autograd/backward.hpp"
#include "neap/compile/arenas.hpp"
#include "neap/compile/compile.hpp"
#include "neap/compile/prediction.hpp"
#include "neap/files/door.hpp"
#include "neap/formats/safetensors.hpp"
#include "neap/ops/ops.hpp"
#include "neap/optim/clip.hpp"
#include "neap/report/memory_table.hpp"
#include "neap/tensor/create.hpp"
#include "neap/train/fit.hpp"
#include "neap/train/metrics.hpp"
#include "neap/train/mode_guard.hpp"
#include "neap/train/trainer.hpp"
#include "pretrained_task.hpp"
#include "run_parts.hpp"
#include "saved_model.hpp"
#include "task.hpp"
#include "view_files.hpp"

namespace neap::app {
namespace {

using tensor::Spec;
using Clock = std::chrono::steady_clock;

// The first step of an eager run makes the optimizer's state, the second frees
// gradients, and the third is as the others.
constexpr int kEagerSteps = 3;

// The parts of a run, up to the step.
class Job {
 public:
  Job() = default;
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  virtual nn::Module& model() = 0;
  // Only what neap train does has something to go on from.
  virtual Result<void> resume(const std::string& /*path*/,
                              formats::Verify /*verify*/) {
    return {};
  }
  virtual void prepare() = 0;
  virtual compiler::FitCurve fit_curve() = 0;
  virtual void rehearse_save() const = 0;
  /// Does a dry run of all after the last step, from new peaks of the domain
  /// on; nothing else is called after it.
  virtual void rehearse_test() {}
  virtual const compiler::Program& program() const = 0;
  virtual const compiler::Plan& plan() const = 0;
  virtual Bytes data_set_bytes() const { return 0; }
};

// A model with a loss of its own, over batches that lie ready.
template <class Model, class LossOf>
class LossJob final : public Job {
 public:
  LossJob(const TrainSettings& s, std::unique_ptr<Model> model,
          const Spec& input, const Spec& target, LossOf loss_of)
      : model_(std::move(model)),
        optimizer_(make_optimizer(s, model_->parameters())),
        parameters_(model_->parameters()),
        facts_(facts_of(s, s.steps, nullptr)),
        clip_norm_(s.clip_norm),
        specs_{input, target},
        input_(batch_of(input)),
        target_(batch_of(target)),
        step_of_{this, loss_of},
        options_(step_options(s)),
        step_(compile(step_of_, options_)) {}

  nn::Module& model() override { return *model_; }
  void prepare() override { step_.prepare(specs_); }
  compiler::FitCurve fit_curve() override {
    return compiler::fit(step_of_, specs_, options_);
  }
  void rehearse_save() const override {
    train::Checkpoint{.model = *model_,
                      .optimizer = *optimizer_,
                      .generator = tensor::generator(),
                      .facts = facts_}
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
std::unique_ptr<Job> loss_job(const TrainSettings& s,
                              std::unique_ptr<Model> model, const Spec& input,
                              const Spec& target, LossOf loss_of) {
  return std::make_unique<LossJob<Model, LossOf>>(s, std::move(model), input,
                                                  target, loss_of);
}

// A language model's job, without a text.
std::unique_ptr<Job> language_job(const TrainSettings& s, std::int64_t batch) {
  const Spec tokens{i64, {batch, s.block}};
  auto away = born_away(s);
  auto made = make_language_model(s, s.vocab);
  away.reset();
  return loss_job(s, std::move(made), tokens, tokens,
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
      : settings_(s),
        task_(std::move(task)),
        model_(model_of(s, *task_)),
        optimizer_(make_optimizer(s, model_->parameters())),
        bytes_told_(told_of(*model_)),
        batch_(batch),
        loader_(std::in_place, task_->train(),
                data::LoaderOptions{.batch = batch,
                                    .shuffle = true,
                                    .seed = s.seed,
                                    .prefetch = static_cast<int>(s.prefetch)}),
        facts_(facts_of(s, s.steps, task_->vocabulary())),
        mode_(std::in_place, *model_, true),
        trainer_(std::in_place, *model_, *optimizer_, *loader_,
                 train::TrainerOptions{.clip_norm = s.clip_norm,
                                       .loss = task_->loss(),
                                       .compile = s.compile,
                                       .compile_options = step_options(s)}) {}

  nn::Module& model() override { return *model_; }
  Result<void> resume(const std::string& path,
                      formats::Verify verify) override {
    return trainer_->resume(path, facts_, files::system_door(), verify);
  }
  void prepare() override {
    trainer_->prepare();
    for (int step = 0; !settings_.compile && step < kEagerSteps; ++step) {
      trainer_->step();
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
    trainer_.reset();
    mode_.reset();
    facts_ = {};
    loader_.reset();
    domain.trim();
    domain.reset_peak();
    domain.set_budget(budget);
    data::Loader loader(task_->test(), {.batch = test_batch(batch_, *task_)});
    train::evaluate(*model_, loader,
                    {.loss = task_->loss(),
                     .compile = settings_.compile,
                     .compile_options = compile_options(settings_)});
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
  // The run says how large its model is. To count takes memory for a moment,
  // and what comes later lies elsewhere for it.
  static Bytes told_of(const nn::Module& model) {
    return model.parameter_count() > 0 ? model.parameter_bytes() : 0;
  }

  const TrainSettings& settings_;
  std::unique_ptr<Task> task_;
  std::unique_ptr<nn::Layer> model_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  Bytes bytes_told_;
  std::int64_t batch_;
  std::optional<data::Loader> loader_;
  train::Facts facts_;  // of a checkpoint
  std::optional<train::ModeGuard> mode_;
  std::optional<train::Trainer> trainer_;
};

Result<std::unique_ptr<Job>> make_job(const TrainSettings& s,
                                      std::int64_t batch) {
  if (!has_task(s)) {
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
  return std::make_unique<TaskJob>(s, batch, std::move(*task));
}

// --- what is reported ------------------------------------------------------

constexpr std::string_view kNoLayer = "(no layer)";

// The layer. A line of source would be one of the tool's own, which made the
// model and calls it.
std::string_view place_of(std::string_view layer) {
  return layer.empty() ? kNoLayer : layer;
}

// Bytes by category and by layer: the ledger's rows, with what lies in the
// arena at its peak in the place of the arena's own row.
class Sums {
 public:
  Sums(const memory::Domain& domain, const compiler::Prediction& said) {
    const auto ledger = report::breakdown(domain, report::Instant::kNow);
    for (const report::Line& line : ledger.by_layer) {
      if (line.name == compiler::kArenaOwner) {
        continue;
      }
      for (std::size_t c = 0; c < line.by_category.size(); ++c) {
        add(line.name, c, line.by_category[c]);
      }
    }
    for (const compiler::PeakLine& line : said.at_peak) {
      add(line.layer, static_cast<std::size_t>(line.category), line.bytes);
    }
    add("(arena, free at its peak)",
        static_cast<std::size_t>(memory::Category::kOther),
        said.arena - said.live_at_peak);
  }

  Rehearsal::Named categories() const {
    Rehearsal::Named named;
    for (std::size_t c = 0; c < by_category_.size(); ++c) {
      named.emplace_back(name_of(static_cast<memory::Category>(c)),
                         by_category_[c]);
    }
    return named;
  }
  Rehearsal::Named layers() const {
    Rehearsal::Named named(by_layer_.begin(), by_layer_.end());
    std::stable_sort(
        named.begin(), named.end(),
        [](const auto& a, const auto& b) { return a.second > b.second; });
    return named;
  }
  Bytes of(memory::Category category) const {
    return by_category_[static_cast<std::size_t>(category)];
  }

 private:
  void add(std::string_view layer, std::size_t category, Bytes bytes) {
    if (bytes != 0) {
      by_category_[category] += bytes;
      by_layer_[std::string(place_of(layer))] += bytes;
    }
  }

  std::array<Bytes, memory::kCategoryCount> by_category_{};
  std::map<std::string, Bytes> by_layer_;
};

Rehearsal::Named lines_of(const compiler::Prediction& said,
                          const compiler::Program& program) {
  Rehearsal::Named lines;
  for (const compiler::PeakLine& line : said.at_peak) {
    lines.emplace_back(
        fmt::format("{:<18} {:<16} {}", line.op,
                    line.value == compiler::kNoValue
                        ? "scratch"
                        : format_shape(program[line.value].spec->shape),
                    place_of(line.layer)),
        line.bytes);
  }
  return lines;
}

Rehearsal describe(Job& job, const memory::Domain& domain) {
  const compiler::Prediction said =
      compiler::predict(job.program(), job.plan());
  const Sums sums(domain, said);
  using memory::Category;
  Rehearsal r;
  r.arena = said.arena;
  r.lower_bound = said.lower_bound;
  r.is_proven = said.is_proven;
  r.persistent = sums.of(Category::kParameters) + sums.of(Category::kBuffers) +
                 sums.of(Category::kOptimizerState);
  r.workspace = said.workspace;
  r.data_set = job.data_set_bytes();
  r.by_category = sums.categories();
  r.by_layer = sums.layers();
  r.live = lines_of(said, job.program());
  r.calls = said.ops;
  r.fitting = said.fitting;
  r.sharding = said.sharding;
  r.peak_call = said.peak_call;
  if (!said.peak_op.empty()) {
    r.peak_step = said.peak_layer.empty()
                      ? fmt::format("{} outside the layers", said.peak_op)
                      : fmt::format("{} of {}", said.peak_op, said.peak_layer);
  }
  r.parameters = job.model().parameter_count();
  return r;
}

// Runs the job as far as its first step, and saves it.
Result<std::unique_ptr<Job>> run_job(const TrainSettings& settings,
                                     std::int64_t batch) {
  auto job = make_job(settings, batch);
  if (!job) {
    return job;
  }
  if (!settings.resume.empty()) {
    if (auto good = (*job)->resume(settings.resume, verify_of(settings.verify));
        !good) {
      return tl::unexpected(good.error());
    }
  }
  (*job)->prepare();
  if (!settings.save.empty()) {
    (*job)->rehearse_save();
  }
  return job;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The run looks whether there is one before it does anything.
Result<void> look_at_checkpoint(const TrainSettings& settings) {
  if (settings.resume.empty()) {
    return {};
  }
  auto file = formats::SafetensorsFile::open(
      files::system_door(), settings.resume, verify_of(settings.verify));
  return file ? Result<void>() : tl::unexpected(file.error());
}

// A domain without memory, and the run's generator.
class Dry {
 public:
  explicit Dry(const TrainSettings& settings)
      : domain_(memory::Domain::create(
            {.name = "rehearsal", .is_rehearsal = true})),
        generator_(settings.seed),
        use_domain_(*domain_),
        use_generator_(generator_) {}
  memory::Domain& domain() { return *domain_; }
  // Idle pages go as in the run, where the step is limited.
  void keep_budget(const TrainSettings& settings) {
    if (settings.arena_limit != kUnlimited ||
        settings.step_budget != kUnlimited) {
      domain_->set_budget(settings.budget);
    }
  }

 private:
  memory::Domain::Handle domain_;
  Generator generator_;
  UseDomain use_domain_;
  UseGenerator use_generator_;
};

}  // namespace

Result<report::Snapshot> rehearsed_view(const TrainSettings& settings,
                                        std::int64_t batch) {
  Dry dry(settings);
  dry.keep_budget(settings);
  return run_job(settings, batch).map([&](const std::unique_ptr<Job>& job) {
    return view_of(settings, job->program(), job->plan(), dry.domain());
  });
}

Result<FitCurve> fit_curve(const TrainSettings& settings, std::int64_t batch) {
  const Dry dry(settings);
  if (auto good = look_at_checkpoint(settings); !good) {
    return tl::unexpected(good.error());
  }
  return make_job(settings, batch).map([](const std::unique_ptr<Job>& job) {
    const compiler::FitCurve found = job->fit_curve();
    return FitCurve(found.begin(), found.end());
  });
}

Result<Bytes> eager_need(TrainSettings settings) {
  settings.compile = false;
  Dry dry(settings);
  memory::Domain& domain = dry.domain();
  const auto job = run_job(settings, settings.batch);
  if (!job) {
    return tl::unexpected(job.error());
  }
  const Bytes peak = domain.stats().peak;
  (*job)->rehearse_test();
  const memory::Stats after = domain.stats();
  return std::max(peak, after.peak) + after.external;
}

Result<Rehearsal> rehearse(const TrainSettings& settings, std::int64_t batch) {
  const auto start = Clock::now();
  Dry dry(settings);
  memory::Domain& domain = dry.domain();
  dry.keep_budget(settings);
  Rehearsal result;
  {
    if (auto good = look_at_checkpoint(settings); !good) {
      return tl::unexpected(good.error());
    }
    std::optional<train::MetricsLog> metrics;
    if (const auto options = metrics_of(settings)) {
      metrics = train::MetricsLog::rehearse(*options);
    }
    auto job = run_job(settings, batch);
    if (!job) {
      return tl::unexpected(job.error());
    }
    const memory::Stats stats =
        domain.stats();  // what is said of the run takes memory, too
    result = describe(**job, domain);
    result.plan_seconds = seconds_since(start);
    (*job)->rehearse_test();
    const memory::Stats after = domain.stats();
    result.peak = std::max(stats.peak, after.peak);
    result.live_peak = std::max(stats.live_peak, after.live_peak);
    result.external = stats.external;  // with a reader of batches
  }
  return result;
}

}  // namespace neap::app
