// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "train_command.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "kept_plan.hpp"
#include "neap/base/version.hpp"
#include "neap/files/door.hpp"
#include "neap/formats/safetensors.hpp"
#include "neap/kernels/engine/plugin.hpp"
#include "neap/memory/domain.hpp"
#include "neap/threads/pool.hpp"
#include "output_files.hpp"
#include "plan_view.hpp"
#include "probe.hpp"
#include "process.hpp"
#include "ranks.hpp"
#include "report_stream.hpp"
#include "run_parts.hpp"
#include "run_text.hpp"
#include "run_view.hpp"
#include "saved_model.hpp"
#include "session.hpp"
#include "summary.hpp"
#include "text_file.hpp"
#include "view_files.hpp"
#include "within_budget.hpp"
#include "words.hpp"

namespace neap::app {
namespace {

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
  if (auto good = check_resumed(settings); !good) {
    return fail(good.error().kind == FailureKind::kMismatch ? ExitCode::kUsage
                                                            : ExitCode::kData,
                good.error().message);
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
  note_ranks(settings, summary);
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
