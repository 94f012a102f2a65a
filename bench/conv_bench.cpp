// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Convolutions beside oneDNN's, GFLOP/s: forward, the gradients of the data and
// of the weights, of the layers of the networks that Neap is measured by. Neap
// reads and writes plain images (n, c, h, w); oneDNN has its own blocked
// layouts, and what it takes to bring images there is not counted. In bf16
// oneDNN is given factors that are bf16 already; Neap rounds them as it copies.
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "conv_problem.hpp"
#include "support/measure.hpp"
#include "support/report.hpp"

namespace neap::bench {
namespace {

constexpr double kQuickFlops = 5e7;  // larger ones are the same code

class Section {
 public:
  explicit Section(const Arguments& arguments)
      : arguments_(arguments), report_("conv", arguments) {
    if (arguments.quick) {
      schedule_ = {.rounds = 1, .turn_seconds = 0.001};
    }
  }

  void run() {
    for (const ConvProblem& p : all_conv_problems()) {
      const bool is_long = arguments_.quick && p.flops() > kQuickFlops;
      if (is_long || (p.is_bf16 && !kernels::has_bf16_dot()) ||
          !arguments_.selects(p.group + " " + p.name())) {
        continue;
      }
      if (p.group != group_) {
        print();
        group_ = p.group;
      }
      for (const int threads : arguments_.threads) {
        rows_.push_back(row_of(p, threads));
      }
    }
    print();
  }

 private:
  Row row_of(const ConvProblem& p, int threads) {
    const ConvOperands operands(p);
    std::vector<Contender> contenders{
        timed_each("Neap", neap_conv_run(p, operands, threads), 1)};
    if (p.is_bf16) {
      ConvProblem plain = p;
      plain.is_bf16 = false;
      contenders.push_back(
          timed_each("Neap f32", neap_conv_run(plain, operands, threads), 1));
    }
    if (arguments_.with_peers) {
      if (Run peer = onednn_conv_run(p, threads)) {
        contenders.push_back(timed_each("oneDNN", std::move(peer), 1));
      }
    }
    schedule_.pause =
        std::chrono::milliseconds(threads > 1 && !arguments_.quick ? 40 : 0);
    const std::vector<Timing> timings = measure(contenders, schedule_);
    const auto gflops = [&p](double seconds) {
      return p.flops() / seconds * 1e-9;
    };
    Row row{.name = p.name(),
            .threads = threads,
            .unit = "GFLOP/s",
            .ours = gflops(timings[0].median),
            .peer_name = "nothing",
            .reps = timings[0].reps,
            .better = Better::kMore,
            .figures = {{"at p10", gflops(timings[0].low)}, {"ratio at p10"}}};
    if (p.is_bf16) {
      row.figures.push_back({"Neap f32", gflops(timings[1].median)});
    }
    if (timings.back().name == "oneDNN") {
      row.peer = gflops(timings.back().median);
      row.peer_name = timings.back().name;
      row.figures[1].value = timings.back().low / timings[0].low;
    }
    return row;
  }

  void print() {
    if (!rows_.empty()) {
      report_.table(group_ + ": n, c -> o, kernel, size of the image", rows_,
                    true);
    }
    rows_.clear();
  }

  const Arguments& arguments_;
  Report report_;
  Schedule schedule_{.rounds = 5, .turn_seconds = 0.05};
  std::string group_;
  std::vector<Row> rows_;
};

}  // namespace
}  // namespace neap::bench

int main(int argc, char** argv) {
  const neap::bench::Arguments arguments =
      neap::bench::read_arguments(argc, argv, "Convolutions beside oneDNN's.");
  neap::bench::Section(arguments).run();
}
