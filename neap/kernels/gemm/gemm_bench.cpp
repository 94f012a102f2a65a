// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Speed of the matrix product in GFLOP/s, for squares and for the products of
// a 784-512-256-10 network at batch 128.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "neap/kernels/gemm/gemm.hpp"
#include "neap/threads/pool.hpp"

namespace neap::kernels {
namespace {

// How A and B lie: n as written, t transposed.
enum Layout : std::int64_t { kNn, kNt, kTn };

template <class T>
void BM_Gemm(benchmark::State& state) {
  Gemm<T> x;
  x.m = state.range(0);
  x.n = state.range(1);
  x.k = state.range(2);
  const auto layout = state.range(3);
  threads::Pool pool(static_cast<int>(state.range(4)));
  std::vector<T> a(static_cast<std::size_t>(x.m * x.k), T{1});
  std::vector<T> b(static_cast<std::size_t>(x.k * x.n), T{1});
  std::vector<T> c(static_cast<std::size_t>(x.m * x.n));
  x.a = {a.data(), layout == kTn ? 1 : x.k, layout == kTn ? x.m : 1};
  x.b = {b.data(), layout == kNt ? 1 : x.n, layout == kNt ? x.k : 1};
  x.c = c.data();
  const Bytes bytes = gemm_scratch_bytes(x, pool.threads());
  std::vector<std::byte> scratch(static_cast<std::size_t>(bytes));
  for (auto _ : state) {
    gemm(x, scratch, pool);
    benchmark::ClobberMemory();
  }
  const auto flops = 2.0 * static_cast<double>(x.m * x.n * x.k);
  state.counters["GFLOP/s"] = benchmark::Counter(
      flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["scratch"] = static_cast<double>(bytes);
}

void shapes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"m", "n", "k", "layout", "threads"})->UseRealTime();
  for (const std::int64_t threads : {1, 2}) {
    for (const std::int64_t size : {64, 128, 256, 512, 1024}) {
      bench->Args({size, size, size, kNn, threads});
    }
    bench->Args({512, 512, 512, kNt, threads});
    bench->Args({512, 512, 512, kTn, threads});
    // The forward products, then those of the weights and of the inputs.
    bench->Args({128, 512, 784, kNt, threads});
    bench->Args({128, 256, 512, kNt, threads});
    bench->Args({128, 10, 256, kNt, threads});
    bench->Args({512, 784, 128, kTn, threads});
    bench->Args({256, 512, 128, kTn, threads});
    bench->Args({10, 256, 128, kTn, threads});
    bench->Args({128, 512, 256, kNn, threads});
    bench->Args({128, 256, 10, kNn, threads});
  }
}

BENCHMARK(BM_Gemm<float>)->Apply(shapes);
BENCHMARK(BM_Gemm<double>)->Apply(shapes);

}  // namespace
}  // namespace neap::kernels
