// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// log_softmax, softmax, cross_entropy and their derivatives beside a plain copy
// of as many bytes, in one thread: many short rows, and a few long ones.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/loss/cross_entropy.hpp"
#include "neap/kernels/loss/loss_attrs.hpp"
#include "neap/kernels/norm/softmax.hpp"

namespace neap::kernels {
namespace {

// Matrices (rows, columns) of the state's two arguments.
class Matrices {
 public:
  explicit Matrices(const benchmark::State& state)
      : shape_{state.range(0), state.range(1)},
        data_(3, std::vector<float>(
                     static_cast<std::size_t>(shape_.element_count()))) {
    for (std::size_t i = 0; i < data_[0].size(); ++i) {
      data_[0][i] = std::sin(static_cast<float>(i));
      data_[1][i] = -2.0F + data_[0][i];
    }
  }
  Strided operator[](std::size_t k) { return view(data_[k], shape_); }
  Strided column(std::vector<float>& data) const {
    return view(data, {shape_[0]});
  }
  std::int64_t rows() const { return shape_[0]; }
  std::int64_t count() const { return shape_.element_count(); }

 private:
  static Strided view(std::vector<float>& data, const Shape& shape) {
    return {reinterpret_cast<std::byte*>(data.data()), f32, shape,
            base::row_major_strides(shape)};
  }
  Shape shape_;
  std::vector<std::vector<float>> data_;
};

// `moved`: matrices read and written, for the rate in bytes.
void measure(benchmark::State& state, const KernelList& list,
             const Matrices& matrices, std::vector<Strided> in,
             std::vector<Strided> out, const void* attrs, int moved) {
  std::vector<std::byte> scratch;
  Args args{in, out, attrs, {}, &threads::serial_executor()};
  const Kernel& kernel = find(list, memory::kHost, f32, args);
  scratch.resize(static_cast<std::size_t>(scratch_bytes(kernel, args)));
  args.scratch = scratch;
  for (auto _ : state) {
    kernel.run(args);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * matrices.count());
  state.SetBytesProcessed(state.iterations() * matrices.count() * 4 * moved);
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Args({4096, 10})
      ->Args({512, 10})
      ->Args({1024, 100})
      ->Args({256, 1000})
      ->Args({8, 32768});
}

void copy_of_two(benchmark::State& state) {
  Matrices m(state);
  const auto bytes = static_cast<std::size_t>(m.count()) * 4;
  for (auto _ : state) {
    std::memcpy(m[1].data, m[0].data, bytes);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * m.count());
  state.SetBytesProcessed(state.iterations() * m.count() * 8);
}
BENCHMARK(copy_of_two)->Apply(sizes);

void log_softmax_rows(benchmark::State& state) {
  Matrices m(state);
  const AxisAttrs attrs{1};
  measure(state, log_softmax_kernels, m, {m[0]}, {m[1]}, &attrs, 2);
}
BENCHMARK(log_softmax_rows)->Apply(sizes);

void log_softmax_grad_rows(benchmark::State& state) {
  Matrices m(state);
  const AxisAttrs attrs{1};
  measure(state, log_softmax_grad_kernels, m, {m[0], m[1]}, {m[2]}, &attrs, 3);
}
BENCHMARK(log_softmax_grad_rows)->Apply(sizes);

void softmax_rows(benchmark::State& state) {
  Matrices m(state);
  const AxisAttrs attrs{1};
  measure(state, softmax_kernels, m, {m[0]}, {m[1]}, &attrs, 2);
}
BENCHMARK(softmax_rows)->Apply(sizes);

void softmax_grad_rows(benchmark::State& state) {
  Matrices m(state);
  const AxisAttrs attrs{1};
  measure(state, softmax_grad_kernels, m, {m[0], m[1]}, {m[2]}, &attrs, 3);
}
BENCHMARK(softmax_grad_rows)->Apply(sizes);

// Along the first axis: rows of a column's elements, next to each other.
void log_softmax_columns(benchmark::State& state) {
  Matrices m(state);
  const AxisAttrs attrs{0};
  measure(state, log_softmax_kernels, m, {m[0]}, {m[1]}, &attrs, 2);
}
BENCHMARK(log_softmax_columns)->Args({10, 4096})->Args({100, 1024});

struct Labels {
  explicit Labels(const Matrices& m)
      : lse(static_cast<std::size_t>(m.rows()), 2.0F),
        labels(static_cast<std::size_t>(m.rows()), 3) {}
  Strided view() {
    return {reinterpret_cast<std::byte*>(labels.data()),
            i64,
            {static_cast<std::int64_t>(labels.size())},
            {1}};
  }
  static Strided scalar(float& value) {
    return {reinterpret_cast<std::byte*>(&value), f32, {}, {}};
  }
  std::vector<float> lse;
  std::vector<std::int64_t> labels;
};

void cross_entropy_rows(benchmark::State& state) {
  Matrices m(state);
  Labels labels(m);
  float loss = 0.0F;
  const CrossEntropyAttrs attrs;
  measure(state, cross_entropy_kernels, m, {m[0], labels.view()},
          {Labels::scalar(loss), m.column(labels.lse)}, &attrs, 1);
}
BENCHMARK(cross_entropy_rows)->Apply(sizes);

void cross_entropy_grad_rows(benchmark::State& state) {
  Matrices m(state);
  Labels labels(m);
  float g = 1.0F;
  const CrossEntropyAttrs attrs;
  measure(state, cross_entropy_grad_kernels, m,
          {Labels::scalar(g), m[0], labels.view(), m.column(labels.lse)},
          {m[1]}, &attrs, 2);
}
BENCHMARK(cross_entropy_grad_rows)->Apply(sizes);

}  // namespace
}  // namespace neap::kernels
