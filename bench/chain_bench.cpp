// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The cost of an operation beside its arithmetic: 1000 of them in a chain on 4
// floats, y = y a and y = y + b in turns, beside PyTorch's C++ interface; and
// what the parts of that cost are, each measured by itself.
#include <fmt/format.h>

#include <array>
#include <memory>
#include <utility>

#include "neap/compile/compile.hpp"
#include "neap/kernels/elementwise/arithmetic.hpp"
#include "neap/neap.hpp"
#include "neap/tensor/strided.hpp"
#include "support/measure.hpp"
#include "support/report.hpp"
#include "support/worker.hpp"

namespace neap::bench {
namespace {

constexpr int kOps = 1000;

struct Chain {
  Tensor x = requires_grad_(full({4}, 0.5));
  Tensor a = full({4}, 0.999);
  Tensor b = full({4}, 0.001);
  Tensor cotangent = ones({4});

  Tensor forward() const {
    Tensor y = x;
    for (int i = 0; i < kOps; i += 2) {
      y = y * a;
      y = y + b;
    }
    return y;
  }
  /// Traced once and run as a plan. LIFETIME: as this.
  auto compiled(bool is_fused) const {
    CompileOptions options;
    options.passes.fuse = is_fused;
    return neap::compile([this] { return forward(); }, options);
  }
  /// The gradient is a result: else all would be dead code.
  auto compiled_training(bool is_fused) const {
    CompileOptions options;
    options.passes.fuse = is_fused;
    return neap::compile(
        [this] {
          Tensor y = forward();
          neap::backward(y, {.cotangent = cotangent});
          const Tensor grad = x.grad();
          zero_grad(std::span(&x, 1));
          return std::pair(y.detach(), grad);
        },
        options);
  }
  void plain() const {
    const NoGrad no_grad;
    forward();
  }
  void recorded() const { forward(); }
  void backward() const {
    neap::backward(forward(), {.cotangent = cotangent});
    zero_grad(std::span(&x, 1));
  }
};

// --- the parts --------------------------------------------------------------

// Each does its thing once.
struct Parts {
  Chain chain{};
  memory::Tag tag{
      .category = memory::Category::kActivations, .owner = {}, .site = {}};
  memory::Block neighbour = memory::domain().allocate(16, tag);
  std::array<float, 12> numbers{};
  std::array<kernels::Strided, 3> views = view_all();
  kernels::Args arguments{.in = std::span(views).first(2),
                          .out = std::span(views).last(1),
                          .attrs = nullptr,
                          .scratch = {},
                          .executor = &threads::default_pool()};

  Parts() = default;
  ~Parts() { memory::domain().release(neighbour); }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  std::array<kernels::Strided, 3> view_all() {
    const auto view = [this](std::size_t k) {
      return kernels::Strided{
          reinterpret_cast<std::byte*>(&numbers[4 * k]), f32, {4}, {1}};
    };
    return {view(0), view(1), view(2)};
  }

  void copy_handle() const {
    const Tensor copy = chain.x;  // NOLINT: the copy is what is measured
    keep(copy);
  }
  void ask_the_door() const {
    memory::Domain& domain = memory::domain();
    const memory::Block block = domain.allocate(16, tag);
    keep(block);
    domain.release(block);
  }
  void make_tensor() const { keep(empty({4})); }
  void run_kernel() const {
    kernels::find(kernels::mul_kernels, memory::kHost, f32, arguments)
        .run(arguments);
  }
  void dispatch() const {
    const NoGrad no_grad;
    keep(chain.a * chain.b);
  }
  void record() const { keep(chain.x * chain.b); }
};

std::vector<Contender> part_contenders(const Parts& parts) {
  return {timed("a handle, copied and dropped", [&] { parts.copy_handle(); }),
          timed("16 B, allocated and released", [&] { parts.ask_the_door(); }),
          timed("a tensor, made and dropped", [&] { parts.make_tensor(); }),
          timed("the kernel, found and run", [&] { parts.run_kernel(); }),
          timed("an op without a tape", [&] { parts.dispatch(); }),
          timed("an op with a tape", [&] { parts.record(); })};
}

// --- the tables -------------------------------------------------------------

// nullptr, and a note, where there is none.
std::unique_ptr<Worker> start_peer(Report& report) {
  try {
    return std::make_unique<Worker>(
        std::vector<std::string>{NEAP_BENCH_CHAIN_TORCH},
        Environment{{"OMP_NUM_THREADS", "1"}});
  } catch (const WorkerError& error) {
    report.note(fmt::format("no PyTorch: {}", error.what()));
    return nullptr;
  }
}

struct Way {
  const char* name;
  void (Chain::*run)() const;
  const char* command;  // of the worker
};

constexpr std::array kWays{
    Way{"forward, no tape", &Chain::plain, "plain"},
    Way{"forward, with a tape", &Chain::recorded, "recorded"},
    Way{"forward and backward", &Chain::backward, "backward"}};

std::vector<Row> chain_rows(const Chain& chain, Worker* peer,
                            const Schedule& schedule) {
  std::vector<Contender> contenders;
  for (const Way& way : kWays) {
    contenders.push_back(timed_each(way.name, [&] { (chain.*way.run)(); }));
    if (peer != nullptr) {
      contenders.push_back(contender_of(way.name, *peer, way.command));
    }
  }
  const std::vector<Timing> timings = measure(contenders, schedule);
  const std::size_t step = peer != nullptr ? 2 : 1;
  std::vector<Row> rows;
  for (std::size_t i = 0; i < timings.size(); i += step) {
    Row row{.name = timings[i].name,
            .unit = "ns",
            .ours = timings[i].median * 1e9 / kOps,
            .peer_name = "nothing",
            .reps = timings[i].reps};
    if (peer != nullptr) {
      row.peer = timings[i + 1].median * 1e9 / kOps;
      row.peer_name = peer->greeting();
    }
    rows.push_back(row);
  }
  return rows;
}

Row part_row(const std::string& name, double nanoseconds, int reps) {
  return {.name = name,
          .unit = "ns",
          .ours = nanoseconds,
          .peer_name = "",
          .reps = reps};
}

std::vector<Row> part_rows(const std::vector<Row>& chain,
                           const Schedule& schedule) {
  const Parts parts;
  const std::vector<Contender> contenders = part_contenders(parts);
  std::vector<Row> rows;
  for (const Timing& timing : measure(contenders, schedule)) {
    rows.push_back(part_row(timing.name, timing.median * 1e9, timing.reps));
  }
  rows.push_back(part_row("the node: with less without a tape, in the chain",
                          chain[1].ours - chain[0].ours, chain[1].reps));
  rows.push_back(part_row("the step of backward, in the chain",
                          chain[2].ours - chain[1].ours, chain[2].reps));
  return rows;
}

std::vector<Row> compiled_rows(const Chain& chain, const Schedule& schedule) {
  auto one_by_one = chain.compiled(false);
  auto fused = chain.compiled(true);
  const Chain trained;
  auto both_one_by_one = trained.compiled_training(false);
  auto both_fused = trained.compiled_training(true);
  const std::vector<Contender> contenders = {
      timed_each("forward, one kernel after the other",
                 [&] {
                   const NoGrad no_grad;
                   one_by_one();
                 }),
      timed_each("forward, fused",
                 [&] {
                   const NoGrad no_grad;
                   fused();
                 }),
      timed_each("forward and backward, one kernel after the other",
                 [&] { both_one_by_one(); }),
      timed_each("forward and backward, fused", [&] { both_fused(); })};
  std::vector<Row> rows;
  for (const Timing& timing : measure(contenders, schedule)) {
    rows.push_back(
        part_row(timing.name, timing.median * 1e9 / kOps, timing.reps));
  }
  return rows;
}

void run(const Arguments& arguments) {
  Report report("chain", arguments);
  threads::set_default_threads(1);
  const Schedule schedule = arguments.quick
                                ? Schedule{.rounds = 1, .turn_seconds = 1e-4}
                                : Schedule{.rounds = 15, .turn_seconds = 0.03};
  std::unique_ptr<Worker> peer;
  if (arguments.with_peers) {
    peer = start_peer(report);
  }
  const Chain chain;
  const std::vector<Row> rows = chain_rows(chain, peer.get(), schedule);
  report.table("1000 operations on 4 floats in a chain: ns an operation", rows);
  report.table("The same, compiled: ns an operation",
               compiled_rows(chain, schedule));
  report.table("Parts of it, each by itself: ns", part_rows(rows, schedule));
}

}  // namespace
}  // namespace neap::bench

int main(int argc, char** argv) {
  neap::bench::run(neap::bench::read_arguments(
      argc, argv, "What an operation costs beside its arithmetic."));
}
