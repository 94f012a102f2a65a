// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The time of making, writing and reading snapshots, by their blocks. The aim
// is 50 ms for a file or a page of 10 000.
#include <benchmark/benchmark.h>

#include <string>

#include "neap/compile/compile.hpp"
#include "neap/files/door.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/ops/ops.hpp"
#include "neap/report/page.hpp"
#include "neap/report/snapshot_file.hpp"
#include "neap/report/snapshot_step.hpp"
#include "neap/tensor/create.hpp"

namespace neap::report {
namespace {

// A step with so many values in its arena: each is read once more at the end.
auto step_of(std::int64_t values) {
  CompileOptions how;
  how.passes.fuse = false;
  how.passes.reorder = false;
  auto step = neap::compile(
      [values](const Tensor& x) {
        memory::Vector<Tensor> all;
        Tensor y = x;
        for (std::int64_t i = 0; i < values / 2; ++i) {
          y = tanh(y);
          all.push_back(y);
        }
        while (!all.empty()) {
          y = y * all.back();
          all.pop_back();
        }
        return y;
      },
      how);
  step.prepare({tensor::Spec{f32, {64}}});
  return step;
}

void making(benchmark::State& state) {
  const auto step = step_of(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(snapshot(step));
  }
  state.counters["blocks"] = static_cast<double>(snapshot(step).blocks.size());
}
BENCHMARK(making)->ArgName("values")->Arg(10'000)->Unit(
    benchmark::kMillisecond);

void writing(benchmark::State& state) {
  const Snapshot s = snapshot(step_of(state.range(0)));
  const files::TemporaryFolder folder;
  const bool is_page = state.range(1) != 0;
  const std::string path = folder.at("out");
  for (auto _ : state) {
    (is_page ? write_page(files::system_door(), path, s)
             : write_snapshot(files::system_door(), path, s))
        .value();
  }
  state.counters["blocks"] = static_cast<double>(s.blocks.size());
  state.counters["bytes"] = static_cast<double>(folder.get("out").size());
}
BENCHMARK(writing)
    ->ArgNames({"values", "page"})
    ->Args({10'000, 0})
    ->Args({10'000, 1})
    ->Unit(benchmark::kMillisecond);

void reading(benchmark::State& state) {
  const files::TemporaryFolder folder;
  const std::string path = folder.at("out");
  write_snapshot(files::system_door(), path, snapshot(step_of(state.range(0))))
      .value();
  for (auto _ : state) {
    benchmark::DoNotOptimize(read_snapshot(files::system_door(), path));
  }
}
BENCHMARK(reading)->ArgName("values")->Arg(10'000)->Unit(
    benchmark::kMillisecond);

}  // namespace
}  // namespace neap::report
