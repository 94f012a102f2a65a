// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "fit_command.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

#include "fit_picture.hpp"
#include "json_object.hpp"
#include "kept_plan.hpp"
#include "neap/base/shown.hpp"
#include "neap/compile/fitting.hpp"
#include "neap/files/door.hpp"
#include "progress.hpp"
#include "text_file.hpp"
#include "within_budget.hpp"

namespace neap::app {
namespace {

constexpr std::size_t kMostRows = 12;

// A line on a terminal that says how far the work is, and goes at its end.
class Doing {
 public:
  explicit Doing(const TrainSettings& settings)
      : is_shown_(Progress::style_of(settings.progress) ==
                  Progress::Style::kBar) {}
  ~Doing() { say(""); }
  Doing(const Doing&) = delete;
  Doing& operator=(const Doing&) = delete;

  void say(const std::string& what) const {
    if (is_shown_) {
      fmt::print(stderr, "\r\033[K{}", what);
      static_cast<void>(std::fflush(stderr));
    }
  }

 private:
  bool is_shown_;
};

// The ends, and between them those nearest to equal steps of the arena.
FitCurve some_of(const FitCurve& all) {
  if (all.size() <= kMostRows) {
    return all;
  }
  FitCurve some{all.front()};
  const double step =
      static_cast<double>(all.front().arena - all.back().arena) /
      static_cast<double>(kMostRows - 1);
  for (const compiler::FitPoint& point : all) {
    const double passed = static_cast<double>(some.back().arena - point.arena);
    if (passed >= step * 0.9) {
      some.push_back(point);
    }
  }
  if (some.back().arena != all.back().arena) {
    some.push_back(all.back());
  }
  return some;
}

std::string cuts_of(const compiler::Fitting& fitting) {
  std::string text;
  if (fitting.pieces != 0) {
    text = fmt::format(", cross_entropy in {} pieces", fitting.pieces);
  }
  if (fitting.micro_batches != 0) {
    text += fmt::format(", {} micro-batches", fitting.micro_batches);
  }
  if (fitting.time_pieces != 0) {
    text += fmt::format(", {} pieces of time", fitting.time_pieces);
  }
  return text;
}

// The rows of the curve: what a run with each arena holds, which is a budget
// that suffices.
Result<std::vector<FitRow>> rows_of(const TrainSettings& settings,
                                    const Doing& doing) {
  doing.say("tracing the step, and planning it for every arena");
  const auto all = fit_curve(settings, settings.batch);
  if (!all) {
    return tl::unexpected(all.error());
  }
  std::vector<FitRow> rows;
  const FitCurve points = some_of(*all);
  int number = 0;
  for (const compiler::FitPoint& point : points) {
    doing.say(fmt::format("dry run of plan {} of {}", ++number, points.size()));
    const auto known = rehearse_in(settings, point.arena);
    if (!known) {
      return tl::unexpected(known.error());
    }
    if (!*known) {
      continue;
    }
    const Bytes budget = (*known)->peak + (*known)->external;
    // Calls that run again need bookkeeping, too, which may outweigh what they
    // save.
    if (rows.empty() || budget < rows.back().budget) {
      rows.push_back({.budget = budget, .plan = point});
    }
  }
  return rows;
}

// The largest batch that the budget can be made to hold, and its price.
struct Grown {
  std::int64_t batch = 0;  // 0: not one sample fits
  compiler::Fitting fitting{};
};

class BatchGrowth {
 public:
  BatchGrowth(const TrainSettings& settings, const Doing& doing)
      : settings_(settings), doing_(doing) {}

  /// From a batch on that fits with all values kept. To two per cent.
  Result<Grown> run(std::int64_t fits) {
    std::int64_t fails = kMostSamples;
    while (fails - fits > std::max<std::int64_t>(fits / 50, 1)) {
      const std::int64_t next =
          std::min(std::max<std::int64_t>(fits + 1, fits * 3 / 2),
                   fits + (fails - fits) / 2);
      const auto is_met = try_batch(next);
      if (!is_met) {
        return tl::unexpected(is_met.error());
      }
      (*is_met ? fits : fails) = next;
    }
    best_.batch = fits;
    return best_;
  }

 private:
  Result<bool> try_batch(std::int64_t batch) {
    doing_.say(fmt::format("trying a batch of {}", batch));
    TrainSettings grown = settings_;
    grown.batch = batch;
    return meet_budget(grown).map([&](const WithinBudget& found) {
      if (found.is_met()) {
        best_.fitting = found.rehearsal.fitting;
      }
      return found.is_met();
    });
  }

  const TrainSettings& settings_;
  const Doing& doing_;
  Grown best_;
};

struct Report {
  std::vector<FitRow> rows;
  std::optional<WithinBudget> found;  // for the budget, where there is one
  std::optional<Grown> grown;
};

Result<Report> report_of(const TrainSettings& settings) {
  const Doing doing(settings);
  Report report;
  auto rows = rows_of(settings, doing);
  if (!rows) {
    return tl::unexpected(rows.error());
  }
  report.rows = std::move(*rows);
  if (settings.budget == kUnlimited) {
    return report;
  }
  doing.say("meeting the budget");
  auto found = meet_budget_by_plan(settings);
  if (!found) {
    return tl::unexpected(found.error());
  }
  report.found = std::move(*found);
  if (settings.grow.empty()) {
    return report;
  }
  const auto kept = largest_batch(settings, report.found->all_kept.external);
  if (!kept) {
    return tl::unexpected(kept.error());
  }
  return BatchGrowth(settings, doing).run(*kept).map([&](const Grown& grown) {
    report.grown = grown;
    return report;
  });
}

std::string price_of(const compiler::Fitting& fitting) {
  return fitting.is_changed() ? fmt::format("{}, extra time {:.1f} % predicted",
                                            compiler::ways_of(fitting),
                                            fitting.percent(fitting.extra))
                              : "all values kept";
}

std::string to_text(const TrainSettings& s, const Report& report) {
  std::string text = fmt::format(
      "{}, batch {}, {}\n\n{:>12} {:>12} {:>7} {:>11} {:>10} {:>12}{}\n",
      s.model, s.batch, s.optimizer, "budget", "arena", "of it", "extra time",
      "at least", "calls again", s.spill.empty() ? "" : "    spilled");
  const auto whole = static_cast<double>(report.rows.front().plan.arena);
  for (const FitRow& row : report.rows) {
    const compiler::Fitting& fitting = row.plan.fitting;
    text += fmt::format(
        "{:>12} {:>12} {:>5.0f} % {:>9.1f} % {:>8.1f} % {:>12}{}{}\n",
        format_bytes_short(row.budget), format_bytes_short(row.plan.arena),
        100.0 * static_cast<double>(row.plan.arena) / whole,
        fitting.percent(fitting.extra), fitting.percent(fitting.bound),
        fitting.again,
        s.spill.empty()
            ? std::string()
            : fmt::format(" {:>10}", format_bytes_short(fitting.written)),
        cuts_of(fitting));
  }
  if (report.found) {
    const WithinBudget& found = *report.found;
    text +=
        fmt::format("\nbudget {}: {}\n", format_bytes(s.budget),
                    found.is_met() ? "met, " + price_of(found.rehearsal.fitting)
                                   : "not met");
    if (!s.plan.empty() && found.is_met()) {
      text += fmt::format("plan {} {}\n",
                          s.plan_limit ? "taken from" : "written to",
                          base::shown_path(s.plan));
    }
  }
  if (report.grown) {
    text += fmt::format(
        "largest batch about {}: {}\n", format_grouped(report.grown->batch),
        report.grown->batch == 0 ? "none fits"
                                 : price_of(report.grown->fitting));
  }
  return text;
}

std::string to_json(const TrainSettings& s, const Report& report) {
  JsonObject json;
  json.add("model", s.model).add("batch", s.batch);
  std::vector<JsonObject> points;
  for (const FitRow& row : report.rows) {
    const compiler::Fitting& fitting = row.plan.fitting;
    JsonObject point;
    point.add("budget_bytes", row.budget)
        .add("arena_bytes", row.plan.arena)
        .add("extra_time_percent", fitting.percent(fitting.extra))
        .add("extra_time_bound_percent", fitting.percent(fitting.bound))
        .add("calls_again", fitting.again)
        .add("pieces", fitting.pieces)
        .add("micro_batches", fitting.micro_batches)
        .add("time_pieces", fitting.time_pieces)
        .add("values_spilled", fitting.spilled)
        .add("spill_written_bytes", fitting.written);
    points.push_back(std::move(point));
  }
  json.add("points", points);
  if (report.found) {
    const compiler::Fitting& fitting = report.found->rehearsal.fitting;
    json.add("budget_bytes", s.budget)
        .add("fits_budget", report.found->is_met())
        .add("extra_time_percent", fitting.percent(fitting.extra));
  }
  if (report.grown) {
    const compiler::Fitting& fitting = report.grown->fitting;
    json.add("largest_batch", report.grown->batch)
        .add("largest_batch_extra_time_percent",
             fitting.percent(fitting.extra));
  }
  return json.text();
}

Result<void> write(const TrainSettings& settings, const Report& report) {
  files::Door& door = files::system_door();
  if (!settings.svg.empty()) {
    const std::string title =
        fmt::format("{}, batch {}", settings.model, settings.batch);
    if (auto done =
            write_text(door, settings.svg,
                       fit_picture(title, report.rows, settings.budget));
        !done) {
      return done;
    }
  }
  if (!settings.json.empty()) {
    if (auto done =
            write_report(door, settings.json, to_json(settings, report));
        !done) {
      return done;
    }
  }
  if (settings.json != "-") {
    const std::string text = to_text(settings, report);
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stdout));
  }
  return {};
}

}  // namespace

ExitCode fit(const TrainSettings& given) {
  TrainSettings settings = given;
  if (!settings.grow.empty() && settings.budget == kUnlimited) {
    return fail(ExitCode::kUsage,
                "--grow: give the budget that the batch is to fit, --budget");
  }
  if (const ExitCode code = open_plan(settings); code != ExitCode::kOk) {
    return code;
  }
  const auto report = report_of(settings);
  if (!report) {
    return fail(ExitCode::kData, report.error().message);
  }
  if (auto written = write(settings, *report); !written) {
    return fail(ExitCode::kOutput, written.error().message);
  }
  const bool is_met = !report->found || report->found->is_met();
  return is_met ? ExitCode::kOk
                : refuse_budget(settings, *report->found, std::nullopt);
}

}  // namespace neap::app
