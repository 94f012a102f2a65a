// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The norms beside a copy of the same bytes, in one thread: rows of a
// transformer's width, of a size that L2, L3 or only memory holds. Bytes are
// those of the operands, each moved once.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <vector>

#include "neap/kernels/norm/layer_norm.hpp"
#include "neap/kernels/norm/layer_norm_grad.hpp"

namespace neap::kernels {
namespace {

// Bytes of one array (rows, width).
constexpr std::int64_t kL2 = 128 << 10;
constexpr std::int64_t kL3 = 4 << 20;
constexpr std::int64_t kMemory = 128 << 20;

// Arrays begin where those of tensors do.
struct alignas(64) Line {
  float values[16];
};
using Lines = std::vector<Line>;

Lines lines_for(std::int64_t elements) {
  Line line;
  std::fill(std::begin(line.values), std::end(line.values), 0.5F);
  return Lines(static_cast<std::size_t>(elements / 16), line);
}

struct Buffers {
  Buffers(std::int64_t bytes, std::int64_t columns)
      : rows(bytes / columns / 4),
        width(columns),
        arrays(3, lines_for(rows * width)),
        vectors(4, lines_for(width)),
        stats(static_cast<std::size_t>(rows * 2), 1.0) {}

  Strided array(std::size_t k) {
    return {reinterpret_cast<std::byte*>(arrays[k].data()),
            f32,
            {rows, width},
            {width, 1}};
  }
  Strided vector(std::size_t k) {
    return {reinterpret_cast<std::byte*>(vectors[k].data()), f32, {width}, {1}};
  }
  Strided statistics(std::int64_t each) {
    return {reinterpret_cast<std::byte*>(stats.data()),
            f64,
            {rows, each},
            {each, 1}};
  }

  std::int64_t rows;
  std::int64_t width;
  std::vector<Lines> arrays;
  std::vector<Lines> vectors;
  std::vector<double> stats;
};

void measure(benchmark::State& state, const KernelList& list,
             const std::vector<Strided>& in, const std::vector<Strided>& out,
             const void* attrs, int arrays) {
  const Args args{in, out, attrs, {}, &threads::serial_executor()};
  const Kernel& kernel = find(list, memory::kHost, f32, args);
  for (auto _ : state) {
    kernel.run(args);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * arrays * 4 *
                          in[0].shape.element_count());
}

void copy(benchmark::State& state) {
  Buffers b(state.range(0), state.range(1));
  for (auto _ : state) {
    std::memcpy(b.arrays[1].data(), b.arrays[0].data(),
                static_cast<std::size_t>(b.rows * b.width) * 4);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * 2 * 4 * b.rows * b.width);
}

void layer_norm(benchmark::State& state) {
  Buffers b(state.range(0), state.range(1));
  const RowNormAttrs attrs{1e-5};
  measure(state, layer_norm_kernels, {b.array(0), b.vector(0), b.vector(1)},
          {b.array(1), b.statistics(2)}, &attrs, 2);
}

void layer_norm_grad(benchmark::State& state) {
  Buffers b(state.range(0), state.range(1));
  const NormGradAttrs attrs{.dx = true, .dw = true, .db = true};
  measure(state, layer_norm_grad_kernels,
          {b.array(0), b.array(1), b.statistics(2), b.vector(0)},
          {b.array(2), b.vector(1), b.vector(2)}, &attrs, 3);
}

void rms_norm(benchmark::State& state) {
  Buffers b(state.range(0), state.range(1));
  const RowNormAttrs attrs{1e-6};
  measure(state, rms_norm_kernels, {b.array(0), b.vector(0)},
          {b.array(1), b.statistics(1)}, &attrs, 2);
}

void rms_norm_grad(benchmark::State& state) {
  Buffers b(state.range(0), state.range(1));
  const NormGradAttrs attrs{.dx = true, .dw = true};
  measure(state, rms_norm_grad_kernels,
          {b.array(0), b.array(1), b.statistics(1), b.vector(0)},
          {b.array(2), b.vector(1)}, &attrs, 3);
}

void sizes(benchmark::internal::Benchmark* bench) {
  for (const std::int64_t bytes : {kL2, kL3, kMemory}) {
    for (const std::int64_t width : {384, 4096}) {
      bench->Args({bytes, width});
    }
  }
  bench->ArgNames({"bytes", "width"});
}

BENCHMARK(copy)->Apply(sizes);
BENCHMARK(layer_norm)->Apply(sizes);
BENCHMARK(layer_norm_grad)->Apply(sizes);
BENCHMARK(rms_norm)->Apply(sizes);
BENCHMARK(rms_norm_grad)->Apply(sizes);

}  // namespace
}  // namespace neap::kernels
