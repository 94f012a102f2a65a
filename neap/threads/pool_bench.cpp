// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The cost of an empty parallel region.
#include "neap/threads/pool.hpp"

#include <benchmark/benchmark.h>

#include <atomic>
#include <thread>

namespace neap::threads {
namespace {

void run_empty_regions(benchmark::State& state) {
  Pool pool(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    parallel_parts(pool, pool.threads(), [](int) noexcept {});
  }
}

void empty_region(benchmark::State& state) {
  run_empty_regions(state);
}
BENCHMARK(empty_region)->Arg(1)->Arg(2)->UseRealTime();

void empty_region_beside_a_busy_core(benchmark::State& state) {
  std::atomic<bool> stop{false};
  std::thread neighbour([&] {
    while (!stop.load(std::memory_order_relaxed)) {
    }
  });
  run_empty_regions(state);
  stop = true;
  neighbour.join();
}
BENCHMARK(empty_region_beside_a_busy_core)->Arg(1)->Arg(2)->UseRealTime();

}  // namespace
}  // namespace neap::threads
