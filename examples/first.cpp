// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A first program: a network learns which points of a square lie in a disk, in
// a step whose memory is known before it runs, and never passes 64 MiB.
#include <cstdio>

#include "neap/neap.hpp"

using neap::Tensor;

struct Net : neap::nn::Layer {
  neap::nn::Linear hidden{2, 32};
  neap::nn::Linear out{32, 2};

  Net() {
    register_module("hidden", hidden);
    register_module("out", out);
  }
  Tensor forward(const Tensor& x) const override {
    return out(tanh(hidden(x)));
  }
};

int main() {
  const neap::Budget budget(64 * neap::kMiB);  // of the whole process
  const Tensor x = neap::rand({4000, 2}) * 2.0 - 1.0;
  const Tensor labels = cast(sum(x * x, {1}) < 0.64, neap::i64);
  const neap::data::TensorSet points(x, labels);
  neap::data::Loader loader(points, {.batch = 50, .shuffle = true});

  Net net;
  neap::optim::Adam adam(net.parameters(), {.lr = 1e-2});
  auto step = neap::compile([&](const Tensor& input, const Tensor& target) {
    Tensor loss = cross_entropy(net(input), target);
    backward(loss);
    adam.step();
    adam.zero_grad();
    return loss;
  });
  step.prepare({neap::tensor::Spec{neap::f32, {50, 2}},
                neap::tensor::Spec{neap::i64, {50}}});
  std::printf("the step will need %s\n",
              neap::format_bytes(step.prediction().peak()).c_str());

  double loss = 0;
  for (int epoch = 0; epoch < 5; ++epoch) {
    for (const neap::data::Batch& batch : loader.epoch(epoch)) {
      loss = step(batch.input, batch.target).item();
    }
  }
  std::printf("loss %.3f\n", loss);
  return loss < 0.3 ? 0 : 1;
}
