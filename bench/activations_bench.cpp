// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Training steps with less memory for activations: ours within a part of their
// arena, and PyTorch's by torch.compile with the same part as its
// activation_memory_budget. What each setting takes in bytes, and in time
// beside the same step that keeps all.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "model_steps.hpp"
#include "neap/threads/pool.hpp"
#include "support/report.hpp"
#include "torch_workers.hpp"

namespace neap::bench {
namespace {

struct Case {
  std::string name;
  std::string peer;  // what the peer is asked for
  MakeTraining make;
};

std::vector<Case> cases(bool is_quick) {
  if (is_quick) {
    return {{"gpt of 2 layers", "gpt 2 2 32 32 4 64",
             gpt_training(
                 {.vocab = 64, .block = 32, .layers = 2, .heads = 2, .dim = 32},
                 4)}};
  }
  return {
      {"gpt nano b8", "gpt 6 6 384 256 8 256",
       gpt_training(
           {.vocab = 256, .block = 256, .layers = 6, .heads = 6, .dim = 384},
           8)},
      {"resnet18 b32", "resnet 32", resnet_training(32)}};
}

// The peer that runs by torch.compile; nullptr: there is none.
Worker* compiling(std::vector<TorchWorker>& peers) {
  const auto found = std::ranges::find(peers, "compile", &TorchWorker::on);
  return found == peers.end() ? nullptr : found->worker.get();
}

class Section {
 public:
  explicit Section(const Arguments& arguments)
      : arguments_(arguments), report_("activations", arguments) {
    if (arguments.quick) {
      schedule_ = {.rounds = 1, .turn_seconds = 0.001};
    }
  }

  void run() {
    for (const int threads : arguments_.threads) {
      threads::set_default_threads(threads);
      std::vector<TorchWorker> peers;
      if (arguments_.with_peers) {
        peers = start_torch_workers(threads, report_);
      }
      for (const Case& which : cases(arguments_.quick)) {
        if (arguments_.selects(which.name)) {
          report_.table("steps with less memory for activations, s",
                        rows_of(which, threads, compiling(peers)));
        }
      }
    }
  }

 private:
  std::vector<Row> rows_of(const Case& which, int threads, Worker* peer) {
    std::vector<Row> rows;
    Bytes whole = 0;
    for (const int percent : {100, 80, 60, 50, 40, 30, 20, 10}) {
      std::optional<ModelStep> ours;
      try {
        const CompileOptions how{
            .arena_limit = percent == 100 ? kUnlimited : whole * percent / 100};
        ours.emplace(which.make, true, how);
        whole = percent == 100 ? ours->arena() : whole;
      } catch (const PlanError&) {
      }
      Row row = measure_at(which, percent, ours ? &*ours : nullptr, peer);
      row.threads = threads;
      const Row& first = rows.empty() ? row : rows.front();
      row.figures.push_back({"extra, %", 100 * (row.ours / first.ours - 1)});
      row.figures.push_back(
          {"peer extra, %", 100 * (row.peer / first.peer - 1)});
      rows.push_back(std::move(row));
    }
    return rows;
  }

  // Both in turns, as far as they are there.
  Row measure_at(const Case& which, int percent, ModelStep* ours,
                 Worker* peer) {
    Row row{.name = fmt::format("{}, {} %", which.name, percent), .unit = "s"};
    std::vector<Contender> contenders;
    if (ours != nullptr) {
      contenders.push_back(timed_each(
          "ours", [ours] { ours->run(); }, 1));
    } else {
      row.peer_name = "no plan is found; ";
    }
    if (peer != nullptr) {
      peer->ask(fmt::format("budget {}", percent / 100.0));
      peer->ask("model " + which.peer);
      contenders.push_back(contender_of("compile", *peer, "run"));
      row.peer_name += peer->greeting();
    }
    const std::vector<Timing> timings = contenders.empty()
                                            ? std::vector<Timing>()
                                            : measure(contenders, schedule_);
    double peak = kNone;
    double peer_peak = kNone;
    if (ours != nullptr) {
      row.ours = timings.front().median;
      row.reps = timings.front().reps;
      peak = static_cast<double>(ours->peak()) / 1e6;
    }
    if (peer != nullptr) {
      row.peer = timings.back().median;
      peer_peak = peer->ask_numbers("peak").at(0) / 1e6;
    }
    row.figures = {{"peak, MB", peak}, {"peer peak, MB", peer_peak}};
    return row;
  }

  Arguments arguments_;
  Report report_;
  Schedule schedule_{.rounds = 5, .turn_seconds = 0.5};
};

}  // namespace
}  // namespace neap::bench

int main(int argc, char** argv) {
  neap::bench::Section(
      neap::bench::read_arguments(
          argc, argv,
          "Steps with less memory for activations, beside PyTorch."))
      .run();
}
