// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Chains of calls, one after the other and fused, in one thread: from the
// second level cache, and from memory; and of four elements.
#include <benchmark/benchmark.h>

#include <vector>

#include "neap/kernels/activation/activations.hpp"
#include "neap/kernels/activation/rectifiers.hpp"
#include "neap/kernels/elementwise/arithmetic.hpp"
#include "neap/kernels/fused.hpp"

namespace neap::kernels {
namespace {

constexpr std::int64_t kTiny = 4;
constexpr std::int64_t kSmall = std::int64_t{1} << 15;
constexpr std::int64_t kLarge = std::int64_t{1} << 23;

struct Chain {
  explicit Chain(std::int64_t n)
      : x(static_cast<std::size_t>(n), 0.5F), a(x), b(x), other(x) {}

  static Strided view(std::vector<float>& data) {
    const auto n = static_cast<std::int64_t>(data.size());
    return {reinterpret_cast<std::byte*>(data.data()), f32, {n}, {1}};
  }
  // Takes turns: add, mul, relu, mul, ...
  static const KernelList& list(int at) {
    if (at % 4 == 0) {
      return add_kernels;
    }
    return at % 2 == 0 ? relu_kernels : mul_kernels;
  }

  std::vector<float> x;
  std::vector<float> a;  // results of members, in turns
  std::vector<float> b;
  std::vector<float> other;  // second operands
};

void separate(benchmark::State& state) {
  Chain c(state.range(1));
  for (auto _ : state) {
    for (int i = 0; i < state.range(0); ++i) {
      const KernelList& list = Chain::list(i);
      Strided in[] = {Chain::view(i == 0       ? c.x
                                  : i % 2 == 1 ? c.a
                                               : c.b),
                      Chain::view(c.other)};
      Strided out[] = {Chain::view(i % 2 == 0 ? c.a : c.b)};
      const std::size_t inputs = &list == &relu_kernels ? 1 : 2;
      const Args args{std::span(in).first(inputs),
                      out,
                      nullptr,
                      {},
                      &threads::serial_executor()};
      find(list, memory::kHost, f32, args).run(args);
    }
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(1));
}

void fused(benchmark::State& state) {
  using Place = FusedOperand::Place;
  Chain c(state.range(1));
  const Strided in[] = {Chain::view(c.x), Chain::view(c.other)};
  const Strided out[] = {Chain::view(c.a)};
  FusedCall call(state.range(1));
  const auto last = static_cast<int>(state.range(0)) - 1;
  for (int i = 0; i <= last; ++i) {
    const KernelList& list = Chain::list(i);
    const auto inner = static_cast<std::uint8_t>(i);
    const FusedOperand operands[] = {
        i == 0
            ? FusedOperand{}
            : FusedOperand{Place::kInner, static_cast<std::uint8_t>(inner - 1)},
        {Place::kIn, 1}};
    const FusedOperand result[] = {i == last
                                       ? FusedOperand{Place::kOut}
                                       : FusedOperand{Place::kInner, inner}};
    const std::size_t inputs = &list == &relu_kernels ? 1 : 2;
    const Args args{in, out, nullptr, {}, nullptr};
    if (!call.add(find(list, memory::kHost, f32, args).piece(args), nullptr,
                  std::span(operands).first(inputs), result)) {
      return state.SkipWithError("too long");
    }
  }
  if (!call.prepare(in, out)) {
    return state.SkipWithError("does not fit");
  }
  std::vector<std::byte> scratch(static_cast<std::size_t>(call.scratch(1)));
  const Args args{in, out, &call, scratch, &threads::serial_executor()};
  for (auto _ : state) {
    fused_kernel.run(args);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(1));
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgsProduct({{2, 4, 8}, {kTiny, kSmall, kLarge}});
}
BENCHMARK(separate)->Apply(sizes);
BENCHMARK(fused)->Apply(sizes);

}  // namespace
}  // namespace neap::kernels
