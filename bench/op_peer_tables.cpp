// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "op_peer_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "neap/neap.hpp"
#include "op_peers.hpp"
#include "support/measure.hpp"
#include "support/worker.hpp"
#include "torch_workers.hpp"

namespace neap::bench {
namespace {

struct Size {
  const char* name;
  std::int64_t rows;
  std::int64_t columns;
  Schedule schedule;
};

// The first is 192 KiB an operand. Many short turns: most of them then fall
// between two interruptions.
constexpr std::array kSizes{
    Size{"L2", 48, 1024, {.rounds = 21, .turn_seconds = 0.001}},
    Size{"DRAM", 8192, 1024, {.rounds = 5, .turn_seconds = 0.01}}};

// One row of a table.
struct Case {
  const PeerOp& op;
  const Size& size;
  OperandLayout layout;
  std::int64_t axis;
  bool is_backward;

  std::string name() const {
    std::string text = op.name;
    if (op.has_axis) {
      text += fmt::format(" axis {}", axis);
    }
    text += fmt::format(", {}", size.name);
    if (layout == OperandLayout::kTransposed) {
      text += ", transposed";
    }
    return is_backward ? text + ", backward" : text;
  }
  std::string command() const {
    return fmt::format(
        "op {} {} {} {} {} {}", size.rows, size.columns,
        layout == OperandLayout::kTransposed ? "transposed" : "contiguous",
        axis, is_backward ? "backward" : "forward", op.torch);
  }
};

std::vector<Case> cases_of(const PeerOp& op, const Arguments& arguments) {
  std::vector<Case> cases;
  for (const Size& size : kSizes) {
    for (const auto layout :
         {OperandLayout::kContiguous, OperandLayout::kTransposed}) {
      for (std::int64_t axis = 0; axis < 2; ++axis) {
        for (const bool is_backward : {false, true}) {
          const bool is_usual =
              layout == OperandLayout::kContiguous && !is_backward;
          const bool exists =
              (layout == OperandLayout::kContiguous || op.has_layouts) &&
              (axis == 0 || op.has_axis) && (!is_backward || op.has_gradient);
          const Case row{op, size, layout, axis, is_backward};
          if (exists && (is_usual || arguments.all) &&
              arguments.selects(row.name())) {
            cases.push_back(row);
          }
        }
      }
    }
  }
  return cases;
}

// Our side of a row.
Contender ours(const Case& row) {
  PeerOperands operands(row.size.rows, row.size.columns, row.layout, row.axis);
  const auto run = row.op.run;
  if (!row.is_backward) {
    return timed("Neap", [operands, run]() mutable {
      const NoGrad no_grad;
      run(operands);
    });
  }
  operands.differentiate_x();
  const Tensor y = run(operands);
  const Tensor cotangent = ones_like(y) * 0.75;
  return timed("Neap", [x = operands.x(), y, cotangent] {
    grad(y, {x}, {.cotangents = {&cotangent, 1}, .retain_graph = true});
  });
}

std::optional<Row> measured(const Case& row, int threads, Worker& worker,
                            Report& report) {
  try {
    std::array contenders{ours(row), Contender{}};
    worker.ask(row.command());
    contenders[1] = contender_of(worker.greeting(), worker, "run");
    const auto timings = measure(contenders, row.size.schedule);
    return Row{.name = row.name(),
               .threads = threads,
               .unit = "us",
               .ours = timings[0].median * 1e6,
               .peer = timings[1].median * 1e6,
               .peer_name = worker.greeting(),
               .reps = timings[0].reps,
               .figures = {{"low", timings[0].low * 1e6},
                           {"peer low", timings[1].low * 1e6}}};
  } catch (const WorkerError& error) {
    report.note(fmt::format("{}: {}", row.name(), error.what()));
  } catch (const Error& error) {
    report.note(fmt::format("{}: Neap: {}", row.name(), error.what()));
  }
  return std::nullopt;
}

void table_of(int threads, const Arguments& arguments, Report& report) {
  threads::set_default_threads(threads);
  const std::string count = std::to_string(threads);
  const std::string newest = newest_python();
  Worker worker({newest.empty() ? "/usr/bin/python3" : newest,
                 NEAP_BENCH_FOLDER "/peers/ops_torch.py", count},
                {{"OMP_NUM_THREADS", count}, {"MKL_NUM_THREADS", count}});
  std::vector<Row> rows;
  for (const PeerOp& op : peer_ops()) {
    for (const Case& row : cases_of(op, arguments)) {
      if (auto result = measured(row, threads, worker, report)) {
        rows.push_back(std::move(*result));
      }
    }
  }
  std::ranges::sort(rows, {}, &Row::ratio);
  const auto behind = std::ranges::count_if(
      rows, [](const Row& row) { return row.ratio() < 1.0; });
  report.table(fmt::format("beside {}, t{}, the slowest first; {} of {} rows "
                           "are slower than it",
                           worker.greeting(), threads, behind, rows.size()),
               rows, true);
}

}  // namespace

void compare_with_torch(const Arguments& arguments, Report& report) {
  const std::vector<int> counts =
      arguments.all ? arguments.threads
                    : std::vector<int>{arguments.threads.front()};
  for (const int threads : counts) {
    try {
      table_of(threads, arguments, report);
    } catch (const WorkerError& error) {
      report.note(fmt::format("t{}: no PyTorch: {}", threads, error.what()));
    }
  }
}

}  // namespace neap::bench
