// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Kernels that move elements, in bytes read and written a second, in one
// thread; memcpy of as many bytes beside them. The argument is the elements of
// y: in the L2 cache, in the L3 cache, in memory.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/copy.hpp"
#include "neap/kernels/indexing/gather.hpp"
#include "neap/kernels/indexing/scatter.hpp"
#include "neap/kernels/shape/concat.hpp"
#include "neap/kernels/shape/flip.hpp"

namespace neap::kernels {
namespace {

constexpr std::int64_t kWidth = 256;  // of a row of a table

struct Data {
  explicit Data(std::int64_t count)
      : rows(count / kWidth),
        x(static_cast<std::size_t>(count), 1.0F),
        y(x),
        index(static_cast<std::size_t>(rows)) {
    for (std::size_t i = 0; i < index.size(); ++i) {
      index[i] = static_cast<std::int64_t>(i * 7919 % index.size());
    }
  }
  Strided matrix(std::vector<float>& of, std::int64_t columns) const {
    return {reinterpret_cast<std::byte*>(of.data()),
            f32,
            {static_cast<std::int64_t>(of.size()) / columns, columns},
            {columns, 1}};
  }
  Strided row_index() {
    return {reinterpret_cast<std::byte*>(index.data()),
            i64,
            {rows, kWidth},
            {1, 0}};
  }
  std::int64_t rows;
  std::vector<float> x;
  std::vector<float> y;
  std::vector<std::int64_t> index;
};

void measure(benchmark::State& state, const KernelList& list,
             std::vector<Strided> in, std::vector<Strided> out,
             const void* attrs = nullptr) {
  const Args args{in, out, attrs, {}, &threads::serial_executor()};
  const Kernel& kernel = find(list, memory::kHost, in[0].dtype, args);
  for (auto _ : state) {
    kernel.run(args);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 8);
}

void memcpy_same_bytes(benchmark::State& state) {
  Data d(state.range(0));
  for (auto _ : state) {
    std::memcpy(d.y.data(), d.x.data(), d.x.size() * sizeof(float));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 8);
}

void copy_transposed(benchmark::State& state) {
  Data d(state.range(0));
  const auto side =
      static_cast<std::int64_t>(std::sqrt(static_cast<double>(state.range(0))));
  Strided x = d.matrix(d.x, side);
  std::swap(x.strides[0], x.strides[1]);
  measure(state, copy_kernels, {x}, {d.matrix(d.y, side)});
}

// (B, T, heads, 64) to (B, heads, T, 64).
void copy_heads(benchmark::State& state) {
  Data d(state.range(0));
  const std::int64_t blocks = state.range(0) / (64 * 64 * 4);
  Strided x{reinterpret_cast<std::byte*>(d.x.data()),
            f32,
            {blocks, 4, 64, 64},
            {64 * 64 * 4, 64, 4 * 64, 1}};
  Strided y = x;
  y.data = reinterpret_cast<std::byte*>(d.y.data());
  y.strides = {64 * 64 * 4, 64 * 64, 64, 1};
  measure(state, copy_kernels, {x}, {y});
}

void concat_rows(benchmark::State& state) {
  Data d(state.range(0));
  const AxisAttrs attrs{0};
  Strided half = d.matrix(d.x, kWidth);
  half.shape[0] /= 2;
  measure(state, concat_kernels, {half, half}, {d.matrix(d.y, kWidth)}, &attrs);
}

void concat_columns(benchmark::State& state) {
  Data d(state.range(0));
  const AxisAttrs attrs{1};
  Strided half = d.matrix(d.x, kWidth / 2);
  half.shape[0] /= 2;
  measure(state, concat_kernels, {half, half}, {d.matrix(d.y, kWidth)}, &attrs);
}

void flip_columns(benchmark::State& state) {
  Data d(state.range(0));
  const ReduceAttrs attrs{0b10};
  measure(state, flip_kernels, {d.matrix(d.x, kWidth)}, {d.matrix(d.y, kWidth)},
          &attrs);
}

void select_rows(benchmark::State& state) {
  Data d(state.range(0));
  const AxisAttrs attrs{0};
  measure(state, gather_kernels, {d.matrix(d.x, kWidth), d.row_index()},
          {d.matrix(d.y, kWidth)}, &attrs);
}

// y is read, too.
void add_rows(benchmark::State& state) {
  Data d(state.range(0));
  const AxisAttrs attrs{0};
  const Strided y = d.matrix(d.y, kWidth);
  measure(state, scatter_add_kernels, {y, d.row_index(), d.matrix(d.x, kWidth)},
          {y}, &attrs);
}

BENCHMARK(memcpy_same_bytes)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 24);
BENCHMARK(copy_transposed)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 24);
BENCHMARK(copy_heads)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 24);
BENCHMARK(concat_rows)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 24);
BENCHMARK(concat_columns)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 24);
BENCHMARK(flip_columns)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 24);
BENCHMARK(select_rows)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 24);
BENCHMARK(add_rows)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 24);

}  // namespace
}  // namespace neap::kernels
