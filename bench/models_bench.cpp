// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Training steps of the models room beside PyTorch's (the best of the BLAS
// libraries it can be given) and beside the time that their matrix products
// take at the processor's peak; and the most memory that a step takes beside
// the parameters and the optimizer's state.
#include <fmt/format.h>

#include "model_steps.hpp"
#include "support/limits.hpp"
#include "support/measure.hpp"
#include "support/report.hpp"
#include "torch_workers.hpp"

namespace neap::bench {
namespace {

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
        "A compiled training step, ms, and the same eagerly; low: the "
        "tenth percentile. Of floor: the share of the processor's peak "
        "(fused multiply-adds) that the step's matrix products come to",
        steps_, true);
    report_.table(
        "The most memory of a step above parameters and optimizer state",
        peaks_, true);
  }

 private:
  void run_at(int threads) {
    threads::set_default_threads(threads);
    peak_ = fma_peak(threads::default_pool(), f32);
    report_.note(fmt::format("t{}: peak {:.1f} GFLOP/s", threads, peak_ / 1e9));
    std::vector<TorchWorker> peers;
    if (arguments_.with_peers) {
      peers = start_torch_workers(threads, report_, "models_torch.py");
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
      contenders.push_back(contender_of(peer.blas, *peer.worker, "run"));
    }
    const std::vector<Timing> timings = measure(contenders, schedule_);
    const double floor = which.flops / peak_;
    Row row{.name = which.name,
            .threads = threads,
            .unit = "ms",
            .ours = timings[1].median * 1e3,
            .peer_name = "nothing",
            .reps = timings[1].reps,
            .figures = {{"low", timings[1].low * 1e3},
                        {"eager", timings[0].median * 1e3},
                        {"eager low", timings[0].low * 1e3},
                        {"floor", floor * 1e3},
                        {"of floor", floor / timings[1].median}}};
    Row peak{.name = which.name,
             .threads = threads,
             .unit = "MB",
             .ours = static_cast<double>(compiled.peak()) / 1e6,
             .peer_name = "nothing",
             .reps = 1,
             .figures = {{"eager", static_cast<double>(eager.peak()) / 1e6}}};
    if (!peers.empty()) {
      add_peers(row, peak, std::span(timings).subspan(2), peers);
    }
    steps_.push_back(std::move(row));
    peaks_.push_back(std::move(peak));
  }

  static void add_peers(Row& row, Row& peak, std::span<const Timing> timings,
                        std::vector<TorchWorker>& peers) {
    Worker& worker = add_best(row, timings, peers);
    add_columns(row, timings, peers);
    peak.peer = worker.ask_numbers("peak").at(0) / 1e6;
    peak.peer_name = worker.greeting();
  }

  const Arguments& arguments_;
  Report report_;
  // Pools of others spin for a few milliseconds before they sleep.
  Schedule schedule_{
      .rounds = 7, .turn_seconds = 0.5, .pause = std::chrono::milliseconds(20)};
  double peak_ = 0;
  std::vector<Row> steps_;
  std::vector<Row> peaks_;
};

}  // namespace
}  // namespace neap::bench

int main(int argc, char** argv) {
  const neap::bench::Arguments arguments = neap::bench::read_arguments(
      argc, argv, "Training steps of models beside PyTorch and the peak.");
  neap::bench::Section(arguments).run();
}
