// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Several processes train one network: each has rows of its own, and the
// gradients are summed. The weights have the same bits on 1, 2 and 4 ranks:
//
//   neap_example_data_parallel
//   mpirun -n 4 neap_example_data_parallel
#include <array>
#include <cstdint>
#include <cstdio>

#include <neap/neap.hpp>

int main() {
  const neap::dist::Group world = neap::dist::init();  // of the launcher
  constexpr int kShards = 8;  // the largest number of ranks that is ever wanted
  constexpr std::int64_t kBatch = 64;
  constexpr std::int64_t kRows = kBatch / kShards;

  neap::seed(1);  // the same weights and data on all ranks
  neap::nn::Sequential net(neap::nn::Linear(20, 64), neap::nn::Tanh(),
                           neap::nn::Linear(64, 1));
  neap::optim::Adam adam(net.parameters(), {.lr = 1e-2});
  const neap::Tensor x = neap::randn({kBatch, 20});
  const neap::Tensor y = neap::sum(x, {1}, true);
  neap::memory::Vector<neap::Tensor> weights;
  for (const neap::Parameter& one : net.parameters()) {
    weights.push_back(one.tensor);
  }

  double loss = 0.0;
  for (int step = 0; step < 50; ++step) {
    neap::dist::ShardSum sum(world, kShards);
    double mine = 0.0;
    for (int s = sum.first(); s < sum.first() + sum.count(); ++s) {
      const auto rows = [&](const neap::Tensor& of) {
        return neap::slice(of, 0, s * kRows, (s + 1) * kRows);
      };
      const std::array part{neap::mse_loss(net(rows(x)), rows(y)) *
                            (1.0 / kShards)};
      mine += part[0].item();
      sum.add(neap::grad(part, weights));
    }
    const auto gradients = sum.take();
    for (std::size_t i = 0; i < weights.size(); ++i) {
      neap::set_grad(weights[i], gradients[i]);
    }
    adam.step();
    adam.zero_grad();
    loss = world.sum(mine, "loss");
  }
  if (world.rank() == 0) {
    std::printf("loss %.6f, state %016llx\n", loss,
                static_cast<unsigned long long>(
                    neap::train::state_hash(net, adam, neap::Generator(0))));
  }
  return loss < 0.5 ? 0 : 1;
}
