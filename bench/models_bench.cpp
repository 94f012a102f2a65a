// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Training steps of networks beside PyTorch's (the best of what it can run on)
// and beside the time that their products and convolutions
// take at the processor's peak: times, their parts, memory, calls.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>

#include "model_steps.hpp"
#include "support/limits.hpp"
#include "support/report.hpp"
#include "torch_workers.hpp"

namespace neap::bench {
namespace {

// Bytes that are resident now.
double resident() {
  std::ifstream statm("/proc/self/statm");
  double pages = 0;
  statm >> pages >> pages;
  return pages * 4096;
}

class Section {
 public:
  explicit Section(const Arguments& arguments)
      : arguments_(arguments), report_("models", arguments) {
    if (arguments.quick) {
      schedule_ = {.rounds = 1, .turn_seconds = 0.001};
    }
  }

  void run() {
    for (const int threads : arguments_.threads) {
      run_at(threads);
    }
    report_.table(
        "A compiled training step, ms, and the same eagerly; low: the tenth "
        "percentile. Of floor: the share of the processor's peak (fused "
        "multiply-adds) that the step's products come to. Over t1: how many "
        "times faster than with one thread. Slowdown: the time over that of "
        "the same training that keeps more",
        steps_, true);
    report_.table("An eager step's parts, ms", parts_);
    report_.table(
        "The most memory of a step above parameters and optimizer state; what "
        "an eager forward leaves for backward; what the process has resident",
        peaks_, true);
    report_.table("Calls of the heap and fresh pages, a step", calls_);
  }

 private:
  void run_at(int threads) {
    threads::set_default_threads(threads);
    peak_ = fma_peak(threads::default_pool(), f32);
    report_.note(fmt::format("t{}: peak {:.1f} GFLOP/s", threads, peak_ / 1e9));
    std::vector<TorchWorker> peers;
    if (arguments_.with_peers) {
      peers = start_torch_workers(threads, report_);
    }
    for (const ModelCase& which : model_cases()) {
      if (arguments_.selects(which.name) &&
          !(arguments_.quick && which.is_long)) {
        measure_case(which, threads, peers);
      }
    }
  }

  void measure_case(const ModelCase& which, int threads,
                    std::vector<TorchWorker>& peers) {
    ModelStep eager(which.make, false);
    ModelStep compiled(which.make, true);
    std::vector<Contender> contenders{
        timed_each(
            "eager", [&] { eager.run(); }, 1),
        timed_each(
            "compiled", [&] { compiled.run(); }, 1)};
    for (TorchWorker& peer : peers) {
      peer.worker->ask("model " + which.peer);
      contenders.push_back(contender_of(peer.on, *peer.worker, "run"));
    }
    const std::vector<Timing> timings = measure(contenders, schedule_);
    Row row{.name = which.name, .threads = threads, .peer_name = "nothing"};
    Worker* peer = add_step(row, which, timings, peers);
    add_parts(row, eager, peer);
    add_peak(row, which, {&eager, &compiled}, peer);
    add_calls(row, {&eager, &compiled}, peer);
  }

  // Returns the best peer; nullptr without peers.
  Worker* add_step(Row& row, const ModelCase& which,
                   const std::vector<Timing>& timings,
                   std::vector<TorchWorker>& peers) {
    const double floor = which.flops / peak_;
    Row step = row;
    step.unit = "ms";
    step.ours = timings[1].median * 1e3;
    step.reps = timings[1].reps;
    step.figures = {{"low", timings[1].low * 1e3},
                    {"eager", timings[0].median * 1e3},
                    {"eager low", timings[0].low * 1e3},
                    {"floor", floor * 1e3},
                    {"of floor", floor / timings[1].median}};
    add_ratios(step, which);
    Worker* best = nullptr;
    if (!peers.empty()) {
      const auto theirs = std::span(timings).subspan(2);
      best = &add_best(step, theirs, peers);
      row.peer_name = step.peer_name;
      add_columns(step, theirs, peers);
    }
    step.figures.push_back(
        {"eager ratio", step.peer / (timings[0].median * 1e3)});
    steps_.push_back(std::move(step));
    return best;
  }

  // Beside rows before it: the same with one thread, and the same training
  // that keeps more for backward.
  void add_ratios(Row& step, const ModelCase& which) const {
    const auto ratio = [&](const std::string& name, int threads) {
      const auto other = std::ranges::find_if(steps_, [&](const Row& row) {
        return row.name == name && row.threads == threads;
      });
      return other == steps_.end() ? kNone : step.ours / other->ours;
    };
    step.figures.push_back({"over t1", 1 / ratio(which.name, 1)});
    step.figures.push_back({"slowdown", ratio(which.keeps_more, step.threads)});
  }

  void add_parts(Row row, ModelStep& eager, Worker* peer) {
    const int count = arguments_.quick ? 1 : 5;
    const StepParts ours = eager.parts(count);
    std::vector<double> theirs(3, kNone);
    if (peer != nullptr) {
      theirs = peer->ask_numbers(fmt::format("parts {}", count));
      row.peer = (theirs.at(0) + theirs.at(1) + theirs.at(2)) * 1e3;
    }
    row.unit = "ms";
    row.ours = (ours.forward + ours.backward + ours.update) * 1e3;
    row.reps = count;
    row.figures = {{"forward", ours.forward * 1e3},
                   {"backward", ours.backward * 1e3},
                   {"update", ours.update * 1e3},
                   {"peer forward", theirs.at(0) * 1e3},
                   {"peer backward", theirs.at(1) * 1e3},
                   {"peer update", theirs.at(2) * 1e3}};
    parts_.push_back(std::move(row));
  }

  struct Steps {
    ModelStep* eager;
    ModelStep* compiled;
  };

  void add_peak(Row row, const ModelCase& which, const Steps& steps,
                Worker* peer) {
    const auto ask = [peer](const char* what) {
      return peer != nullptr ? peer->ask_numbers(what).at(0) / 1e6 : kNone;
    };
    row.unit = "MB";
    row.ours = static_cast<double>(steps.compiled->peak()) / 1e6;
    row.peer = ask("peak");
    row.reps = 1;
    row.figures = {{"eager", static_cast<double>(steps.eager->peak()) / 1e6},
                   {"kept", static_cast<double>(steps.eager->kept()) / 1e6},
                   {"peer kept", ask("kept")},
                   // Quickly: once, to see that it can be asked.
                   {"resident", arguments_.quick && !peaks_.empty()
                                    ? kNone
                                    : resident_alone(which, row.threads) / 1e6},
                   {"peer resident", ask("resident")}};
    peaks_.push_back(std::move(row));
  }

  // Resident memory of a process that does nothing but this step, compiled.
  static double resident_alone(const ModelCase& which, int threads) {
    Worker worker(
        {"/proc/self/exe", "--resident", which.name, std::to_string(threads)},
        {});
    return std::stod(worker.greeting());
  }

  void add_calls(Row row, const Steps& steps, Worker* peer) {
    const int count = arguments_.quick ? 1 : 5;
    const StepCalls compiled = steps.compiled->calls(count);
    const StepCalls eager = steps.eager->calls(count);
    row.unit = "calls";
    row.ours = compiled.heap;
    row.reps = count;
    row.figures = {
        {"faults", compiled.faults},
        {"eager calls", eager.heap},
        {"eager faults", eager.faults},
        {"peer faults",
         peer != nullptr
             ? peer->ask_numbers(fmt::format("faults {}", count)).at(0)
             : kNone}};
    calls_.push_back(std::move(row));
  }

  const Arguments& arguments_;
  Report report_;
  // Pools of others spin for a few milliseconds before they sleep.
  Schedule schedule_{
      .rounds = 7, .turn_seconds = 0.5, .pause = std::chrono::milliseconds(20)};
  double peak_ = 0;
  std::vector<Row> steps_;
  std::vector<Row> parts_;
  std::vector<Row> peaks_;
  std::vector<Row> calls_;
};

// Prints the resident memory of a process of its own after some steps; serves
// until its stdin ends.
int serve_resident(const std::string& name, int threads) {
  threads::set_default_threads(threads);
  for (const ModelCase& which : model_cases()) {
    if (which.name == name) {
      ModelStep step(which.make, true);
      std::cout << resident() << std::endl;
      std::string line;
      while (std::getline(std::cin, line)) {
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace neap::bench

int main(int argc, char** argv) {
  if (argc == 4 && std::string(argv[1]) == "--resident") {
    return neap::bench::serve_resident(argv[2], std::stoi(argv[3]));
  }
  const neap::bench::Arguments arguments = neap::bench::read_arguments(
      argc, argv, "Training steps of models beside PyTorch and the peak.");
  neap::bench::Section(arguments).run();
}
