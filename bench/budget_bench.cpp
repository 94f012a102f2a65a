// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Networks trained for real within bytes that they do not fit into: what a
// process holds at most, and the time of a step beside the time that the plan
// said and that the step takes with all values kept. Both begin with the same
// weights and give the same losses, to the bit. Each is alone in memory while
// it is measured, so that they do not take turns.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "model_steps.hpp"
#include "neap/compile/born_away.hpp"
#include "neap/compile/compile.hpp"
#include "neap/compile/lower.hpp"
#include "neap/threads/pool.hpp"
#include "support/measure.hpp"
#include "support/report.hpp"

namespace neap::bench {
namespace {

struct Case {
  std::string name;
  MakeTraining make;
  Bytes budget = kUnlimited;  // of the process
  int percent = 0;            // > 0: of the arena, instead
  std::string folder{};       // of a file; empty: none
  bool is_huge = false;  // with all values kept it may not fit this machine
};

using Losses = std::vector<std::uint64_t>;  // their bits

/// The result of some steps.
struct Outcome {
  Losses losses;
  double seconds = 0;  // the least of the steps after the first
  Bytes most = 0;      // held and external
  Bytes arena = 0;
  compiler::Fitting fitting;
};

auto step_of(Training& training) {
  return [&training](const Tensor& x, const Tensor& y) {
    Tensor loss = training.loss(x, y);
    backward(loss);
    training.optimizer->step();
    training.optimizer->zero_grad();
    return loss;
  };
}

// The model's weights go to the file as they are made, where there is one.
Training made(const MakeTraining& make, const SpillOptions& spill) {
  std::optional<BornAway> away;
  if (!spill.folder.empty()) {
    away.emplace(spill);
  }
  return make();
}

Outcome outcome(const MakeTraining& make, const CompileOptions& how,
                int steps) {
  memory::Domain& domain = memory::default_domain();
  domain.trim();
  domain.reset_peak();
  seed(1);
  Training training = made(make, how.spill);
  auto step = neap::compile(step_of(training), how);
  Outcome out;
  for (int i = 0; i < steps; ++i) {
    const double begin = now();
    const double loss = step(training.x, training.y).item();
    const double seconds = now() - begin;
    out.losses.push_back(std::bit_cast<std::uint64_t>(loss));
    if (i > 0) {
      out.seconds = i == 1 ? seconds : std::min(out.seconds, seconds);
    }
  }
  const memory::Stats stats = domain.stats();
  out.most = stats.peak + stats.external;
  out.arena = step.arena_bytes();
  out.fitting = step.program().fitting;
  return out;
}

/// The memory of the step with all values kept, by a dry run.
Outcome dry_outcome(const MakeTraining& make) {
  const auto rehearsal =
      memory::Domain::create({.name = "rehearsal", .is_rehearsal = true});
  const memory::UseDomain in_rehearsal(*rehearsal);
  Training training = make();
  auto step = neap::compile(step_of(training));
  step.prepare({training.x.spec(), training.y.spec()});
  const memory::Stats stats = rehearsal->stats();
  Outcome out;
  out.most = stats.peak + memory::default_domain().stats().external;
  out.arena = step.arena_bytes();
  return out;
}

/// Costs of calls on this machine, shared by all cases.
base::Ref<compiler::CostBook> measured_costs() {
  static const base::Ref<compiler::CostBook> book = compiler::CostBook::make();
  return book;
}

CompileOptions options_of(const Case& which, const Outcome& whole) {
  CompileOptions how{.costs = measured_costs()};
  if (which.percent > 0) {
    how.arena_limit = whole.arena * which.percent / 100;
  } else {
    how.budget = which.budget;
  }
  how.spill.folder = which.folder;
  return how;
}

double mib(Bytes bytes) {
  return static_cast<double>(bytes) / static_cast<double>(kMiB);
}

/// The losses of the first case of a training that is too large to be run with
/// all values kept, and its time less what its plan added: the other cases of
/// this training stand beside them.
struct FirstCase {
  Losses losses;
  double seconds = kNone;
};

/// Measures a case. `first` is that of the earlier cases of the same training,
/// or empty; then this one becomes it.
Row row_of(const Case& which, int threads, int steps, FirstCase& first) {
  Row row{.name = which.name,
          .threads = threads,
          .unit = "s",
          .peer_name = "as predicted"};
  Outcome whole =
      which.is_huge ? dry_outcome(which.make) : outcome(which.make, {}, steps);
  Outcome some;
  try {
    some = outcome(which.make, options_of(which, whole), steps);
  } catch (const PlanError&) {
    row.peer_name = "no plan is found";
    return row;
  }
  const compiler::Fitting& fitting = some.fitting;
  const double predicted = fitting.percent(fitting.extra);
  if (which.is_huge) {
    whole.seconds = first.seconds;
    whole.losses = first.losses.empty() ? some.losses : first.losses;
    if (first.losses.empty()) {
      first = {some.losses, some.seconds / (1 + predicted / 100)};
    }
  }
  row.ours = some.seconds;
  row.peer = whole.seconds * (1 + predicted / 100);
  row.reps = steps - 1;
  row.figures = {{"needs, MiB", mib(whole.most)},
                 {"at most, MiB", mib(some.most)},
                 {"arena, MiB", mib(whole.arena)},
                 {"within, MiB", mib(some.arena)},
                 {"predicted, %", predicted},
                 {"measured, %", 100 * (some.seconds / whole.seconds - 1)},
                 {"again", static_cast<double>(fitting.again)},
                 {"pieces", static_cast<double>(fitting.pieces)},
                 {"written a step, MiB", mib(fitting.written)},
                 {"away, MiB", mib(fitting.away_bytes)},
                 {"same bits", some.losses == whole.losses ? 1.0 : 0.0}};
  return row;
}

std::vector<Case> cases(bool is_quick) {
  if (is_quick) {
    return {
        {.name = "gpt of 2 layers, 60 %",
         .make = gpt_training(
             {.vocab = 64, .block = 64, .layers = 2, .heads = 2, .dim = 64}, 8),
         .percent = 60}};
  }
  const MakeTraining small = gpt_training(
      {.vocab = 50257, .block = 1024, .layers = 12, .heads = 12, .dim = 768},
      4);
  const MakeTraining one = gpt_training(
      {.vocab = 50257, .block = 1024, .layers = 12, .heads = 12, .dim = 768},
      1);
  const MakeTraining xl = gpt_training(
      {.vocab = 50257, .block = 1024, .layers = 48, .heads = 25, .dim = 1600},
      1);
  const MakeTraining cells = lstm_cells_training(
      {.features = 256, .hidden = 256, .outputs = 10}, 100, 32);
  return {
      {.name = "ResNet-18 b374, 1 GiB",
       .make = resnet_training(374),
       .budget = kGiB},
      {.name = "LSTM cells, 100 of 256, 30 %", .make = cells, .percent = 30},
      {.name = "LSTM cells, 100 of 256, 30 % and a file",
       .make = cells,
       .percent = 30,
       .folder = "."},
      {.name = "GPT-2 small 4 x 1024, 2 GiB",
       .make = small,
       .budget = 2 * kGiB},
      {.name = "GPT-2 small 4 x 1024, 2 GiB and a file",
       .make = small,
       .budget = 2 * kGiB,
       .folder = "."},
      {.name = "GPT-2 small 4 x 1024, 1.25 GiB and a file",
       .make = small,
       .budget = kGiB + kGiB / 4,
       .folder = "."},
      {.name = "GPT-2 small 1 x 1024, 400 MiB and a file",
       .make = one,
       .budget = 400 * kMiB,
       .folder = "."},
      {.name = "GPT-2 XL 1 x 1024, 8 GiB and a file",
       .make = xl,
       .budget = 8 * kGiB,
       .folder = ".",
       .is_huge = true},
      {.name = "GPT-2 XL 1 x 1024, 2 GiB and a file",
       .make = xl,
       .budget = 2 * kGiB,
       .folder = ".",
       .is_huge = true},
      {.name = "GPT-2 XL 1 x 1024, 1 GiB and a file",
       .make = xl,
       .budget = kGiB,
       .folder = ".",
       .is_huge = true}};
}

void run(const Arguments& arguments) {
  Report report("budget", arguments);
  for (const int threads : arguments.threads) {
    threads::set_default_threads(threads);
    std::vector<Row> rows;
    FirstCase huge;
    for (const Case& which : cases(arguments.quick)) {
      if (arguments.selects(which.name)) {
        FirstCase alone;
        rows.push_back(row_of(which, threads, arguments.quick ? 2 : 4,
                              which.is_huge ? huge : alone));
      }
    }
    report.table("networks trained within a budget, s", rows);
  }
}

}  // namespace
}  // namespace neap::bench

int main(int argc, char** argv) {
  neap::bench::run(neap::bench::read_arguments(
      argc, argv, "Networks trained within bytes that they do not fit into."));
}
