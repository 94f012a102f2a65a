// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "pack_command.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <optional>

#include "json_object.hpp"
#include "neap/base/bytes.hpp"
#include "neap/base/shown.hpp"
#include "neap/files/door.hpp"
#include "neap/planner/csv.hpp"
#include "neap/planner/svg.hpp"
#include "neap/planner/validate.hpp"
#include "output_files.hpp"
#include "text_file.hpp"

namespace neap::app {
namespace {

using planner::Problem;
using planner::Solution;

constexpr Bytes kLargestFile = kGiB;
constexpr std::int64_t kWork = 20'000'000;  // a few seconds at most

Result<memory::String> read_text(files::Door& door, const std::string& path) {
  auto file = door.open_read(path);
  if (!file) {
    return tl::unexpected(file.error());
  }
  const auto size = file->size();
  if (!size) {
    return tl::unexpected(size.error());
  }
  if (*size > kLargestFile) {
    return failure(FailureKind::kTooLarge,
                   fmt::format("{}: larger than {}", base::shown_path(path),
                               format_bytes_short(kLargestFile)));
  }
  memory::String text(static_cast<std::size_t>(*size), '\0',
                      memory::Allocator<char>(memory::Category::kData));
  const auto done =
      files::read_exact(*file, std::as_writable_bytes(std::span(text)));
  if (!done) {
    return tl::unexpected(done.error());
  }
  return text;
}

double gap_percent(const Solution& s) {
  return s.lower_bound == 0
             ? 0.0
             : 100.0 * static_cast<double>(s.height - s.lower_bound) /
                   static_cast<double>(s.lower_bound);
}

bool has_plan(const Problem& problem, const Solution& s) {
  return s.offsets.size() == problem.buffers.size();
}

std::string to_json(const Problem& problem, const Solution& s) {
  const bool fits = has_plan(problem, s);
  const auto capacity = problem.capacity == planner::kNoLimit
                            ? std::nullopt
                            : std::optional(problem.capacity);
  return JsonObject()
      .add("buffers", problem.buffers.size())
      .add("capacity", capacity)
      .add("fits", fits)
      .add("height", fits ? std::optional(s.height) : std::nullopt)
      .add("lower_bound", s.lower_bound)
      .add("proven", s.is_proven)
      .add("method", s.method)
      .add("work", s.work)
      .add("seconds", s.seconds)
      .text();
}

const char* proof_of(bool fits, bool is_proven) {
  if (fits) {
    return is_proven ? "no plan is lower" : "none; a lower plan may exist";
  }
  return is_proven ? "no plan fits" : "none; a plan that fits may exist";
}

std::string to_table(const Problem& problem, const Solution& s) {
  const bool fits = has_plan(problem, s);
  std::string text;
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<11}  {:>16}\n", name, value);
  };
  const auto words = [&](std::string_view name, std::string_view value) {
    text += fmt::format("{:<11}  {}\n", name, value);
  };
  row("buffers",
      format_grouped(static_cast<std::int64_t>(problem.buffers.size())));
  if (problem.capacity != planner::kNoLimit) {
    row("capacity", format_grouped(problem.capacity));
  }
  row("height", fits ? format_grouped(s.height) : "-");
  row("lower bound", format_grouped(s.lower_bound));
  row("gap", fits ? fmt::format("{:.2f} %", gap_percent(s)) : "-");
  row("time", fmt::format("{:.3f} s", s.seconds));
  words("method", s.method);
  words("proof", proof_of(fits, s.is_proven));
  return text;
}

Result<void> write_files(files::Door& door, const PackSettings& settings,
                         std::string_view csv, const Problem& problem,
                         const Solution& solution) {
  if (!settings.out.empty()) {
    auto done = write_text(door, settings.out,
                           planner::add_offsets(csv, solution.offsets));
    if (!done) {
      return done;
    }
  }
  return settings.svg.empty() ? Result<void>()
                              : write_text(door, settings.svg,
                                           planner::to_svg(problem, solution));
}

}  // namespace

ExitCode pack(const PackSettings& settings) {
  files::Door& door = files::system_door();
  // The plan has all that the problem has, and may take its place.
  const NamedFile drawing{"--svg", settings.svg};
  const std::array<NamedFile, 2> others{
      {{"--out", settings.out}, {"the problem", settings.problem}}};
  if (auto good = check_distinct(door, std::span(&drawing, 1), others); !good) {
    return fail(ExitCode::kUsage, good.error().message);
  }
  const auto text = read_text(door, settings.problem);
  if (!text) {
    return fail(ExitCode::kData, text.error().message);
  }
  auto csv = planner::parse_csv(*text);
  if (!csv) {
    return fail(ExitCode::kData,
                fmt::format("{}: {}", base::shown_path(settings.problem),
                            csv.error().message));
  }
  Problem& problem = csv->problem;
  planner::SolveOptions options{.work = kWork};
  if (settings.capacity > 0) {
    problem.capacity = settings.capacity;
    options.good_enough = settings.capacity;
  }
  if (settings.seconds > 0) {
    options.work = planner::kNoLimit;
    options.seconds = settings.seconds;
  }
  const Solution solution = planner::solve(problem, options);
  const std::string report = settings.is_json ? to_json(problem, solution)
                                              : to_table(problem, solution);
  static_cast<void>(std::fwrite(report.data(), 1, report.size(), stdout));
  if (!has_plan(problem, solution)) {
    return fail(
        ExitCode::kMemory,
        fmt::format("{}: no plan within {} was found",
                    base::shown_path(settings.problem), problem.capacity));
  }
  if (const auto verdict = planner::validate(problem, solution);
      !verdict.is_good()) {
    return fail(ExitCode::kInternal,
                fmt::format("the plan is wrong ({} of buffer {})",
                            planner::name_of(verdict.fault), verdict.first));
  }
  const auto written = write_files(door, settings, *text, problem, solution);
  return written ? ExitCode::kOk
                 : fail(ExitCode::kOutput, written.error().message);
}

}  // namespace neap::app
