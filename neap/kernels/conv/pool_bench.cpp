// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Pooling, normalisation by channel and upsampling beside a copy of as many
// bytes, in one thread: images of a ResNet's and of a VGG's stages. Bytes are
// those of the operands, each moved once.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "neap/kernels/conv/avg_pool2d.hpp"
#include "neap/kernels/conv/interpolate.hpp"
#include "neap/kernels/conv/max_pool2d.hpp"
#include "neap/kernels/conv/max_pool2d_grad.hpp"
#include "neap/kernels/norm/channel_norm.hpp"
#include "neap/kernels/norm/channel_norm_grad.hpp"

namespace neap::kernels {
namespace {

// Arrays begin where those of tensors do.
struct alignas(64) Line {
  std::byte bytes[64];
};

class Array {
 public:
  Array(const Shape& shape, DType dtype)
      : lines_(static_cast<std::size_t>(
            shape.element_count() * size_of(dtype) / 64 + 1)),
        view_{lines_[0].bytes, dtype, shape, base::row_major_strides(shape)} {
    if (dtype == f32) {
      for (std::int64_t i = 0; i < shape.element_count(); ++i) {
        view_.as<float>()[i] = std::sin(static_cast<float>(i));
      }
    }
  }
  Strided view() const { return view_; }
  Bytes bytes() const {
    return view_.shape.element_count() * size_of(view_.dtype);
  }

 private:
  std::vector<Line> lines_;
  Strided view_;
};

void measure(benchmark::State& state, const KernelList& list,
             const std::vector<Array*>& in, const std::vector<Array*>& out,
             const void* attrs) {
  std::vector<Strided> from;
  std::vector<Strided> to;
  Bytes moved = 0;
  for (const Array* array : in) {
    from.push_back(array->view());
    moved += array->bytes();
  }
  for (const Array* array : out) {
    to.push_back(array->view());
    moved += array->bytes();
  }
  Args args{from, to, attrs, {}, &threads::serial_executor()};
  const Kernel& kernel = find(list, memory::kHost, from[0].dtype, args);
  std::vector<std::byte> scratch(
      static_cast<std::size_t>(scratch_bytes(kernel, args)));
  args.scratch = scratch;
  kernel.run(args);
  for (auto _ : state) {
    kernel.run(args);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * moved);
}

// Images (n, c, side, side) of the state's first three arguments, and windows
// of the others: kernel, stride, padding.
struct Pooling {
  explicit Pooling(const benchmark::State& state) {
    const std::int64_t side = state.range(2);
    const std::int64_t kernel = state.range(3);
    const std::int64_t stride = state.range(4);
    const std::int64_t padding = state.range(5);
    attrs.h = {side,    (side + 2 * padding - kernel) / stride + 1,
               kernel,  stride,
               padding, 1};
    attrs.w = attrs.h;
    attrs.keeps_codes = true;
    in = {state.range(0), state.range(1), side, side};
    out = {state.range(0), state.range(1), attrs.h.out, attrs.h.out};
    codes = {state.range(0), state.range(1) * plane_code_bytes(attrs)};
  }
  PoolAttrs attrs;
  Shape in;
  Shape out;
  Shape codes;
};

void max_pool(benchmark::State& state) {
  const Pooling p(state);
  Array x(p.in, f32);
  Array y(p.out, f32);
  Array codes(p.codes, u8);
  measure(state, max_pool2d_kernels, {&x}, {&y, &codes}, &p.attrs);
}

void max_pool_grad(benchmark::State& state) {
  const Pooling p(state);
  Array x(p.in, f32);
  Array y(p.out, f32);
  Array codes(p.codes, u8);
  std::memset(codes.view().data, 0x24, static_cast<std::size_t>(codes.bytes()));
  measure(state, max_pool2d_grad_kernels, {&y, &codes}, {&x}, &p.attrs);
}

void avg_pool(benchmark::State& state) {
  const Pooling p(state);
  Array x(p.in, f32);
  Array y(p.out, f32);
  measure(state, avg_pool2d_kernels, {&x}, {&y}, &p.attrs);
}

void avg_pool_grad(benchmark::State& state) {
  const Pooling p(state);
  Array x(p.in, f32);
  Array y(p.out, f32);
  measure(state, avg_pool2d_grad_kernels, {&y}, {&x}, &p.attrs);
}

void pools(benchmark::internal::Benchmark* bench) {
  bench
      ->Args({32, 64, 32, 2, 2, 0})   // VGG, from L3
      ->Args({2, 32, 28, 2, 2, 0})    // LeNet's, from L2
      ->Args({2, 64, 112, 3, 2, 1})   // ResNet's stem
      ->Args({4, 64, 28, 3, 1, 1})    // an Inception's
      ->Args({32, 512, 4, 4, 4, 0});  // global, of ResNet-18
}

BENCHMARK(max_pool)->Apply(pools);
BENCHMARK(max_pool_grad)->Apply(pools);
BENCHMARK(avg_pool)->Apply(pools);
BENCHMARK(avg_pool_grad)->Apply(pools);

// Images (n, c, side side), normalised in groups of the last argument.
void channel_norm(benchmark::State& state) {
  const std::int64_t groups = state.range(3);
  const Shape shape{state.range(0), state.range(1),
                    state.range(2) * state.range(2)};
  Array x(shape, f32);
  Array w({shape[1]}, f32);
  Array b({shape[1]}, f32);
  Array y(shape, f32);
  Array stats(groups == 0 ? Shape{shape[1], 2} : Shape{shape[0], groups, 2},
              f64);
  const ChannelNormAttrs attrs{1e-5, groups};
  measure(state, groups == 0 ? batch_norm_kernels : group_norm_kernels,
          {&x, &w, &b}, {&y, &stats}, &attrs);
}

void channel_norm_grad(benchmark::State& state) {
  const std::int64_t groups = state.range(3);
  const Shape shape{state.range(0), state.range(1),
                    state.range(2) * state.range(2)};
  Array dy(shape, f32);
  Array x(shape, f32);
  Array w({shape[1]}, f32);
  Array dx(shape, f32);
  Array dw({shape[1]}, f32);
  Array db({shape[1]}, f32);
  Array stats(groups == 0 ? Shape{shape[1], 2} : Shape{shape[0], groups, 2},
              f64);
  const ChannelNormGradAttrs attrs{
      .eps = 1e-5, .groups = groups, .dx = true, .dw = true, .db = true};
  measure(state,
          groups == 0 ? batch_norm_grad_kernels : group_norm_grad_kernels,
          {&dy, &x, &stats, &w}, {&dx, &dw, &db}, &attrs);
}

void norms(benchmark::internal::Benchmark* bench) {
  bench->Args({32, 64, 32, 0})
      ->Args({32, 512, 4, 0})
      ->Args({4, 64, 16, 0})
      ->Args({64, 256, 1, 0})
      ->Args({32, 64, 32, 8});
}
BENCHMARK(channel_norm)->Apply(norms);
BENCHMARK(channel_norm_grad)->Apply(norms);

// Images (n, c, side, side) made twice as large; nearest or bilinear.
InterpolateAttrs twice(std::int64_t side, bool is_linear) {
  const ResizeAxis axis{side, 2 * side, 0.5};
  return {.h = axis, .w = axis, .is_linear = is_linear};
}

void interpolate(benchmark::State& state) {
  const std::int64_t side = state.range(2);
  Array x({state.range(0), state.range(1), side, side}, f32);
  Array y({state.range(0), state.range(1), 2 * side, 2 * side}, f32);
  const InterpolateAttrs attrs = twice(side, state.range(3) != 0);
  measure(state, interpolate_kernels, {&x}, {&y}, &attrs);
}

void interpolate_grad(benchmark::State& state) {
  const std::int64_t side = state.range(2);
  Array dx({state.range(0), state.range(1), side, side}, f32);
  Array g({state.range(0), state.range(1), 2 * side, 2 * side}, f32);
  const InterpolateAttrs attrs = twice(side, state.range(3) != 0);
  measure(state, interpolate_grad_kernels, {&g}, {&dx}, &attrs);
}
BENCHMARK(interpolate)->Args({4, 64, 32, 0})->Args({4, 64, 32, 1});
BENCHMARK(interpolate_grad)->Args({4, 64, 32, 0})->Args({4, 64, 32, 1});

// A copy that reads and writes as much as a state's first three arguments say.
void copy(benchmark::State& state) {
  const Shape shape{state.range(0), state.range(1), state.range(2),
                    state.range(2)};
  Array from(shape, f32);
  Array to(shape, f32);
  for (auto _ : state) {
    std::memcpy(to.view().data, from.view().data,
                static_cast<std::size_t>(from.bytes()));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * 2 * from.bytes());
}
BENCHMARK(copy)->Args({32, 64, 32})->Args({2, 32, 28})->Args({2, 64, 112});

}  // namespace
}  // namespace neap::kernels
