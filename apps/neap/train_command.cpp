// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "train_command.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cstdio>
#include <memory>

#include "interrupt.hpp"
#include "kept_plan.hpp"
#include "neap/base/ceil_div.hpp"
#include "neap/base/shown.hpp"
#include "neap/base/version.hpp"
#include "neap/compile/fitting.hpp"
#include "neap/files/door.hpp"
#include "neap/formats/safetensors.hpp"
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
#include "process.hpp"
#include "progress.hpp"
#include "retraces.hpp"
#include "run_parts.hpp"
#include "run_text.hpp"
#include "run_view.hpp"
#include "saved_model.hpp"
#include "startup_pages.hpp"
#include "summary.hpp"
#include "task.hpp"
#include "terminal.hpp"
#include "text_file.hpp"
#include "within_budget.hpp"

namespace neap::app {
namespace {

// The stream of the report; nullptr: none, since the summary is all that
// standard output is to have (--json -).
std::FILE* report_of(const TrainSettings& s) {
  return s.json == "-" ? nullptr : stdout;
}

// A failure stays in the stream, where the program's end finds it: a broken
// pipe or a full disk does not end the training.
template <class... Args>
void say(std::FILE* out, fmt::format_string<Args...> format, Args&&... args) {
  if (out == nullptr) {
    return;
  }
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), out));
}

// Everything that lives while a run does. It goes before the last report, so
// that "live at exit" can show that nothing stays.
class Session {
 public:
  /// LIFETIME: all outlive it.
  Session(const TrainSettings& settings, memory::Domain& domain, RunView& view)
      : settings_(settings),
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
    if (auto good = check(settings_, steps()); !good) {
      return fail(ExitCode::kUsage, good.error().message);
    }
    summary.data_set_bytes = task_->data_bytes();
    const UseGenerator use(generator_);
    const std::unique_ptr<nn::Layer> model = [&] {
      const auto away = born_away(settings_);
      return task_->make_model();
    }();
    const auto optimizer = make_optimizer(settings_, model->parameters());
    describe(*model);
    if (const ExitCode done = train(*model, *optimizer, summary);
        done != ExitCode::kOk) {
      view_.finish();
      return done;
    }
    if (auto saved = save_adapter(settings_, *model);
        !save_failure_ && !saved) {
      save_failure_ = saved.error();
    }
    test(*model, summary);
    view_.finish();
    summary.state_hash = train::state_hash(*model, *optimizer, generator_);
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
    say(report_of(settings_), "data     {}\n", task_->describe_data());
    say(report_of(settings_), "model    {}, {} parameters, {}\n",
        settings_.model, format_grouped(model.parameter_count()),
        format_bytes(model.parameter_bytes()));
    const int threads = threads::default_pool().threads();
    say(report_of(settings_),
        "run      batch {}, {} {:g}, seed {}, {} thread{}, {}, {}kernels {}\n",
        settings_.batch, settings_.optimizer, settings_.learning_rate,
        settings_.seed, threads, threads == 1 ? "" : "s", kernels::isa(),
        shown_dtype(settings_.dtype), kernels::kernel_set());
    std::fflush(stdout);
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
    options.facts = facts_of(settings_, steps(), task_->vocabulary());
    options.profile = view_.profile();
    options.trainer.loss = task_->loss();
    options.trainer.clip_norm = settings_.clip_norm;
    options.trainer.learning_rate = make_schedule(settings_, steps());
    options.trainer.compile = settings_.compile;
    options.trainer.compile_options = step_options(settings_);
    return options;
  }

  // A good run, or one that could not be resumed; a failed save is told later.
  ExitCode train(nn::Layer& model, optim::Optimizer& optimizer,
                 Summary& summary) {
    data::Loader loader(task_->train(),
                        {.batch = settings_.batch,
                         .shuffle = true,
                         .seed = settings_.seed,
                         .prefetch = static_cast<int>(settings_.prefetch)});
    Progress progress(Progress::style_of(settings_.progress), domain_);
    Probe probe;
    std::int64_t images = 0;
    double seconds = 0.0;
    const InterruptGuard guard;
    train::FitOptions options = fit_options();
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
      const bool is_time_up =
          settings_.minutes > 0.0 && seconds >= 60.0 * settings_.minutes;
      summary.is_interrupted = InterruptGuard::is_asked_to_stop();
      return is_time_up || summary.is_interrupted ? train::Next::kStop
                                                  : train::Next::kContinue;
    };
    drop_startup_pages();  // of reading the data and making the model
    train::FitResult result = train::fit(model, optimizer, loader, options);
    progress.finish();
    view_.note_end();
    if (result.resume_failure) {
      const bool is_other =
          result.resume_failure->kind == FailureKind::kMismatch;
      return fail(is_other ? ExitCode::kUsage : ExitCode::kData,
                  result.resume_failure->message);
    }
    save_failure_ = std::move(result.save_failure);
    end_ = summary.is_interrupted ? InterruptGuard::exit_code() : ExitCode::kOk;
    summary.checkpoint = save_failure_ ? "" : settings_.save;
    summary.external = domain_.stats().external;  // with the reader's stack
    summary.steps = result.steps;
    summary.resumed_steps = result.resumed;
    summary.train_loss = result.last_loss;
    summary.images_per_second = static_cast<double>(images) / result.seconds;
    summary.step_ms_median = probe.step_ms();
    summary.heap_calls_per_step = probe.heap_calls();
    summary.page_faults_per_step = probe.page_faults();
    return ExitCode::kOk;
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

  void test(nn::Layer& model, Summary& summary) {
    drop_startup_pages();  // of the training steps
    // Pages of the steps that do not suit the test would count beside its own,
    // and the run would hold more than was said of it.
    domain_.trim();
    data::Loader loader(task_->test(),
                        {.batch = test_batch(settings_.batch, *task_)});
    const train::Evaluation result =
        train::evaluate(model, loader,
                        {.loss = task_->loss(),
                         .compile = settings_.compile,
                         .compile_options = compile_options(settings_)});
    if (result.samples == 0) {
      return;  // there is no test part, and nothing to say of it
    }
    if (task_->has_accuracy()) {
      summary.test_accuracy = result.accuracy;
    }
    summary.test_loss = result.loss;
    if (metrics_) {
      static_cast<void>(metrics_->evaluation(summary.steps, "test", result));
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
  memory::Domain& domain_;
  Generator generator_;
  std::unique_ptr<Task> task_;
  std::optional<Failure> save_failure_;
  RunView& view_;
  std::optional<train::MetricsLog> metrics_;
  ExitCode end_ = ExitCode::kOk;
};

// Tries, before the data is read, the files that would fail a run later.
ExitCode try_files(const TrainSettings& settings) {
  files::Door& door = files::system_door();
  if (auto good = check_train_files(door, settings); !good) {
    return fail(ExitCode::kUsage, good.error().message);
  }
  const bool has_json = !settings.json.empty() && settings.json != "-";
  for (const auto& [option, path] :
       {std::pair("--json", has_json ? settings.json : std::string()),
        std::pair("--save", settings.save), std::pair("--plan", settings.plan),
        std::pair("--page", settings.page),
        std::pair("--snapshot", settings.snapshot),
        std::pair("--trace", settings.trace)}) {
    if (path.empty()) {
      continue;
    }
    if (auto good = try_output(door, option, path); !good) {
      return fail(ExitCode::kOutput, good.error().message);
    }
  }
  if (!settings.resume.empty()) {
    if (auto good = formats::SafetensorsFile::open(door, settings.resume,
                                                   verify_of(settings.verify));
        !good) {
      return fail(ExitCode::kData, good.error().message);
    }
  }
  return ExitCode::kOk;
}

// Fits the step into the budget, where the run would hold more.
ExitCode limit_arena(TrainSettings& settings) {
  if (settings.budget == kUnlimited && !settings.spill.empty()) {
    return fail(ExitCode::kUsage,
                "--spill: give the budget that it is to help meet, --budget");
  }
  if (const ExitCode code = open_plan(settings); code != ExitCode::kOk) {
    return code;
  }
  if (settings.budget == kUnlimited || !settings.compile) {
    return ExitCode::kOk;
  }
  const auto found = meet_budget_by_plan(settings);
  if (!found) {
    return fail(ExitCode::kData, found.error().message);
  }
  if (!found->is_met()) {
    const auto batch = largest_batch(settings, found->all_kept.external);
    return refuse_and_show(
        settings, *found,
        batch ? std::optional<std::int64_t>(*batch) : std::nullopt);
  }
  settings = planned(settings, *found);
  return ExitCode::kOk;
}

// A run that is over, for its report.
struct RunEnd {
  ExitCode failure = ExitCode::kOk;  // of the run, which has no report then
  ExitCode code = ExitCode::kOk;  // of its end, or of the signal that ended it
  std::optional<Failure> output_failure;  // of an output, told after the report
  std::string table;
};

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

// A refusal by the budget says what would be enough; the page has it, too.
ExitCode refuse(const TrainSettings& settings, const OutOfMemory& error,
                RunView* view) {
  const bool is_budget = error.details().reason == OutOfMemory::Reason::kBudget;
  const bool has_remedies = is_budget && !is_memory_short();
  const std::string why =
      has_remedies ? refusal_of(settings, error) : std::string(error.what());
  if (has_remedies) {
    write_failure(why);
  } else {
    static_cast<void>(fail(ExitCode::kMemory, why));
  }
  try {
    if (view != nullptr) {
      view->refuse(why);
    }
  } catch (const std::exception&) {  // the files of the plan stay
  }
  return ExitCode::kMemory;
}

// The report of a run that ended well, or by a signal. RETURNS: its status.
ExitCode report_run(const TrainSettings& settings, const RunEnd& end,
                    Summary& summary) {
  summary.stats = memory::default_domain().stats();
  summary.live_bytes_at_exit = summary.stats.live;
  summary.max_rss_bytes = max_rss_bytes();
  say(report_of(settings), "{}", run_text(summary, end.table));
  if (!settings.json.empty()) {
    const auto written =
        write_report(files::system_door(), settings.json, to_json(summary));
    if (!written) {
      return fail(ExitCode::kOutput, written.error().message);
    }
  }
  return end.output_failure
             ? fail(ExitCode::kOutput, end.output_failure->message)
             : end.code;
}

ExitCode train_within_budget(const TrainSettings& settings) {
  Summary summary;
  summary.seed = settings.seed;
  summary.threads = threads::default_pool().threads();
  summary.isa = kernels::isa();
  summary.dtype = settings.dtype;
  summary.kernels = kernels::kernel_set();
  summary.version = version();
  if (const ExitCode good = try_files(settings); good != ExitCode::kOk) {
    return good;
  }
  const ViewReserve reserve(settings);
  TrainSettings limited = settings;
  if (const ExitCode good = limit_arena(limited); good != ExitCode::kOk) {
    return good;
  }
  RunView view(limited, memory::default_domain());
  RunEnd end;
  try {
    end = run_session(limited, view, summary);
  } catch (const OutOfMemory& error) {
    return refuse(settings, error, &view);
  }
  return end.failure == ExitCode::kOk ? report_run(settings, end, summary)
                                      : end.failure;
}

}  // namespace

ExitCode train(const TrainSettings& settings) {
  if (auto good = set_up(settings); !good) {
    return fail(ExitCode::kUsage, good.error().message);
  }
  const auto precision = precision_of(settings);
  if (!precision) {
    return fail(ExitCode::kUsage, precision.error().message);
  }
  const UsePrecision use(*precision);
  try {
    return train_within_budget(settings);
  } catch (const OutOfMemory& error) {
    return refuse(settings, error, nullptr);
  }
}

}  // namespace neap::app
