// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A training step that is made to fit, into half of its arena or into a budget
// for the process: some calls run again in the backward pass, to the same bits,
// and what that costs is known before the first step.
#include <array>
#include <cstdio>
#include <iostream>
#include <vector>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;
using neap::tensor::Spec;

// Twelve layers; their values are kept for backward.
neap::nn::Sequential deep() {
  neap::seed(7);
  neap::nn::Sequential net;
  for (int i = 0; i < 12; ++i) {
    net.push(neap::nn::Linear(64, 64));
    net.push(neap::nn::Tanh());
  }
  return net;
}

// Held by the library and by the process: what budgets bound.
neap::Bytes in_use() {
  const auto stats = neap::memory::domain().stats();
  return stats.held + stats.external;
}

// Two steps of a compiled step. RETURNS: the last loss.
double train(const neap::CompileOptions& options, bool is_told) {
  const neap::nn::Sequential net = deep();
  neap::optim::SGD optimizer(net.parameters(), {.lr = 0.1});
  const auto plain = [&](const Tensor& x) {
    Tensor loss = mean(square(net(x)));
    backward(loss);
    optimizer.step();
    optimizer.zero_grad();
    return loss;
  };
  auto step = neap::compile(plain, options);
  step.prepare({Spec{neap::f32, {256, 64}}});
  if (is_told) {
    std::cout << step.prediction();
  }
  const Tensor x = neap::randn({256, 64});
  step(x);
  return step(x).item();
}

bool run() {
  const neap::nn::Sequential net = deep();
  const auto plain = [&](const Tensor& x) {
    Tensor loss = mean(square(net(x)));
    backward(loss);
    return loss;
  };
  const std::array specs{Spec{neap::f32, {256, 64}}};
  for (const auto& point : neap::compiler::fit(plain, specs)) {
    const neap::compiler::Fitting& fitting = point.fitting;
    std::printf("%9s B  %+5.1f %%  %2u calls again\n",
                neap::format_grouped(point.arena).c_str(),
                fitting.percent(fitting.extra), fitting.again);
  }
  const neap::Bytes whole = neap::lower(plain, specs).plan.arena_bytes();
  const double kept = train({}, false);
  const double fitted = train({.arena_limit = whole / 2}, true);
  const double within = train({.budget = in_use() + 1280 * neap::kKiB}, false);
  std::printf("losses %.9g, %.9g and %.9g\n", kept, fitted, within);
  return kept == fitted && kept == within;
}

}  // namespace

int main() {
  const bool is_right = run();
  const neap::Bytes live = neap::memory::domain().stats().live;
  std::printf("live at exit: %s\n", neap::format_bytes(live).c_str());
  return is_right && live == 0 ? 0 : 1;
}
