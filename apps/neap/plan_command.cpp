// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "plan_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "json_object.hpp"
#include "neap/files/door.hpp"
#include "neap/threads/pool.hpp"
#include "output_files.hpp"
#include "rehearsal.hpp"
#include "run_parts.hpp"
#include "text_file.hpp"

namespace neap::app {
namespace {

constexpr std::int64_t kMostSamples = 1 << 24;

// The largest batch of which a run holds no more than the budget; 0: none.
// What a run holds grows with the batch, nearly along a line.
class BatchSearch {
 public:
  BatchSearch(const TrainSettings& settings, Bytes external)
      : settings_(settings), room_(settings.budget - external) {}

  Result<std::int64_t> run() {
    std::int64_t fits = 0;
    std::int64_t fails = 1;
    Bytes at_fits = 0;
    for (;;) {
      const auto held = peak(fails);
      if (!held) {
        return tl::unexpected(held.error());
      }
      if (*held > room_ || fails >= kMostSamples) {
        return narrow(fits, at_fits, fails, *held);
      }
      fits = fails;
      at_fits = *held;
      fails *= 4;
    }
  }

 private:
  Result<Bytes> peak(std::int64_t batch) const {
    const auto known = rehearse(settings_, batch);
    if (!known) {
      return tl::unexpected(known.error());
    }
    return known->peak;
  }

  Result<std::int64_t> narrow(std::int64_t fits, Bytes at_fits,
                              std::int64_t fails, Bytes at_fails) const {
    for (int i = 0; fails - fits > 1; ++i) {
      const double share = static_cast<double>(room_ - at_fits) /
                           static_cast<double>(at_fails - at_fits);
      std::int64_t middle =
          fits +
          static_cast<std::int64_t>(static_cast<double>(fails - fits) * share);
      // A line that bends would be followed step by step: halve now and then.
      middle = i % 3 == 2 ? fits + (fails - fits) / 2 : middle;
      middle = std::clamp(middle, fits + 1, fails - 1);
      const auto held = peak(middle);
      if (!held) {
        return tl::unexpected(held.error());
      }
      if (*held > room_) {
        fails = middle;
        at_fails = *held;
      } else {
        fits = middle;
        at_fits = *held;
      }
    }
    return fits;
  }

  const TrainSettings& settings_;
  Bytes room_;
};

bool fits(const TrainSettings& s, const Rehearsal& r) {
  return s.budget == kUnlimited || r.peak <= s.budget - r.external;
}

std::string to_json(const TrainSettings& s, const Rehearsal& r,
                    std::optional<std::int64_t> max_batch) {
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
      .add("plan_seconds", r.plan_seconds);
  if (max_batch) {
    json.add("budget_bytes", s.budget)
        .add("fits_budget", fits(s, r))
        .add("max_batch_for_budget", *max_batch);
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

std::string to_text(const TrainSettings& s, const Rehearsal& r,
                    std::optional<std::int64_t> max_batch) {
  std::string text;
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<14}{}\n", name, value);
  };
  row("model", fmt::format("{}, {} parameters, batch {}, {}", s.model,
                           format_grouped(r.parameters), s.batch, s.optimizer));
  row("program", fmt::format("{} calls, planned in {:.2f} s",
                             format_grouped(r.calls), r.plan_seconds));
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
    row("largest batch",
        *max_batch == 0 ? "none fits" : format_grouped(*max_batch));
  }
  text += list("by category", r.by_category, 16);
  text += list("by layer", r.by_layer, 12);
  text += list("in the arena at its peak", r.live, 12);
  return text;
}

// The message that the budget is too small, with the batch that would fit.
std::string refusal_of(const TrainSettings& s, const Rehearsal& r,
                       std::int64_t max_batch) {
  const Bytes needed = r.peak + r.external;
  return fmt::format(
      "--budget: the run needs {}, {} more; {}", format_bytes(needed),
      format_bytes_short(needed - s.budget),
      max_batch == 0 ? std::string("no batch fits")
                     : fmt::format("--batch {} fits", max_batch));
}

// A budget's part of the plan.
Result<std::int64_t> largest_batch(const TrainSettings& s, const Rehearsal& r) {
  return BatchSearch(s, r.external).run();
}

}  // namespace

std::string what_is_enough(const TrainSettings& settings) {
  const auto precision = precision_of(settings);
  if (!precision || settings.budget == kUnlimited || !settings.compile) {
    return {};
  }
  const UsePrecision use(*precision);
  const auto known = rehearse(settings, settings.batch);
  if (!known || fits(settings, *known)) {
    return {};
  }
  const auto batch = largest_batch(settings, *known);
  return batch ? refusal_of(settings, *known, *batch) : std::string();
}

ExitCode plan(const TrainSettings& settings) {
  // The line is one of train: what that refuses, this does.
  if (auto good = check_train_files(files::system_door(), settings); !good) {
    return fail(ExitCode::kUsage, good.error().message);
  }
  const auto precision = precision_of(settings);
  if (!precision) {
    return fail(ExitCode::kUsage, precision.error().message);
  }
  const UsePrecision use(*precision);
  threads::set_default_threads(static_cast<int>(settings.threads));
  const auto known = rehearse(settings, settings.batch);
  if (!known) {
    return fail(ExitCode::kData, known.error().message);
  }
  std::optional<std::int64_t> max_batch;
  if (settings.budget != kUnlimited) {
    const auto found = largest_batch(settings, *known);
    if (!found) {
      return fail(ExitCode::kData, found.error().message);
    }
    max_batch = *found;
  }
  if (!settings.json.empty()) {
    const auto written = write_report(files::system_door(), settings.json,
                                      to_json(settings, *known, max_batch));
    if (!written) {
      return fail(ExitCode::kOutput, written.error().message);
    }
  }
  if (settings.json != "-") {
    const std::string text = to_text(settings, *known, max_batch);
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stdout));
  }
  if (!fits(settings, *known)) {
    return fail(ExitCode::kMemory, refusal_of(settings, *known, *max_batch));
  }
  return ExitCode::kOk;
}

}  // namespace neap::app
