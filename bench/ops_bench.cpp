// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Every primitive op, large (in DRAM) and small (in one core's L2), against the
// larger of two limits: moving the bytes that its facts say, by plain loops of
// as many streams over as many bytes, in turns with it; or doing its flops at
// the processor's peak.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "neap/neap.hpp"
#include "neap/ops/op_list.hpp"
#include "op_calls.hpp"
#include "op_peer_tables.hpp"
#include "support/limits.hpp"
#include "support/machine.hpp"
#include "support/measure.hpp"
#include "support/report.hpp"

namespace neap::bench {
namespace {

constexpr double kAim = 0.85;

struct Size {
  std::string name;
  Extents extents;
  bool is_small;  // one thread alone has the L2 it is measured against
  Schedule schedule;
};

constexpr Schedule kQuick{.rounds = 1, .turn_seconds = 1e-5};

// Three operands of the small size take just over half of 1 MiB. Many short
// turns: most of them then fall between two interruptions.
Size small_size(bool is_quick) {
  return {"small",
          {.rows = 48, .columns = 1024, .side = 128},
          true,
          is_quick ? kQuick : Schedule{.rounds = 41, .turn_seconds = 0.001}};
}

Size large_size(bool is_quick) {
  if (is_quick) {
    return {"large", {.rows = 64, .columns = 64, .side = 16}, false, kQuick};
  }
  return {"large",
          {.rows = 16384, .columns = 1024, .side = 1024},
          false,
          {.rounds = 9, .turn_seconds = 0.01}};
}

// Where an op is called in a way that its kernel cannot bear, its name is all
// that one wants to know.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::array<char, 128> current_op{};

void name_and_die(int number) {
  constexpr std::string_view kText = "\nops_bench: this op needs an example: ";
  (void)!::write(STDERR_FILENO, kText.data(), kText.size());
  (void)!::write(STDERR_FILENO, current_op.data(),
                 std::string_view(current_op.data()).size());
  (void)!::write(STDERR_FILENO, "\n", 1);
  ::signal(number, SIG_DFL);
  ::raise(number);
}

bool moves_nothing(const graph::Op& op) {
  return op.view != nullptr || op.transfer;
}

class Section {
 public:
  explicit Section(const Arguments& arguments)
      : arguments_(arguments), report_("ops", arguments) {}

  void run() {
    ::signal(SIGSEGV, name_and_die);
    ::signal(SIGFPE, name_and_die);
    for (const int threads : arguments_.threads) {
      run_at(threads, large_size(arguments_.quick));
    }
    if (std::ranges::count(arguments_.threads, 1) > 0) {
      run_at(1, small_size(arguments_.quick));
    }
    note_names("no bytes to move: ", views_);
    note_names("no sample call: ", without_sample_);
    if (arguments_.with_peers) {
      compare_with_torch(arguments_, report_);
    }
  }

 private:
  void run_at(int threads, const Size& size) {
    threads::set_default_threads(threads);
    peak_ = fma_peak(threads::default_pool(), f32);
    std::vector<Row> rows;
    views_.clear();
    without_sample_.clear();
    for (const graph::Op* op : ops::all_ops()) {
      if (arguments_.selects(std::string(op->name))) {
        add_op(*op, size, threads, rows);
      }
    }
    print(rows, threads, size);
  }

  void add_op(const graph::Op& op, const Size& size, int threads,
              std::vector<Row>& rows) {
    const std::string name(op.name);
    if (moves_nothing(op)) {
      views_.push_back(name);
      return;
    }
    const std::size_t length = std::min(name.size(), current_op.size() - 1);
    std::copy_n(name.begin(), length, current_op.begin());
    current_op[length] = '\0';
    try {
      const std::optional<OpCalled> call = sample_call(op, size.extents);
      if (call) {
        rows.push_back(measure_call(*call, size, threads));
      } else {
        without_sample_.push_back(name);
      }
    } catch (const Error& error) {
      without_sample_.push_back(fmt::format("{} ({})", name, error.what()));
    }
  }

  Row measure_call(const OpCalled& call, const Size& size, int threads) {
    const graph::Cost& cost = call.cost();
    const Bytes bytes = cost.read + cost.written;
    Streams streams(std::min(call.reads(), 3), call.writes(), bytes);
    std::vector<Contender> contenders{timed("op", [&] { call.run(); })};
    for (Contender& loop : streams.contenders(threads::default_pool())) {
      contenders.push_back(std::move(loop));
    }
    const std::vector<Timing> timings = measure(contenders, size.schedule);
    const Timing& loop = fastest(std::span(timings).subspan(1));
    const double moving = loop.median * static_cast<double>(bytes) /
                          static_cast<double>(streams.bytes());
    const double computing = static_cast<double>(cost.flops) / peak_;
    const bool is_bound_by_flops = computing > moving;
    const double work =
        static_cast<double>(is_bound_by_flops ? cost.flops : bytes) * 1e-9;
    return {.name = fmt::format("{} {}", call.op().name, size.name),
            .threads = threads,
            .unit = is_bound_by_flops ? "GFLOP/s" : "GB/s",
            .ours = work / timings[0].median,
            .peer = work / std::max(moving, computing),
            .peer_name = is_bound_by_flops
                             ? "peak of multiply-add"
                             : fmt::format("{}, {} read, {} written", loop.name,
                                           call.reads(), call.writes()),
            .reps = timings[0].reps,
            .better = Better::kMore,
            .figures = {{"us", timings[0].median * 1e6}}};
  }

  void print(std::vector<Row>& rows, int threads, const Size& size) {
    std::ranges::sort(rows, {}, &Row::ratio);
    const auto good = std::ranges::count_if(
        rows, [](const Row& row) { return row.ratio() >= kAim; });
    const std::string where =
        size.is_small ? fmt::format("in {} KiB of L2", l2_bytes() / kKiB)
                      : "in DRAM";
    report_.table(
        fmt::format("{} x {} elements ({}), t{}, the slowest first; {} of {} "
                    "ops reach {:.0f} % of their limit",
                    size.extents.rows, size.extents.columns, where, threads,
                    good, rows.size(), kAim * 100),
        rows, true);
  }

  void note_names(const std::string& what,
                  const std::vector<std::string>& names) {
    if (!names.empty()) {
      report_.note(what + fmt::format("{}", fmt::join(names, ", ")));
    }
  }

  const Arguments& arguments_;
  Report report_;
  double peak_ = 0;
  std::vector<std::string> views_;
  std::vector<std::string> without_sample_;
};

}  // namespace
}  // namespace neap::bench

int main(int argc, char** argv) {
  const neap::bench::Arguments arguments = neap::bench::read_arguments(
      argc, argv, "Every primitive op against memory's or flops' limit.");
  neap::bench::Section(arguments).run();
}
