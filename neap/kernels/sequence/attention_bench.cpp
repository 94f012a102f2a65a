// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Causal attention and its gradient, in f32 and in bf16 (without an instruction
// for it, by the reference), beside the same of whole matrices of weights:
// products, causal_softmax and products. Arguments: batch, heads, rows, width,
// threads.
#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/gemm/matmul.hpp"
#include "neap/kernels/norm/causal_softmax.hpp"
#include "neap/kernels/norm/softmax.hpp"
#include "neap/kernels/sequence/attention.hpp"
#include "neap/threads/pool.hpp"

namespace neap::kernels {
namespace {

// A call of a kernel, with its scratch.
void run(const KernelList& list, std::vector<Strided> in,
         std::vector<Strided> out, const void* attrs,
         threads::Executor& executor, std::vector<std::byte>& scratch) {
  Args args{in, out, attrs, {}, &executor};
  const Kernel& kernel = find(list, memory::kHost, f32, args);
  const auto bytes = static_cast<std::size_t>(scratch_bytes(kernel, args));
  if (scratch.size() < bytes) {
    scratch.resize(bytes);
  }
  args.scratch = std::span(scratch).first(bytes);
  kernel.run(args);
}

// The operands as a transformer has them: views of one (B, T, 3, H, D).
class Heads {
 public:
  explicit Heads(const benchmark::State& state)
      : pool(static_cast<int>(state.range(4))),
        batch_(state.range(0)),
        heads_(state.range(1)),
        rows_(state.range(2)),
        width_(state.range(3)),
        qkv_(numbers(3 * batch_ * rows_ * heads_ * width_)),
        dy(numbers(batch_ * rows_ * heads_ * width_)),
        y(dy.size()),
        lse(static_cast<std::size_t>(batch_ * heads_ * rows_)),
        weights(static_cast<std::size_t>(batch_ * heads_ * rows_ * rows_)),
        slopes(weights.size()) {
    for (auto& gradient : gradients) {
      gradient.resize(dy.size());
    }
    attrs.scale = 1.0 / std::sqrt(static_cast<double>(width_));
    attrs.is_causal = true;
    attrs.dq = attrs.dk = attrs.dv = true;
  }

  // Rows, then heads: (B, T, H, D).
  Strided part(std::int64_t which) {
    const std::int64_t row = 3 * heads_ * width_;
    return {reinterpret_cast<std::byte*>(qkv_.data() + which * heads_ * width_),
            f32,
            {batch_, rows_, heads_, width_},
            {rows_ * row, row, width_, 1}};
  }
  Strided dense(std::vector<float>& data) const {
    const Shape shape{batch_, rows_, heads_, width_};
    return {reinterpret_cast<std::byte*>(data.data()), f32, shape,
            base::row_major_strides(shape)};
  }
  Strided of_rows(std::vector<float>& data) const {
    return {reinterpret_cast<std::byte*>(data.data()),
            f32,
            {batch_, heads_, rows_},
            {heads_ * rows_, rows_, 1}};
  }
  Strided square(std::vector<float>& data) const {
    const Shape shape{batch_, heads_, rows_, rows_};
    return {reinterpret_cast<std::byte*>(data.data()), f32, shape,
            base::row_major_strides(shape)};
  }
  // (B, H, T, D), dense.
  Strided by_head(std::vector<float>& data) const {
    const Shape shape{batch_, heads_, rows_, width_};
    return {reinterpret_cast<std::byte*>(data.data()), f32, shape,
            base::row_major_strides(shape)};
  }
  static Strided swapped(Strided x, int a, int b) {
    std::swap(x.shape[a], x.shape[b]);
    std::swap(x.strides[a], x.strides[b]);
    return x;
  }
  // Multiply-adds as if all were seen.
  double flops(int products) const {
    return 2.0 * products * static_cast<double>(batch_ * heads_ * rows_) *
           static_cast<double>(rows_ * width_);
  }

  threads::Pool pool;

 private:
  static std::vector<float> numbers(std::int64_t count) {
    std::vector<float> x(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = std::sin(static_cast<float>(i));
    }
    return x;
  }
  std::int64_t batch_, heads_, rows_, width_;
  std::vector<float> qkv_;

 public:
  std::vector<float> dy, y, lse, weights, slopes;
  std::vector<float> gradients[3];
  AttentionAttrs attrs;
  std::vector<std::byte> scratch;
};

void shapes(benchmark::internal::Benchmark* benchmark) {
  for (const int threads : {1, 2}) {
    benchmark->Args({16, 4, 64, 32, threads})
        ->Args({8, 6, 256, 64, threads})
        ->Args({1, 12, 1024, 64, threads});
  }
  benchmark->UseRealTime();
}

void set_rate(benchmark::State& state, double flops) {
  state.counters["GFLOP/s"] = benchmark::Counter(
      flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

void attention(benchmark::State& state, Precision precision) {
  Heads h(state);
  h.attrs.precision = precision;
  for (auto _ : state) {
    run(attention_kernels, {h.part(0), h.part(1), h.part(2)},
        {h.dense(h.y), h.of_rows(h.lse)}, &h.attrs, h.pool, h.scratch);
  }
  set_rate(state, h.flops(2));
}
BENCHMARK_CAPTURE(attention, f32, Precision::kF32)->Apply(shapes);
BENCHMARK_CAPTURE(attention, bf16, Precision::kBf16)->Apply(shapes);

void attention_of_whole_matrices(benchmark::State& state) {
  Heads h(state);
  const CausalAttrs attrs{h.attrs.scale, 0};
  for (auto _ : state) {
    run(matmul_kernels,
        {Heads::swapped(h.part(0), 1, 2),
         Heads::swapped(Heads::swapped(h.part(1), 1, 2), 2, 3)},
        {h.square(h.weights)}, nullptr, h.pool, h.scratch);
    run(causal_softmax_kernels, {h.square(h.weights)}, {h.square(h.weights)},
        &attrs, h.pool, h.scratch);
    run(matmul_kernels, {h.square(h.weights), Heads::swapped(h.part(2), 1, 2)},
        {h.by_head(h.y)}, nullptr, h.pool, h.scratch);
  }
  set_rate(state, h.flops(2));
}
BENCHMARK(attention_of_whole_matrices)->Apply(shapes);

void attention_grad(benchmark::State& state, Precision precision) {
  Heads h(state);
  h.attrs.precision = precision;
  run(attention_kernels, {h.part(0), h.part(1), h.part(2)},
      {h.dense(h.y), h.of_rows(h.lse)}, &h.attrs, h.pool, h.scratch);
  for (auto _ : state) {
    run(attention_grad_kernels,
        {h.dense(h.dy), h.part(2), h.part(0), h.part(1), h.of_rows(h.lse),
         h.dense(h.y)},
        {h.dense(h.gradients[0]), h.dense(h.gradients[1]),
         h.dense(h.gradients[2])},
        &h.attrs, h.pool, h.scratch);
  }
  set_rate(state, h.flops(5));
}
BENCHMARK_CAPTURE(attention_grad, f32, Precision::kF32)->Apply(shapes);
BENCHMARK_CAPTURE(attention_grad, bf16, Precision::kBf16)->Apply(shapes);

void attention_grad_of_whole_matrices(benchmark::State& state) {
  Heads h(state);
  const AxisAttrs axis{3};
  const Strided q = Heads::swapped(h.part(0), 1, 2);
  const Strided k = Heads::swapped(h.part(1), 1, 2);
  const Strided v = Heads::swapped(h.part(2), 1, 2);
  const Strided dy = Heads::swapped(h.dense(h.dy), 1, 2);
  const Strided weights = h.square(h.weights);
  const Strided slopes = h.square(h.slopes);
  const auto transposed = [](const Strided& x) {
    return Heads::swapped(x, 2, 3);
  };
  for (auto _ : state) {
    run(matmul_kernels, {transposed(weights), dy}, {h.by_head(h.gradients[2])},
        nullptr, h.pool, h.scratch);
    run(matmul_kernels, {dy, transposed(v)}, {slopes}, nullptr, h.pool,
        h.scratch);
    run(softmax_grad_kernels, {slopes, weights}, {slopes}, &axis, h.pool,
        h.scratch);
    run(matmul_kernels, {slopes, k}, {h.by_head(h.gradients[0])}, nullptr,
        h.pool, h.scratch);
    run(matmul_kernels, {transposed(slopes), q}, {h.by_head(h.gradients[1])},
        nullptr, h.pool, h.scratch);
  }
  set_rate(state, h.flops(5));
}
BENCHMARK(attention_grad_of_whole_matrices)->Apply(shapes);

}  // namespace
}  // namespace neap::kernels
