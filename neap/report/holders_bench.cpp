// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The cost of memory::TrackHandles: small ops, whose bookkeeping is most of
// their time, and a step of a small network, each with and without it.
#include <benchmark/benchmark.h>

#include <optional>

#include "neap/autograd/backward.hpp"
#include "neap/nn/layers.hpp"
#include "neap/nn/linear.hpp"
#include "neap/nn/sequential.hpp"
#include "neap/ops/ops.hpp"
#include "neap/report/holders.hpp"
#include "neap/tensor/create.hpp"

namespace neap::report {
namespace {

// Tracks handles where the benchmark's argument says so.
class MayTrack {
 public:
  explicit MayTrack(const benchmark::State& state) {
    if (state.range(0) != 0) {
      tracking_.emplace();
    }
  }

 private:
  std::optional<memory::TrackHandles> tracking_;
};

// 100 recorded ops on 16 elements, and a backward through them.
void chain_of_small_ops(benchmark::State& state) {
  const MayTrack tracking(state);
  const Tensor x = requires_grad_(ones({16}));
  for (auto _ : state) {
    Tensor f = x;
    for (int i = 0; i < 100; ++i) {
      f = tanh(f);
    }
    backward(sum(f));
    zero_grad(std::span(&x, 1));
  }
}
BENCHMARK(chain_of_small_ops)->ArgName("tracked")->Arg(0)->Arg(1);

void step_of_a_small_network(benchmark::State& state) {
  const MayTrack tracking(state);
  nn::Sequential net(nn::Linear(64, 64), nn::ReLU(), nn::Linear(64, 10));
  const Tensor x = ones({32, 64});
  for (auto _ : state) {
    backward(mean(square(net(x))));
    net.zero_grad();
  }
}
BENCHMARK(step_of_a_small_network)->ArgName("tracked")->Arg(0)->Arg(1);

// The report itself, by handles that are alive.
void finding_holders(benchmark::State& state) {
  const memory::TrackHandles tracking;
  memory::Vector<Tensor> kept;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    kept.push_back(zeros({1}));
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(Holders());
  }
}
BENCHMARK(finding_holders)->ArgName("handles")->Arg(1000)->Arg(100'000);

}  // namespace
}  // namespace neap::report
