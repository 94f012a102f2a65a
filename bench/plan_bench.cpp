// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How long it takes to make a plan of a training step, part by part, and how
// low the plan is. Models are made in a rehearsal, so that their elements need
// no memory. The environment variable NEAP_BENCH_PROBLEMS_OUT names a folder
// that the packing problems are written to, as CSV that `neap pack` takes.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "model_steps.hpp"
#include "neap/compile/lifetimes.hpp"
#include "neap/compile/plan.hpp"
#include "neap/compile/trace.hpp"
#include "neap/planner/csv.hpp"
#include "neap/program/bind.hpp"
#include "neap/program/passes.hpp"
#include "neap/tensor/execution.hpp"
#include "support/measure.hpp"
#include "support/report.hpp"

namespace neap::bench {
namespace {

struct Case {
  std::string name;
  std::function<Training()> make;
  double target_seconds = kNone;
};

struct Step {
  Training training;
  void operator()(const Tensor& x, const Tensor& y) const {
    backward(training.loss(x, y));
    training.optimizer->step();
    training.optimizer->zero_grad();
  }
};

void write_problem(const std::string& name, const compiler::Plan& plan) {
  const char* folder = std::getenv("NEAP_BENCH_PROBLEMS_OUT");
  if (folder == nullptr) {
    return;
  }
  std::string file = name + ".csv";
  std::ranges::replace(file, ' ', '_');
  const auto text = planner::to_csv(
      compiler::problem_of(plan.lifetimes, memory::kHost, {}).problem);
  std::ofstream(std::filesystem::path(folder) / file) << text;
}

Row row_of(const Case& which) {
  const auto rehearsal =
      memory::Domain::create({.name = "rehearsal", .is_rehearsal = true});
  const memory::UseDomain in_rehearsal(*rehearsal);
  const Step step{which.make()};
  const std::array specs{step.training.x.spec(), step.training.y.spec()};
  const auto body = compiler::as_step<2>(step);
  const double begin = now();
  compiler::Program program = compiler::trace(body, specs);
  const auto traced = static_cast<double>(program.calls.size());
  const double after_trace = now();
  compiler::run_passes(program);
  const double after_passes = now();
  compiler::bind(program, tensor::executor());
  const compiler::Plan plan =
      compiler::plan(program, tensor::executor().threads());
  const double end = now();
  write_problem(which.name, plan);
  const compiler::SpacePlan& host = plan.space();
  const auto bound = static_cast<double>(host.lower_bound);
  return {.name = which.name,
          .unit = "s",
          .ours = end - begin,
          .peer = which.target_seconds,
          .peer_name = "what is aimed at",
          .reps = 1,
          .figures = {{"calls traced", traced},
                      {"calls", static_cast<double>(program.calls.size())},
                      {"trace", after_trace - begin},
                      {"passes", after_passes - after_trace},
                      {"plan", end - after_passes},
                      {"arena, MB", static_cast<double>(host.bytes) / 1e6},
                      {"bound, MB", bound / 1e6},
                      {"over bound, %",
                       100 * (static_cast<double>(host.bytes) - bound) / bound},
                      {"proven", host.is_proven ? 1.0 : 0.0}}};
}

std::function<Training()> gpt(int layers, std::int64_t batch) {
  return gpt_training(
      {.vocab = 256, .block = 64, .layers = layers, .heads = 4, .dim = 128},
      batch);
}

std::vector<Case> size_cases(bool is_quick) {
  if (is_quick) {
    return {{"gpt of 2 layers", gpt(2, 4), kNone}};
  }
  return {{"gpt of 64 layers", gpt(64, 4), 2.0},
          {"gpt of 170 layers", gpt(170, 4), 5.0}};
}

std::vector<Case> model_plans(bool is_quick) {
  std::vector<Case> cases;
  for (const std::int64_t batch : {1, 16, 64}) {
    cases.push_back({fmt::format("gpt tiny b{}", batch), gpt(4, batch)});
    cases.push_back(
        {fmt::format("gpt nano b{}", batch),
         gpt_training(
             {.vocab = 256, .block = 256, .layers = 6, .heads = 6, .dim = 384},
             batch)});
    if (!is_quick) {
      cases.push_back(
          {fmt::format("lstm 256 b{}", batch),
           lstm_training({.features = 256, .hidden = 256, .outputs = 10}, 100,
                         batch)});
    }
    cases.push_back({fmt::format("mlp b{}", batch), mlp_training(batch)});
  }
  return cases;
}

void run(const Arguments& arguments) {
  Report report("plan", arguments);
  const auto table = [&](const char* title, const std::vector<Case>& cases) {
    std::vector<Row> rows;
    for (const Case& which : cases) {
      if (arguments.selects(which.name)) {
        rows.push_back(row_of(which));
      }
    }
    report.table(title, rows);
  };
  table("a plan of a large step, s: trace, passes, planning",
        size_cases(arguments.quick));
  table("plans of the models' steps, s", model_plans(arguments.quick));
}

}  // namespace
}  // namespace neap::bench

int main(int argc, char** argv) {
  neap::bench::run(neap::bench::read_arguments(
      argc, argv, "How long plans of training steps take."));
}
