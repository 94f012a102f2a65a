// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "plan_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "json_object.hpp"
#include "kept_plan.hpp"
#include "neap/base/shown.hpp"
#include "neap/compile/fitting.hpp"
#include "neap/files/door.hpp"
#include "plan_view.hpp"
#include "text_file.hpp"
#include "view_files.hpp"
#include "within_budget.hpp"

namespace neap::app {
namespace {

// By costs that were measured here; those of the table are no times.
std::optional<double> compute_seconds(const TrainSettings& s,
                                      const Rehearsal& r) {
  const compiler::Fitting& fitting = r.fitting;
  return s.book && fitting.is_met()
             ? std::optional(1e-9 *
                             static_cast<double>(fitting.price + fitting.extra))
             : std::nullopt;
}

void add_traffic(const TrainSettings& s, const Rehearsal& r, JsonObject& json) {
  if (r.traffic) {
    json.add("network", s.network)
        .add("traffic_seconds", r.traffic->seconds)
        .add("traffic_sent_bytes", r.traffic->sent)
        .add("traffic_messages", r.traffic->sends)
        .add("traffic_least_bytes", r.traffic->least)
        .add("traffic_least_seconds", r.traffic->least_seconds)
        .add("compute_seconds", compute_seconds(s, r));
  }
}

std::string to_json(const TrainSettings& s, const WithinBudget& found,
                    std::optional<std::int64_t> max_batch) {
  const Rehearsal& r = found.rehearsal;
  JsonObject json;
  json.add("model", s.model)
      .add("batch", s.batch)
      .add("parameters", r.parameters)
      .add("peak_bytes", r.peak)
      .add("peak_live_bytes", r.live_peak)
      .add("external_bytes", r.external)
      .add("arena_bytes", r.arena)
      .add("lower_bound_bytes", r.lower_bound)
      .add("proven", r.is_proven)
      .add("persistent_bytes", r.persistent)
      .add("workspace_bytes", r.workspace)
      .add("data_set_bytes", r.data_set)
      .add("by_category", r.by_category)
      .add("by_layer", r.by_layer)
      .add("peak_step", r.peak_step)
      .add("peak_call", r.peak_call)
      .add("ops", r.calls)
      .add("plan_seconds", r.plan_seconds)
      .add("shards", std::int64_t{r.sharding.shards})
      .add("ranks", std::int64_t{r.sharding.ranks})
      .add("rank", s.rank)
      .add("sent_in_a_step_bytes", r.sharding.sent)
      .add("state_of_rank_bytes", r.state.own)
      .add("state_of_all_ranks_bytes", r.state.all)
      .add("handed_on_bytes", r.state.handed_on)
      .add("handed_on_least_bytes", r.state.least_handed)
      .add("calls_of_each_shard", std::int64_t{r.sharding.each})
      .add("ops_of_all_rows", std::int64_t{r.sharding.together});
  add_traffic(s, r, json);
  if (max_batch) {
    json.add("budget_bytes", s.budget)
        .add("fits_budget", found.is_met())
        .add("max_batch_for_budget", *max_batch)
        .add("arena_bytes_all_kept", found.all_kept.arena)
        .add("calls_again", std::int64_t{r.fitting.again})
        .add("pieces", std::int64_t{r.fitting.pieces})
        .add("micro_batches", std::int64_t{r.fitting.micro_batches})
        .add("time_pieces", std::int64_t{r.fitting.time_pieces})
        .add("values_spilled", std::int64_t{r.fitting.spilled})
        .add("states_away", std::int64_t{r.fitting.away})
        .add("states_away_bytes", r.fitting.away_bytes - r.fitting.weight_bytes)
        .add("weights_away", std::int64_t{r.fitting.weights})
        .add("weights_away_bytes", r.fitting.weight_bytes)
        .add("spill_written_bytes", r.fitting.written)
        .add("spill_fetched_bytes", r.fitting.fetched)
        .add("spill_written_a_day_bytes", compiler::written_a_day(r.fitting))
        .add("extra_time_percent", r.fitting.percent(r.fitting.extra))
        .add("extra_time_bound_percent", r.fitting.percent(r.fitting.bound));
  }
  if (!s.plan.empty() && found.is_met()) {
    json.add("plan_file", what_became_of_plan(s));
  }
  return json.text();
}

double percent(Bytes part, Bytes whole) {
  return whole == 0
             ? 0.0
             : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string list(std::string_view title, const Rehearsal::Named& rows,
                 std::size_t most) {
  std::string text = fmt::format("\n{}\n", title);
  std::size_t shown = 0;
  Bytes rest = 0;
  for (const auto& [name, bytes] : rows) {
    if (bytes != 0 && shown++ < most) {
      text += fmt::format("  {:>10}  {}\n", format_bytes_short(bytes), name);
    } else {
      rest += bytes;
    }
  }
  if (rest != 0) {
    text += fmt::format("  {:>10}  (the rest)\n", format_bytes_short(rest));
  }
  return text;
}

// Adds the time on the wire.
template <class Row>
void add_network(const TrainSettings& s, const Rehearsal& r, const Row& row) {
  row("network", fmt::format("{}: {:.3g} s of a step, {} in {} messages",
                             base::shown_path(s.network), r.traffic->seconds,
                             format_bytes_short(r.traffic->sent),
                             format_grouped(r.traffic->sends)));
  row("", fmt::format("at least {:.3g} s, for the {} that the same sums and "
                      "rows need",
                      r.traffic->least_seconds,
                      format_bytes_short(r.traffic->least)));
  if (const auto compute = compute_seconds(s, r)) {
    row("", fmt::format("beside {:.3g} s predicted for the calls", *compute));
  }
}

template <class Row>
void add_shards(const TrainSettings& s, const Rehearsal& r, const Row& row) {
  if (r.sharding.rows > 0) {
    row("shards", compiler::parts_of(r.sharding));
  }
  if (r.sharding.ranks > 1) {
    row("ranks", fmt::format("rank {} of {}, which sends {} in a step", s.rank,
                             r.sharding.ranks, format_bytes(r.sharding.sent)));
  }
  if (r.state.all != 0) {
    row("zero", compiler::parts_of(r.state));
  }
}

// Adds the cost of meeting the budget.
template <class Row>
void add_price(const TrainSettings& s, const WithinBudget& found,
               const Row& row) {
  const compiler::Fitting& fitting = found.rehearsal.fitting;
  row("extra time",
      fmt::format("{:.1f} % predicted: {}", fitting.percent(fitting.extra),
                  compiler::ways_of(fitting)));
  if (s.book) {
    constexpr double kNanoseconds = 1e9;
    row("a step",
        fmt::format(
            "{:.3g} s predicted, {} of {} costs measured now",
            static_cast<double>(fitting.price + fitting.extra) / kNanoseconds,
            (*s.book)->measured(), (*s.book)->size()));
  }
  row("", fmt::format("no plan of this order of calls costs less than {:.1f} %",
                      fitting.percent(fitting.bound)));
  if (fitting.file != 0) {
    row("spill file",
        fmt::format("{}, {} written in a day of steps; counted on: {} a second "
                    "written, {} read",
                    format_bytes_short(fitting.file),
                    format_bytes_short(compiler::written_a_day(fitting)),
                    format_bytes_short(s.spill_write_rate),
                    format_bytes_short(s.spill_fetch_rate)));
  }
  row("all kept",
      fmt::format("an arena of {}", format_bytes(found.all_kept.arena)));
}

std::string to_text(const TrainSettings& s, const WithinBudget& found,
                    std::optional<std::int64_t> max_batch) {
  const Rehearsal& r = found.rehearsal;
  std::string text;
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<14}{}\n", name, value);
  };
  row("model", fmt::format("{}, {} parameters, batch {}, {}", s.model,
                           format_grouped(r.parameters), s.batch, s.optimizer));
  row("program", fmt::format("{} calls, planned in {:.2f} s",
                             format_grouped(r.calls), r.plan_seconds));
  add_shards(s, r, row);
  if (r.traffic) {
    add_network(s, r, row);
  }
  row("held at most", format_bytes(r.peak));
  row("external", format_bytes(r.external) + "  (code, libraries, stacks)");
  row("persistent",
      format_bytes(r.persistent) + "  (parameters, buffers, optimizer state)");
  row("arena", format_bytes(r.arena));
  row("lower bound",
      fmt::format(
          "{}, {}", format_bytes(r.lower_bound),
          r.is_proven && r.arena <= r.lower_bound
              ? "reached"
              : fmt::format("{:.2f} % below the arena",
                            percent(r.arena - r.lower_bound, r.arena))));
  row("workspace", format_bytes(r.workspace) + "  (in the arena, at its peak)");
  row("peak at", fmt::format("call {}, {}", r.peak_call, r.peak_step));
  if (max_batch) {
    const Bytes room = s.budget - r.external;
    row("budget",
        fmt::format("{}: {}", format_bytes(s.budget),
                    r.peak <= room
                        ? format_bytes(room - r.peak) + " to spare"
                        : format_bytes(r.peak - room) + " too little"));
    if (r.fitting.is_changed()) {
      add_price(s, found, row);
    }
    if (!s.plan.empty() && found.is_met()) {
      row("plan file",
          fmt::format("{} {}", s.plan_limit ? "taken from" : "written to",
                      base::shown_path(s.plan)));
    }
    row("largest batch",
        (*max_batch == 0 ? "none fits" : format_grouped(*max_batch)) +
            "  (with all values kept)");
  }
  text += list("by category", r.by_category, 16);
  text += list("by layer", r.by_layer, 12);
  text += list("in the arena at its peak", r.live, 12);
  return text;
}

}  // namespace

ExitCode plan(const TrainSettings& given) {
  TrainSettings settings = given;
  const ViewReserve reserve(settings);
  if (const ExitCode code = open_plan(settings); code != ExitCode::kOk) {
    return code;
  }
  const auto found = meet_budget_by_plan(settings);
  if (!found) {
    return fail(ExitCode::kData, found.error().message);
  }
  std::optional<std::int64_t> max_batch;
  if (settings.budget != kUnlimited) {
    const auto batch = largest_batch(settings, found->all_kept.external);
    if (!batch) {
      return fail(ExitCode::kData, batch.error().message);
    }
    max_batch = *batch;
  }
  if (!settings.json.empty()) {
    const auto written = write_report(files::system_door(), settings.json,
                                      to_json(settings, *found, max_batch));
    if (!written) {
      return fail(ExitCode::kOutput, written.error().message);
    }
  }
  const std::string refusal =
      found->is_met() ? "" : refusal_of(settings, *found, max_batch);
  const ExitCode shown = show_plan(settings, *found, refusal);
  if (shown != ExitCode::kOk && refusal.empty()) {
    return shown;
  }
  if (settings.json != "-") {
    const std::string text = to_text(settings, *found, max_batch);
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stdout));
  }
  if (!refusal.empty()) {
    write_failure(refusal);
    return ExitCode::kMemory;
  }
  return ExitCode::kOk;
}

}  // namespace neap::app
