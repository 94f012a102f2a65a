// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The cost of a step that is made to fit a part of its arena: the time that was
// predicted, beside the time that it takes, in turns with the step that keeps
// all values. Both give the same losses, to the bit.
#include <fmt/format.h>

#include <bit>
#include <memory>

#include "model_steps.hpp"
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
};

// A model, its optimizer and its compiled step.
class Run {
 public:
  Run(const MakeTraining& make, Bytes arena_limit)
      : training_(made(make)),
        step_(neap::compile(Step{&training_}, {.arena_limit = arena_limit})) {
    const double begin = now();
    step_.prepare({training_.x.spec(), training_.y.spec()});
    plan_seconds_ = now() - begin;
  }

  double loss() { return step_(training_.x, training_.y).item(); }
  Bytes arena() const { return step_.arena_bytes(); }
  const compiler::Fitting& fitting() const { return step_.program().fitting; }
  double plan_seconds() const noexcept { return plan_seconds_; }

 private:
  struct Step {
    Training* training;
    Tensor operator()(const Tensor& x, const Tensor& y) const {
      Tensor loss = training->loss(x, y);
      backward(loss);
      training->optimizer->step();
      training->optimizer->zero_grad();
      return loss;
    }
  };

  // With the same weights each time.
  static Training made(const MakeTraining& make) {
    seed(1);
    return make();
  }

  Training training_;
  compiler::Compiled<Step> step_;
  double plan_seconds_ = 0;
};

// Steps of both until they are measured, and whether all losses were the same.
Row row_of(const Case& which, int percent, Run& kept, int threads,
           bool is_quick) {
  Row row{.name = fmt::format("{}, {} %", which.name, percent),
          .threads = threads,
          .unit = "s",
          .peer_name = "as predicted"};
  Run some(which.make, kept.arena() * percent / 100);
  Run whole(which.make, kUnlimited);
  const compiler::Fitting& fitting = some.fitting();
  bool is_same = true;
  for (int i = 0; i < 2; ++i) {
    is_same = is_same && std::bit_cast<std::uint64_t>(some.loss()) ==
                             std::bit_cast<std::uint64_t>(whole.loss());
  }
  const std::array contenders{timed_each("kept", [&] { keep(whole.loss()); }),
                              timed_each("fitted", [&] { keep(some.loss()); })};
  const auto timings =
      measure(contenders, {.rounds = is_quick ? 1 : 9, .turn_seconds = 0.2});
  const double predicted = fitting.percent(fitting.extra);
  row.ours = timings[1].low;
  row.peer = timings[0].low * (1 + predicted / 100);
  row.reps = timings[1].reps;
  row.figures = {{"arena, MB", static_cast<double>(some.arena()) / 1e6},
                 {"predicted, %", predicted},
                 {"measured, %", 100 * (timings[1].low / timings[0].low - 1)},
                 {"bound, %", fitting.percent(fitting.bound)},
                 {"again", static_cast<double>(fitting.again)},
                 {"planned, s", some.plan_seconds()},
                 {"same bits", is_same ? 1.0 : 0.0}};
  return row;
}

std::vector<Case> cases(bool is_quick) {
  if (is_quick) {
    return {{"gpt of 2 layers",
             gpt_training(
                 {.vocab = 64, .block = 32, .layers = 2, .heads = 2, .dim = 32},
                 4)}};
  }
  return {
      {"gpt nano b8",
       gpt_training(
           {.vocab = 256, .block = 256, .layers = 6, .heads = 6, .dim = 384},
           8)},
      {"resnet18 b32", resnet_training(32)},
      {"cnn b64", cnn_training(64)}};
}

// Rows of one model.
void add_rows(const Case& which, int threads, bool is_quick,
              std::vector<Row>& rows) {
  Run kept(which.make, kUnlimited);
  for (const int percent : {80, 50, 30, 20}) {
    try {
      rows.push_back(row_of(which, percent, kept, threads, is_quick));
    } catch (const PlanError&) {
      rows.push_back({.name = fmt::format("{}, {} %", which.name, percent),
                      .threads = threads,
                      .unit = "s",
                      .peer_name = "no plan is found"});
    }
  }
}

void run(const Arguments& arguments) {
  Report report("fit", arguments);
  for (const int threads : arguments.threads) {
    threads::set_default_threads(threads);
    std::vector<Row> rows;
    for (const Case& which : cases(arguments.quick)) {
      if (arguments.selects(which.name)) {
        add_rows(which, threads, arguments.quick, rows);
      }
    }
    report.table("steps made to fit a part of their arena, s", rows);
  }
}

}  // namespace
}  // namespace neap::bench

int main(int argc, char** argv) {
  neap::bench::run(neap::bench::read_arguments(
      argc, argv, "What steps cost that are made to fit."));
}
