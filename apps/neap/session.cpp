// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cstdio>
#include <memory>

#include "interrupt.hpp"
#include "kept_plan.hpp"
#include "neap/base/ceil_div.hpp"
#include "neap/base/shown.hpp"
#include "neap/compile/fitting.hpp"
#include "neap/dist/init.hpp"
#include "neap/files/door.hpp"
#include "neap/kernels/engine/plugin.hpp"
#include "neap/program/program.hpp"
#include "neap/report/memory_table.hpp"
#include "neap/threads/pool.hpp"
#include "neap/train/fit.hpp"
#include "neap/train/metrics.hpp"
#include "neap/train/state_hash.hpp"
#include "output_files.hpp"
#include "plan_view.hpp"
#include "pretrained_task.hpp"
#include "probe.hpp"
#include "progress.hpp"
#include "ranks.hpp"
#include "report_stream.hpp"
#include "retraces.hpp"
#include "run_parts.hpp"
#include "run_text.hpp"
#include "saved_model.hpp"
#include "startup_pages.hpp"
#include "task.hpp"
#include "terminal.hpp"

namespace neap::app {
namespace {

// Everything that lives while a run does.
class Session {
 public:
  /// LIFETIME: all outlive it.
  Session(const TrainSettings& settings, memory::Domain& domain, RunView& view)
      : settings_(settings),
        group_(dist::init({.deadline = settings.rank_timeout})),
        domain_(domain),
        generator_(settings.seed),
        view_(view) {}
  ~Session() {
    view_.drop_profile();
    if (settings_.book) {
      *settings_.book = {};
    }
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  ExitCode run(Summary& summary, std::string& report) {
    if (auto opened = open_metrics(); !opened) {
      return fail(ExitCode::kOutput, opened.error().message);
    }
    auto made = make_task(settings_);
    if (!made) {
      return fail(ExitCode::kData, made.error().message);
    }
    task_ = std::move(*made);
    if (auto good = check(settings_, steps()).and_then([&] {
          return check_tests(settings_, *task_);
        });
        !good) {
      return fail(ExitCode::kUsage, good.error().message);
    }
    summary.data_set_bytes = task_->data_bytes();
    const UseGenerator use(generator_);
    const std::unique_ptr<nn::Layer> model = [&] {
      const auto away = born_away(settings_);
      return task_->make_model();
    }();
    const auto optimizer = make_optimizer(settings_, model->parameters());
    average_ = make_average(settings_, *model);
    plateau_ = make_plateau(settings_, *optimizer);
    describe(*model);
    if (const ExitCode done = train(*model, *optimizer, summary);
        done != ExitCode::kOk) {
      view_.finish();
      return done;
    }
    test_and_export(*model, summary);
    view_.finish();
    summary.state_hash =
        average_ ? train::state_hash(*model, *optimizer, *average_, generator_)
                 : train::state_hash(*model, *optimizer, generator_);
    say(report_of(settings_), "{}", view_.profile_text());
    finish(summary, report);
    return ExitCode::kOk;
  }

  /// The failure of the latest save of a run that ended well, if there was one,
  /// or else that of the metrics.
  std::optional<Failure> output_failure() {
    if (metrics_) {
      static_cast<void>(metrics_->close());
    }
    if (view_.failure()) {
      return view_.failure();
    }
    return save_failure_ || !metrics_ ? save_failure_ : metrics_->failure();
  }
  /// kOk, or the status of the signal that ended the run.
  ExitCode end() const { return end_; }

 private:
  Result<void> open_metrics() {
    const auto options = metrics_of(settings_);
    if (!options) {
      return {};
    }
    return train::MetricsLog::open(files::system_door(), *options)
        .map([&](train::MetricsLog&& log) { metrics_ = std::move(log); });
  }

  // Number of steps of the whole run.
  std::int64_t steps() const {
    const std::int64_t each =
        base::ceil_div(task_->train().size(), settings_.batch);
    return settings_.steps > 0 ? settings_.steps : settings_.epochs * each;
  }

  void describe(const nn::Module& model) const {
    say(report_of(settings_), "data     {}\n{}", task_->describe_data(),
        task_->remarks());
    say(report_of(settings_), "model    {}, {} parameters, {}\n",
        settings_.model, format_grouped(model.parameter_count()),
        format_bytes(model.parameter_bytes()));
    const int threads = threads::default_pool().threads();
    if (settings_.ranks > 1) {
      say(report_of(settings_),
          "ranks    {} over {}, {} shards of each batch\n", settings_.ranks,
          group_.engine_name(), settings_.shards);
    }
    say(report_of(settings_),
        "run      batch {}, {} {:g}, seed {}, {} thread{}, {}, {}kernels {}\n",
        settings_.batch, settings_.optimizer, settings_.learning_rate,
        settings_.seed, threads, threads == 1 ? "" : "s", kernels::isa(),
        shown_dtype(settings_.dtype), kernels::kernel_set());
    if (average_) {
      say(report_of(settings_), "average  decay {:g}, {} tensors, {}\n",
          average_->options().decay, average_->averages().size(),
          format_bytes(average_->bytes()));
    }
    std::fflush(stdout);
  }

  train::EvaluateOptions test_options() const {
    return {.loss = task_->loss(),
            .compile = settings_.compile,
            .compile_options = compile_options(settings_)};
  }

  train::FitOptions fit_options() {
    train::FitOptions options;
    options.epochs = settings_.epochs;
    options.steps = settings_.steps;
    options.resume = settings_.resume;
    options.verify = verify_of(settings_.verify);
    options.save = {.path = settings_.save,
                    .every_steps = settings_.save_steps,
                    .every_seconds = settings_.save_seconds};
    options.facts =
        facts_of(settings_, steps(), task_->vocabulary(), task_->class_names());
    options.profile = view_.profile();
    options.trainer.loss = task_->loss();
    options.trainer.clip_norm = settings_.clip_norm;
    options.trainer.learning_rate = make_schedule(settings_, steps());
    options.trainer.average = average_.get();
    options.trainer.plateau = plateau_.get();
    options.trainer.compile = settings_.compile;
    options.trainer.compile_options = step_options(settings_);
    options.trainer.zero = static_cast<int>(settings_.zero);
    return options;
  }

  // LIFETIME: loader and progress outlive the options.
  void add_tests(data::Loader& tests, Progress& progress,
                 train::FitOptions& options) {
    add_test_data(settings_, tests, options.facts);
    options.test = {
        .loader = &tests,
        .every_steps = settings_.eval_steps,
        .options = test_options(),
        .on_evaluation = [&](std::int64_t step, const train::Evaluation& e) {
          progress.evaluation(step, e);
          note(step, e);
        }};
  }

  // A good run, or one that could not be resumed; a failed save is told later.
  ExitCode train(nn::Layer& model, optim::Optimizer& optimizer,
                 Summary& summary) {
    data::Loader loader(task_->train(),
                        loader_options(settings_, task_->train().size()));
    Progress progress(Progress::style_of(settings_.progress), domain_);
    Probe probe;
    std::int64_t images = 0;
    double seconds = 0.0;
    const InterruptGuard guard;
    std::optional<data::Loader> tests;
    if (settings_.eval_steps > 0) {
      tests.emplace(
          task_->test(),
          data::LoaderOptions{.batch = test_batch(settings_.batch, *task_)});
    }
    train::FitOptions options = fit_options();
    if (tests) {
      add_tests(*tests, progress, options);
    }
    Retraces retraces;
    options.on_ready = [&](const train::Trainer& trainer) {
      retraces = settings_.verbose ? Retraces(trainer) : Retraces();
      tell_resumed(trainer);
      tell_plan(trainer, summary);
      drop_startup_pages();  // of tracing and planning
    };
    options.on_step = [&](const train::StepReport& report) {
      probe.step(report.seconds);
      images += report.samples;
      progress.step(report);
      retraces.tell(report, progress);
      view_.note_step(report);
      if (metrics_) {  // a failure is told at the end; the training goes on
        static_cast<void>(metrics_->step(report));
      }
      seconds += report.seconds;
      return next_after(seconds, summary);
    };
    drop_startup_pages();  // of reading the data and making the model
    const train::FitResult result =
        train::fit(model, optimizer, loader, options);
    progress.finish();
    view_.note_end();
    if (result.resume_failure) {
      const bool is_other =
          result.resume_failure->kind == FailureKind::kMismatch;
      return fail(is_other ? ExitCode::kUsage : ExitCode::kData,
                  result.resume_failure->message);
    }
    sum_up(result, probe, summary);
    summary.images_per_second = static_cast<double>(images) / result.seconds;
    return ExitCode::kOk;
  }

  // The same in all ranks.
  train::Next next_after(double seconds, Summary& summary) const {
    const bool is_time_up =
        settings_.minutes > 0.0 && seconds >= 60.0 * settings_.minutes;
    const Stop stop =
        any_stop(group_, {is_time_up, InterruptGuard::is_asked_to_stop()});
    summary.is_interrupted = stop.is_interrupted;
    return stop.is_time_up || stop.is_interrupted ? train::Next::kStop
                                                  : train::Next::kContinue;
  }

  void sum_up(const train::FitResult& result, const Probe& probe,
              Summary& summary) {
    summary.step_ms_median = probe.step_ms();
    summary.heap_calls_per_step = probe.heap_calls();
    summary.page_faults_per_step = probe.page_faults();
    save_failure_ = result.save_failure;
    end_ = summary.is_interrupted ? InterruptGuard::exit_code() : ExitCode::kOk;
    summary.checkpoint = save_failure_ ? "" : settings_.save;
    summary.external = domain_.stats().external;  // with the reader's stack
    summary.steps = result.steps;
    summary.resumed_steps = result.resumed;
    summary.train_loss = result.last_loss;
  }

  void tell_resumed(const train::Trainer& trainer) const {
    if (!settings_.resume.empty()) {
      say(report_of(settings_), "resumed  from {}, after {} steps\n",
          base::shown_path(settings_.resume),
          format_grouped(trainer.steps_done()));
    }
  }

  // Notes and prints the plan of a compiled run before its first step.
  void tell_plan(const train::Trainer& trainer, Summary& summary) {
    if (!trainer.is_compiled()) {
      return;
    }
    summary.is_compiled = true;
    summary.arena_bytes = trainer.arena_bytes();
    summary.predicted_peak_bytes = domain_.stats().peak;
    view_.note_plan(trainer);
    say(report_of(settings_),
        "plan     {} calls, arena {}\n         held at most {}\n",
        format_grouped(
            static_cast<std::int64_t>(trainer.program().calls.size())),
        format_bytes(summary.arena_bytes),
        format_bytes(*summary.predicted_peak_bytes));
    if (settings_.ranks > 1) {
      say(report_of(settings_), "ranks    rank 0 sends {} in a step\n",
          format_bytes(trainer.program().sharding.sent));
    }
    if (const auto& shared = trainer.program().shared; shared != nullptr) {
      say(report_of(settings_), "zero     {}\n",
          compiler::parts_of(shared->state));
    }
    if (!settings_.plan.empty()) {
      summary.plan_file = what_became_of_plan(settings_);
      say(report_of(settings_), "plan     {} {}\n",
          settings_.plan_limit ? "taken from" : "written to",
          base::shown_path(settings_.plan));
    }
    tell_fitting(trainer.program().fitting, summary);
    std::fflush(stdout);
  }

  // Tells the cost of fitting the step into its budget.
  void tell_fitting(const compiler::Fitting& fitting, Summary& summary) const {
    summary.calls_again = fitting.again;
    summary.micro_batches = fitting.micro_batches;
    summary.time_pieces = fitting.time_pieces;
    summary.extra_time_percent = fitting.percent(fitting.extra);
    summary.values_spilled = fitting.spilled;
    summary.states_away = fitting.away;
    summary.weights_away = fitting.weights;
    summary.spill_written_bytes = fitting.written;
    if (fitting.is_changed()) {
      say(report_of(settings_),
          "budget   {}: met, extra time {:.1f} % predicted\n         {}\n",
          format_bytes(settings_.budget), *summary.extra_time_percent,
          compiler::ways_of(fitting));
    }
  }

  // With the averages, where there are any: they are the run's model.
  void test_and_export(nn::Layer& model, Summary& summary) {
    std::optional<optim::UseAverages> averaged;
    if (average_) {
      averaged.emplace(*average_);
    }
    if (auto saved = save_adapter(settings_, model); !save_failure_ && !saved) {
      save_failure_ = saved.error();
    }
    test(model, summary);
  }

  void test(nn::Layer& model, Summary& summary) {
    drop_startup_pages();  // of the training steps
    // Pages of the steps that do not suit the test would count beside its own,
    // and the run would hold more than was said of it.
    domain_.trim();
    data::Loader loader(task_->test(),
                        {.batch = test_batch(settings_.batch, *task_)});
    const train::Evaluation result =
        train::evaluate(model, loader, test_options());
    if (result.samples == 0) {
      return;  // there is no test part, and nothing to say of it
    }
    if (task_->has_accuracy()) {
      summary.test_accuracy = result.accuracy;
    }
    summary.test_loss = result.loss;
    note(summary.steps, result);
  }

  void note(std::int64_t step, const train::Evaluation& result) {
    if (metrics_) {  // a failure is told at the end
      static_cast<void>(metrics_->evaluation(step, "test", result));
    }
  }

  void finish(Summary& summary, std::string& report) const {
    const auto peak = report::breakdown(domain_, report::Instant::kLivePeak);
    set_peak(peak, summary);
    report = report::format_table(
        peak,
        {.width = static_cast<std::size_t>(terminal_width(STDOUT_FILENO))});
  }

  const TrainSettings& settings_;
  dist::Group group_;
  memory::Domain& domain_;
  Generator generator_;
  std::unique_ptr<Task> task_;
  std::unique_ptr<optim::Ema> average_;              // null: there are none
  std::unique_ptr<optim::ReduceOnPlateau> plateau_;  // null: another schedule
  std::optional<Failure> save_failure_;
  RunView& view_;
  std::optional<train::MetricsLog> metrics_;
  ExitCode end_ = ExitCode::kOk;
};

}  // namespace

RunEnd run_session(const TrainSettings& settings, RunView& view,
                   Summary& summary) {
  RunEnd out;
  Session session(settings, memory::default_domain(), view);
  out.failure = session.run(summary, out.table);
  if (out.failure == ExitCode::kOk) {
    out.code = session.end();
    out.output_failure = session.output_failure();
  }
  return out;
}

}  // namespace neap::app
