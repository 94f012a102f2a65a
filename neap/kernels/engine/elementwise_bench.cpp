// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Time per element of the kernels beside the matrix product, in one thread.
#include <benchmark/benchmark.h>

#include <vector>

#include "neap/kernels/activation/activation_attrs.hpp"
#include "neap/kernels/activation/rectifiers.hpp"
#include "neap/kernels/activation/relu_bits.hpp"
#include "neap/kernels/elementwise/arithmetic.hpp"
#include "neap/kernels/elementwise/dropout.hpp"
#include "neap/kernels/elementwise/exponential.hpp"
#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/bits.hpp"
#include "neap/kernels/optim/adam.hpp"
#include "neap/kernels/reduction/sum.hpp"
#include "neap/kernels/reduction/sum_of_squares.hpp"

namespace neap::kernels {
namespace {

constexpr std::int64_t kRows = 128;
constexpr std::int64_t kColumns = 512;

Strided matrix(std::vector<float>& data, const Shape& strides) {
  return {reinterpret_cast<std::byte*>(data.data()),
          f32,
          {kRows, kColumns},
          strides};
}

struct Buffers {
  Buffers() : data(4, std::vector<float>(kRows * kColumns, 0.5F)) {}
  Strided dense(std::size_t k) { return matrix(data[k], {kColumns, 1}); }
  Strided transposed(std::size_t k) { return matrix(data[k], {1, kRows}); }
  Strided row(std::size_t k) { return matrix(data[k], {0, 1}); }
  Strided bits(std::size_t k) {
    return {reinterpret_cast<std::byte*>(data[k].data()),
            u8,
            {bit_bytes(kRows * kColumns)},
            {1}};
  }
  std::vector<std::vector<float>> data;
};

void measure(benchmark::State& state, const KernelList& list,
             std::vector<Strided> in, std::vector<Strided> out,
             const void* attrs = nullptr) {
  const DType key = in.empty() ? out[0].dtype : in[0].dtype;
  const Args args{in, out, attrs, {}, &threads::serial_executor()};
  const Kernel& kernel = find(list, memory::kHost, key, args);
  for (auto _ : state) {
    kernel.run(args);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kRows * kColumns);
}

void relu_dense(benchmark::State& state) {
  Buffers b;
  measure(state, relu_kernels, {b.dense(0)}, {b.dense(1)});
}
BENCHMARK(relu_dense);

void relu_keeping_bits(benchmark::State& state) {
  Buffers b;
  const SlopeAttrs attrs;
  measure(state, relu_bits_kernels, {b.dense(0)}, {b.dense(1), b.bits(2)},
          &attrs);
}
BENCHMARK(relu_keeping_bits);

void relu_grad_from_bits(benchmark::State& state) {
  Buffers b;
  const SlopeAttrs attrs;
  measure(state, relu_grad_kernels, {b.dense(0), b.bits(2)}, {b.dense(1)},
          &attrs);
}
BENCHMARK(relu_grad_from_bits);

void relu_transposed(benchmark::State& state) {
  Buffers b;
  measure(state, relu_kernels, {b.transposed(0)}, {b.dense(1)});
}
BENCHMARK(relu_transposed);

void add_bias(benchmark::State& state) {
  Buffers b;
  measure(state, add_kernels, {b.dense(0), b.row(1)}, {b.dense(2)});
}
BENCHMARK(add_bias);

void exp_dense(benchmark::State& state) {
  Buffers b;
  measure(state, exp_kernels, {b.dense(0)}, {b.dense(1)});
}
BENCHMARK(exp_dense);

void dropout_dense(benchmark::State& state) {
  Buffers b;
  const DropoutAttrs attrs{0.5, {1, 2}};
  measure(state, dropout_kernels, {b.dense(0)}, {b.dense(1)}, &attrs);
}
BENCHMARK(dropout_dense);

void adam_step(benchmark::State& state) {
  Buffers b;
  const AdamAttrs attrs{.lr = 1e-3};
  measure(state, adam_kernels, {b.dense(0)},
          {b.dense(1), b.dense(2), b.dense(3)}, &attrs);
}
BENCHMARK(adam_step);

void sum_columns(benchmark::State& state) {
  Buffers b;
  Strided y = b.dense(1);
  y.shape[0] = 1;
  const ReduceAttrs attrs{0b01};
  measure(state, sum_kernels, {b.dense(0)}, {y}, &attrs);
}
BENCHMARK(sum_columns);

void sum_rows(benchmark::State& state) {
  Buffers b;
  Strided y = b.dense(1);
  y.shape[1] = 1;
  const ReduceAttrs attrs{0b10};
  measure(state, sum_kernels, {b.dense(0)}, {y}, &attrs);
}
BENCHMARK(sum_rows);

void squares(benchmark::State& state) {
  Buffers b;
  Strided y = b.dense(1);
  y.dtype = f64;
  y.shape = {};
  y.strides = {};
  measure(state, sum_of_squares_kernels, {b.dense(0)}, {y});
}
BENCHMARK(squares);

}  // namespace
}  // namespace neap::kernels
