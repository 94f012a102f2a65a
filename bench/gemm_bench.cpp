// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The matrix product beside oneDNN's and OpenBLAS's, GFLOP/s: the layers of the
// networks that Neap is measured by, squares, thin ones and batches, with
// either operand transposed. f32 is judged by oneDNN, f64 by OpenBLAS. In bf16
// oneDNN is given factors that are bf16 already; Neap rounds them as it packs,
// and stands beside itself in f32.
#include <fmt/format.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "gemm_problem.hpp"
#include "neap/kernels/engine/precision.hpp"
#include "support/measure.hpp"
#include "support/report.hpp"

namespace neap::bench {
namespace {

// Every sample is the mean of some 50 us of calls: short enough that many of
// them meet no other process.
Contender contender_of(const char* name, Run run) {
  return {name, [run = std::move(run)](int count) {
            constexpr double kSample = 50e-6;
            run();  // caches and threads have served others meanwhile
            std::vector<double> seconds;
            for (int done = 0; done < count;) {
              const double begin = now();
              int calls = 0;
              double end = begin;
              do {
                run();
                ++calls;
                end = now();
              } while (end - begin < kSample && done + calls < count);
              seconds.push_back((end - begin) / calls);
              done += calls;
            }
            return seconds;
          }};
}

constexpr double kQuickFlops = 1e8;  // larger products are the same code

class Section {
 public:
  explicit Section(const Arguments& arguments)
      : arguments_(arguments), report_("gemm", arguments) {
    if (arguments.quick) {
      schedule_ = {.rounds = 1, .turn_seconds = 0.001};
    }
  }

  void run() {
    for (const Problem& x : all_problems()) {
      const std::string name = name_of(x);
      const bool is_long = arguments_.quick && x.flops() > kQuickFlops;
      if (is_long || (x.is_bf16 && !kernels::has_bf16_dot()) ||
          !arguments_.selects(x.group + " " + name)) {
        continue;
      }
      if (x.group != group_) {
        print();
        group_ = x.group;
      }
      for (const int threads : arguments_.threads) {
        rows_.push_back(row_of(x, name, threads));
      }
    }
    print();
  }

 private:
  static std::string name_of(const Problem& x) {
    return x.name + " " + x.layout();
  }

  Row row_of(const Problem& x, const std::string& name, int threads) {
    const Operands operands(x);
    std::vector<Contender> contenders{
        contender_of("Neap", neap_run(x, operands, threads))};
    if (x.is_bf16) {
      Problem plain = x;
      plain.is_bf16 = false;
      add_peer(contenders, "Neap f32", neap_run(plain, operands, threads));
    }
    if (arguments_.with_peers) {
      add_peer(contenders, "oneDNN", onednn_run(x, operands, threads));
      add_peer(contenders, "OpenBLAS", openblas_run(x, operands, threads));
    }
    schedule_.pause =
        std::chrono::milliseconds(threads > 1 && !arguments_.quick ? 40 : 0);
    const std::vector<Timing> timings = measure(contenders, schedule_);
    Row row{
        .name = name,
        .threads = threads,
        .unit = "GFLOP/s",
        .ours = x.flops() / timings[0].median * 1e-9,
        .peer_name = "nothing",
        .reps = timings[0].reps,
        .better = Better::kMore,
        .figures = {{"ratio at p10"}, {x.is_bf16 ? "Neap f32" : "OpenBLAS"}}};
    for (const Timing& timing : timings) {
      const double gflops = x.flops() / timing.median * 1e-9;
      if (timing.name == (x.is_f64 ? "OpenBLAS" : "oneDNN")) {
        row.peer = gflops;
        row.peer_name = timing.name;
        row.figures[0].value = timing.low / timings[0].low;
      }
      if (timing.name == row.figures[1].name) {
        row.figures[1].value = gflops;
      }
    }
    return row;
  }

  static void add_peer(std::vector<Contender>& to, const char* name, Run run) {
    if (run) {
      to.push_back(contender_of(name, std::move(run)));
    }
  }

  void print() {
    if (!rows_.empty()) {
      report_.table(fmt::format("{}, m x n x k, GFLOP/s", group_), rows_, true);
    }
    rows_.clear();
  }

  const Arguments& arguments_;
  Report report_;
  Schedule schedule_{.rounds = 5, .turn_seconds = 0.02};
  std::string group_;
  std::vector<Row> rows_;
};

}  // namespace
}  // namespace neap::bench

int main(int argc, char** argv) {
  const neap::bench::Arguments arguments = neap::bench::read_arguments(
      argc, argv, "The matrix product beside oneDNN's and OpenBLAS's.");
  neap::bench::Section(arguments).run();
}
