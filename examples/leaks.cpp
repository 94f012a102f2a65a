// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A training loop that keeps more from step to step, and what the reports say
// of it: what grew, which tensors those are, and who holds them.
#include <cstdio>
#include <string>
#include <vector>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;
namespace nn = neap::nn;

struct Training {
  nn::Sequential net{nn::named("fc1", nn::Linear(256, 128)), nn::ReLU(),
                     nn::named("fc2", nn::Linear(128, 10))};
  neap::optim::SGD optimizer{net.parameters(), {.lr = 0.1}};

  Tensor loss_of(const Tensor& x) { return mean(square(net(x))); }
  void update(const Tensor& loss) {
    backward(loss, {.retain_graph = true});
    optimizer.step();
    optimizer.zero_grad();
  }
};

// The losses of all steps are kept as tensors, each with its graph.
std::string growth_of_a_history() {
  Training training;
  std::vector<Tensor> history;
  neap::report::Growth growth;
  for (int i = 0; i < 10; ++i) {
    const Tensor loss = training.loss_of(neap::randn({64, 256}));
    training.update(loss);
    history.push_back(loss);
    growth.step();
  }
  return growth.format();
}

// The same, kept as numbers.
std::string growth_of_numbers() {
  Training training;
  std::vector<double> history;
  neap::report::Growth growth;
  for (int i = 0; i < 10; ++i) {
    const Tensor loss = training.loss_of(neap::randn({64, 256}));
    training.update(loss);
    history.push_back(loss.item());
    growth.step();
  }
  return growth.format();
}

// One step of the first loop, looked at closely: who holds what it left?
std::string holders_of_a_history() {
  const neap::memory::TrackHandles tracking;
  Training training;
  training.update(training.loss_of(neap::randn({64, 256})));  // makes all state
  std::vector<Tensor> history;
  const neap::report::Baseline baseline;
  {
    const Tensor loss = training.loss_of(neap::randn({64, 256}));
    training.update(loss);
    history.push_back(loss);
  }
  return report_leaks(baseline, {.max_rows = 3});
}

// A hook that holds the very tensor it hangs on: no handle is left, and yet it
// is there, until the hook is removed.
std::string holders_of_a_cycle() {
  const neap::memory::TrackHandles tracking;
  const Tensor x = requires_grad_(neap::ones({100}));
  const neap::report::Baseline baseline;
  neap::HookHandle hook;
  {
    const Tensor y = exp(x);
    hook = register_hook(y, [y](const Tensor& grad) { return grad * y; });
  }
  std::string text = report_leaks(baseline);
  hook.remove();
  hook = {};
  return report_leaks(baseline).empty() ? text : "it is still there";
}

// Says what a graph keeps, and where.
std::string graph_of_a_loss() {
  const Tensor x = requires_grad_(neap::ones({64, 256}));
  const Tensor loss = mean(square(tanh(x)));
  return neap::graph::print(loss);
}

}  // namespace

int main() {
  const std::string growth = growth_of_a_history();
  const std::string holders = holders_of_a_history();
  const std::string cycle = holders_of_a_cycle();
  const std::string graph = graph_of_a_loss();
  std::printf("%s\n%s\n%s\n%s", growth.c_str(), holders.c_str(), cycle.c_str(),
              graph.c_str());
  const bool is_right = !growth.empty() && growth_of_numbers().empty() &&
                        holders.find("held by") != std::string::npos &&
                        cycle.find("a cycle") != std::string::npos;
  const neap::Bytes live = neap::memory::domain().stats().live;
  std::printf("live at exit: %s\n", neap::format_bytes(live).c_str());
  return is_right && live == 0 ? 0 : 1;
}
