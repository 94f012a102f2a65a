// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Prints the state hash after some compiled steps of an MLP, for the same steps
// of Python's: tests/test_same_hash.py.
#include <cstdio>
#include <exception>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile.hpp"
#include "neap/models/mlp.hpp"
#include "neap/ops/ops.hpp"
#include "neap/optim/adam.hpp"
#include "neap/tensor/create.hpp"
#include "neap/train/state_hash.hpp"

namespace neap {
namespace {

std::uint64_t hash_of_run() {
  seed(7);
  models::Mlp net(std::array<std::int64_t, 4>{20, 32, 16, 5},
                  {.dropout = 0.25});
  optim::AdamW adam(net.parameters(), {.lr = 1e-2});
  auto step = neap::compile([&](const Tensor& x, const Tensor& y) {
    Tensor loss = cross_entropy(net(x), y);
    backward(loss);
    adam.step();
    adam.zero_grad();
    return loss;
  });
  for (int i = 0; i < 10; ++i) {
    const Tensor x = randn({12, 20});
    const Tensor y = randint(0, 5, {12});
    step(x, y);
  }
  return train::state_hash(net, adam, tensor::generator());
}

}  // namespace
}  // namespace neap

int main() {
  try {
    std::printf("%016llx\n",
                static_cast<unsigned long long>(neap::hash_of_run()));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mlp_hash: %s\n", error.what());
    return 1;
  }
}
