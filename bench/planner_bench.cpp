// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How low plans are and how long they take, beside the lower bound, what is
// aimed at, and what others reach (quoted; none of them is measured here).
// MiniMalloc's eleven problems are read from the folder that the environment
// variable NEAP_BENCH_PROBLEMS names; their rows are left out without it.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "neap/base/bytes.hpp"
#include "neap/files/door.hpp"
#include "neap/files/whole_file.hpp"
#include "neap/planner/csv.hpp"
#include "neap/planner/paged.hpp"
#include "neap/planner/problems_for_test.hpp"
#include "neap/planner/validate.hpp"
#include "support/report.hpp"

namespace neap::bench {
namespace {

using planner::Problem;
using planner::Solution;
using planner::SolveOptions;

struct Case {
  std::string name;
  Problem problem;
  SolveOptions options{};
  double target_gap = 0;      // percent over the bound
  double target_seconds = 0;  // in which
  const char* peer = "";      // quoted
  double quoted_seconds = kNone;
};

SolveOptions within(double seconds, const Arguments& arguments) {
  return arguments.quick
             ? SolveOptions{.work = 1000}
             : SolveOptions{.work = planner::kNoLimit, .seconds = seconds};
}

Row row_of(const Case& each) {
  const Solution s = planner::solve(each.problem, each.options);
  const bool is_good = planner::validate(each.problem, s).is_good();
  const auto bound = static_cast<double>(s.lower_bound);
  const double gap =
      is_good ? 100.0 * (static_cast<double>(s.height) - bound) / bound : kNone;
  return {
      .name = each.name,
      .unit = "s",
      .ours = s.seconds,
      .peer = each.quoted_seconds,
      .peer_name = each.peer,
      .reps = 1,
      .figures = {{"buffers", static_cast<double>(each.problem.buffers.size())},
                  {"over bound, %", gap},
                  {"aim, %", each.target_gap},
                  {"aim, s", each.target_seconds},
                  {"proven", s.is_proven ? 1.0 : 0.0}}};
}

// --- MiniMalloc's ----------------------------------------------------------

Result<Problem> read_problem(const std::filesystem::path& path) {
  auto file = files::system_door().open_read(path.string());
  if (!file) {
    return tl::unexpected(file.error());
  }
  const auto size = file->size();
  if (!size) {
    return tl::unexpected(size.error());
  }
  std::string text(static_cast<std::size_t>(*size), '\0');
  auto done = files::read_exact(*file, std::as_writable_bytes(std::span(text)));
  if (!done) {
    return tl::unexpected(done.error());
  }
  return planner::parse_csv(text).map(
      [](planner::CsvProblem csv) { return std::move(csv.problem); });
}

Row sum_of(const std::vector<Row>& rows) {
  Row sum = rows.front();
  sum.name = "the nine together";
  sum.peer = 3.1;
  sum.peer_name = "SuperMalloc with a ladder of bounds, quoted";
  for (std::size_t i = 1; i < rows.size(); ++i) {
    sum.ours += rows[i].ours;
    for (std::size_t k = 0; k < sum.figures.size(); ++k) {
      sum.figures[k].value += rows[i].figures[k].value;
    }
  }
  sum.figures[3].value = 2.0;
  return sum;
}

void minimalloc_table(Report& report, const Arguments& arguments) {
  const char* folder = std::getenv("NEAP_BENCH_PROBLEMS");
  if (folder == nullptr) {
    report.note("MiniMalloc's problems: NEAP_BENCH_PROBLEMS names no folder.");
    return;
  }
  std::vector<Row> nine;
  std::vector<Row> two;
  for (const char letter : std::string_view("ABCDEFGHIJK")) {
    const std::string name(1, letter);
    auto problem =
        read_problem(std::filesystem::path(folder) / (name + ".1048576.csv"));
    if (!problem || !arguments.selects(name)) {
      report.note(problem ? "" : problem.error().message);
      continue;
    }
    const bool is_open = letter == 'D' || letter == 'J';
    Case each{.name = name,
              .problem = std::move(*problem),
              .options = within(10, arguments)};
    if (is_open) {
      each.target_gap = letter == 'D' ? 3.5 : 4.5;
      each.target_seconds = 10;
      each.peer = letter == 'D' ? "best, quoted: +3.84 % in 60 s"
                                : "best, quoted: +5.28 % in 60 s";
    }
    (is_open ? two : nine).push_back(row_of(each));
  }
  if (nine.size() == 9) {
    nine.push_back(sum_of(nine));
  }
  report.table("MiniMalloc's problems, to the bound", nine);
  report.table("the two whose optimum nobody knows, in 10 s", two);
}

// --- made up ---------------------------------------------------------------

void training_table(Report& report, const Arguments& arguments) {
  std::vector<Row> rows;
  const std::vector<int> layers =
      arguments.quick ? std::vector{10} : std::vector{285, 860, 1720, 2290};
  for (const int count : layers) {
    for (const bool keeps : {false, true}) {
      for (const std::uint32_t seed : {1U, 2U}) {
        Case each{
            .name = fmt::format("{} layers{}, {}", count,
                                keeps ? ", all gradients kept" : "", seed),
            .problem = planner::training_problem(seed, count, keeps),
            .target_seconds = 0.2};
        if (arguments.selects(each.name)) {
          rows.push_back(row_of(each));
        }
      }
    }
  }
  report.table("lifetimes like a training step's", rows);
}

void recomputation_table(Report& report, const Arguments& arguments) {
  std::vector<Row> rows;
  const std::vector<int> layers =
      arguments.quick ? std::vector{10} : std::vector{100, 300, 1000};
  for (const int count : layers) {
    for (const int kept : {50, 30}) {
      Case each{.name = fmt::format("{} layers, {} % kept", count, kept),
                .problem = planner::recomputation_problem(3, count, kept),
                .options = within(2, arguments),
                .target_gap = kept == 50 ? 2.0 : 5.0,
                .target_seconds = 2};
      if (arguments.selects(each.name)) {
        rows.push_back(row_of(each));
      }
    }
  }
  report.table("after recomputation", rows);
}

// In pages the bound is always reached; what it takes is addresses.
void paged_table(Report& report, const Arguments& arguments) {
  std::vector<Row> rows;
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    const Problem problem =
        planner::random_problem(seed, {.buffers = arguments.quick ? 20 : 2000,
                                       .instants = 1000,
                                       .longest = 300,
                                       .largest = 1000,
                                       .unit = 4096});
    const auto begin = std::chrono::steady_clock::now();
    const auto paging = planner::assign_pages(problem, 4096, {.work = 100'000});
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
            .count();
    rows.push_back(
        {.name = fmt::format("random, {}", seed),
         .unit = "s",
         .ours = seconds,
         .reps = 1,
         .figures = {
             {"pages", static_cast<double>(paging.pages)},
             {"addresses, pages", static_cast<double>(paging.address_pages)},
             {"views", static_cast<double>(paging.views.size())}}});
  }
  report.table("paged: exactly the bound", rows);
}

void run(const Arguments& arguments) {
  Report report("planner", arguments);
  minimalloc_table(report, arguments);
  training_table(report, arguments);
  recomputation_table(report, arguments);
  paged_table(report, arguments);
}

}  // namespace
}  // namespace neap::bench

int main(int argc, char** argv) {
  neap::bench::run(neap::bench::read_arguments(
      argc, argv, "How low plans are and how long they take."));
}
