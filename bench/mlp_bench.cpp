// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Training steps of the 784-512-256-10 network, beside PyTorch's (the best of
// the BLAS libraries it can be given) and beside the time that its matrix
// products take at the processor's peak.
#include <fmt/format.h>
#include <sys/resource.h>

#include "support/limits.hpp"
#include "support/measure.hpp"
#include "support/report.hpp"
#include "torch_workers.hpp"
#include "training.hpp"

namespace neap::bench {
namespace {

struct Case {
  std::int64_t batch;
  std::string optimizer;
  std::string name() const {
    return fmt::format("MLP b{} {}", batch, optimizer);
  }
};

long minor_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

struct StepCounts {
  double faults = 0;    // fresh pages
  double requests = 0;  // at the door
};

StepCounts count_step(TrainingStep& step) {
  constexpr int kSteps = 20;
  const memory::Stats before = memory::default_domain().stats();
  const long faults = minor_faults();
  for (int i = 0; i < kSteps; ++i) {
    step.run();
  }
  const memory::Stats after = memory::default_domain().stats();
  return {static_cast<double>(minor_faults() - faults) / kSteps,
          static_cast<double>(after.allocations - before.allocations) / kSteps};
}

class Section {
 public:
  explicit Section(const Arguments& arguments)
      : arguments_(arguments), report_("mlp", arguments) {
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
        "percentile. Of floor: the share of the processor's peak "
        "(fused multiply-adds) that the step's matrix products come to",
        rows_, true);
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
      peers = start_torch_workers(threads, report_);
    }
    for (const std::int64_t batch : {64, 512}) {
      for (const char* optimizer : {"sgd", "adam"}) {
        const Case which{batch, optimizer};
        if (arguments_.selects(which.name())) {
          measure_case(which, threads, peers);
        }
      }
    }
  }

  void measure_case(const Case& which, int threads,
                    std::vector<TorchWorker>& peers) {
    TrainingStep eager(which.batch, which.optimizer);
    eager.run();
    eager.run();
    const Bytes eager_peak = eager.peak();
    TrainingStep compiled(which.batch, which.optimizer, true);
    compiled.run();
    compiled.run();
    Row peak{.name = which.name(),
             .threads = threads,
             .unit = "MB",
             .ours = static_cast<double>(compiled.peak()) / 1e6,
             .peer_name = "nothing",
             .reps = 1,
             .figures = {{"eager", static_cast<double>(eager_peak) / 1e6}}};
    std::vector<Contender> contenders{
        timed_each(
            "eager", [&] { eager.run(); }, 2),
        timed_each(
            "compiled", [&] { compiled.run(); }, 2)};
    for (TorchWorker& peer : peers) {
      peer.worker->ask(
          fmt::format("model {} {}", which.batch, which.optimizer));
      contenders.push_back(contender_of(peer.blas, *peer.worker, "run"));
    }
    const std::vector<Timing> timings = measure(contenders, schedule_);
    const StepCounts counts = count_step(compiled);
    const StepCounts eagerly = count_step(eager);
    const double floor = step_flops(which.batch) / peak_;
    Row row{.name = which.name(),
            .threads = threads,
            .unit = "ms",
            .ours = timings[1].median * 1e3,
            .peer_name = "nothing",
            .reps = timings[1].reps,
            .figures = {{"low", timings[1].low * 1e3},
                        {"eager", timings[0].median * 1e3},
                        {"eager low", timings[0].low * 1e3},
                        {"floor", floor * 1e3},
                        {"of floor", floor / timings[1].median},
                        {"requests", counts.requests},
                        {"faults", counts.faults},
                        {"eager requests", eagerly.requests},
                        {"eager faults", eagerly.faults}}};
    if (!peers.empty()) {
      add_peers(row, peak, std::span(timings).subspan(2), peers);
    }
    rows_.push_back(std::move(row));
    peaks_.push_back(std::move(peak));
  }

  static void add_peers(Row& row, Row& peak, std::span<const Timing> timings,
                        std::vector<TorchWorker>& peers) {
    Worker& worker = add_best(row, timings, peers);
    row.figures.push_back(
        {"peer faults", worker.ask_numbers("faults 20").at(0)});
    add_columns(row, timings, peers);
    peak.peer = worker.ask_numbers("peak").at(0) / 1e6;
    peak.peer_name = worker.greeting();
  }

  const Arguments& arguments_;
  Report report_;
  // Pools of others spin for a few milliseconds before they sleep.
  Schedule schedule_{
      .rounds = 9, .turn_seconds = 0.2, .pause = std::chrono::milliseconds(20)};
  double peak_ = 0;
  std::vector<Row> rows_;
  std::vector<Row> peaks_;
};

}  // namespace
}  // namespace neap::bench

int main(int argc, char** argv) {
  const neap::bench::Arguments arguments = neap::bench::read_arguments(
      argc, argv, "Training steps beside PyTorch and the processor's peak.");
  neap::bench::Section(arguments).run();
}
