// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Several processes train one network in compiled steps. Nothing in the step
// is written for it, and the weights have the same bits on 1, 2 and 4 ranks:
//
//   neap_example_ranks
//   mpirun -n 4 neap_example_ranks
#include <cstdint>
#include <cstdio>

#include <neap/neap.hpp>

int main() {
  constexpr int kShards = 4;  // the largest number of ranks that is ever wanted
  const neap::dist::Group world = neap::dist::init();  // of the launcher

  neap::seed(1);  // the same weights and data on all ranks
  neap::nn::Sequential net(neap::nn::Linear(20, 64), neap::nn::Tanh(),
                           neap::nn::Dropout(0.1), neap::nn::Linear(64, 3));
  neap::optim::AdamW adam(net.parameters(), {.lr = 1e-2});
  const neap::Tensor x = neap::randn({500, 20});
  const neap::data::TensorSet set(x, neap::argmax(neap::slice(x, 1, 0, 3), 1));

  // Each rank reads the rows of its own shards of every batch.
  neap::data::Loader loader(set, {.batch = 64,
                                  .shuffle = true,
                                  .shards = {.count = kShards,
                                             .rank = world.rank(),
                                             .ranks = world.ranks()}});
  neap::train::TrainerOptions options{.clip_norm = 1.0, .compile = true};
  options.compile_options.shards = kShards;
  options.compile_options.ranks = world.for_steps();
  neap::train::Trainer trainer(net, adam, loader, options);

  neap::train::StepReport report;
  for (int step = 0; step < 80; ++step) {
    report = trainer.step();  // the loss of the whole batch
  }
  if (world.rank() == 0) {
    std::printf(
        "loss %.6f, accuracy %.3f, %lld bytes sent in a step, state %016llx\n",
        report.loss, report.accuracy,
        static_cast<long long>(trainer.program().sharding.sent),
        static_cast<unsigned long long>(
            neap::train::state_hash(net, adam, neap::tensor::generator())));
  }
  return report.loss < 0.5 ? 0 : 1;
}
