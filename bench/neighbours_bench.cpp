// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A training step alone, and beside busy processes, one for each processor that
// the machine has. At two threads of two it then has half of the machine and
// should take twice as long; threads that wait for one another wait far longer
// than that where waiting is done badly.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "model_steps.hpp"
#include "spinners.hpp"
#include "support/measure.hpp"
#include "support/report.hpp"
#include "torch_workers.hpp"

namespace neap::bench {
namespace {

constexpr std::int64_t kBatch = 128;

Contender beside(const Contender& contender, Spinners& spinners,
                 bool are_running) {
  return {contender.name, [&contender, &spinners, are_running](int count) {
            if (are_running) {
              spinners.go_on();
            }
            std::vector<double> seconds = contender.turn(count);
            spinners.stop();
            return seconds;
          }};
}

struct Slowdown {
  double alone = 0;   // seconds
  double beside = 0;  // seconds
  int reps = 0;
  double factor() const { return beside / alone; }
};

class Section {
 public:
  explicit Section(const Arguments& arguments)
      : arguments_(arguments), report_("neighbours", arguments) {
    if (arguments.quick) {
      schedule_ = {.rounds = 1, .turn_seconds = 0.001};
    }
  }

  void run() {
    for (const int threads : arguments_.threads) {
      run_at(threads);
    }
    report_.table(
        fmt::format("A training step (MLP b{} sgd) beside {} busy processes, "
                    "in multiples of its time alone",
                    kBatch, threads::usable_processors()),
        rows_);
  }

 private:
  void run_at(int threads) {
    threads::set_default_threads(1);  // a fork carries no other thread along
    Spinners spinners(threads::usable_processors());
    spinners.stop();
    threads::set_default_threads(threads);
    ModelStep step(mlp_training(kBatch, "sgd"), false);
    std::vector<Contender> contenders{
        timed_each("Neap", [&step] { step.run(); })};
    std::vector<TorchWorker> peers;
    if (arguments_.with_peers) {
      peers = start_torch_workers(threads, report_);
    }
    for (TorchWorker& peer : peers) {
      peer.worker->ask(fmt::format("model mlp {} sgd", kBatch));
      contenders.push_back(
          contender_of(peer.worker->greeting(), *peer.worker, "run"));
    }
    add_rows(threads, contenders, spinners);
  }

  void add_rows(int threads, const std::vector<Contender>& contenders,
                Spinners& spinners) {
    const std::vector<Slowdown> all = measure_all(contenders, spinners);
    // Whoever can run has the same share of the processors.
    const double fair =
        static_cast<double>(threads + spinners.count()) /
        static_cast<double>(std::max(threads::usable_processors(), threads));
    add_row("against the fair share", threads, all[0], fair, "fair share",
            {kNone, kNone, 0});
    for (std::size_t i = 1; i < contenders.size(); ++i) {
      add_row("against PyTorch's", threads, all[0], all[i].factor(),
              contenders[i].name, all[i]);
    }
  }

  std::vector<Slowdown> measure_all(const std::vector<Contender>& contenders,
                                    Spinners& spinners) const {
    std::vector<Contender> both;
    for (const Contender& contender : contenders) {
      both.push_back(beside(contender, spinners, false));
      both.push_back(beside(contender, spinners, true));
    }
    const std::vector<Timing> timings = measure(both, schedule_);
    std::vector<Slowdown> result;
    for (std::size_t i = 0; i < timings.size(); i += 2) {
      result.push_back(
          {timings[i].median, timings[i + 1].median, timings[i].reps});
    }
    return result;
  }

  void add_row(const std::string& name, int threads, const Slowdown& ours,
               double peer, const std::string& peer_name,
               const Slowdown& theirs) {
    rows_.push_back({.name = "slowdown " + name,
                     .threads = threads,
                     .unit = "x",
                     .ours = ours.factor(),
                     .peer = peer,
                     .peer_name = peer_name,
                     .reps = ours.reps,
                     .figures = {{"ms alone", ours.alone * 1e3},
                                 {"ms beside", ours.beside * 1e3},
                                 {"peer alone", theirs.alone * 1e3},
                                 {"peer beside", theirs.beside * 1e3}}});
  }

  const Arguments& arguments_;
  Report report_;
  Schedule schedule_{
      .rounds = 5, .turn_seconds = 0.5, .pause = std::chrono::milliseconds(20)};
  std::vector<Row> rows_;
};

}  // namespace
}  // namespace neap::bench

int main(int argc, char** argv) {
  const neap::bench::Arguments arguments = neap::bench::read_arguments(
      argc, argv, "A training step beside busy processes.");
  neap::bench::Section(arguments).run();
}
