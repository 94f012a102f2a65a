// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The programs of docs/coming-from/awnn.md.
#include <cstdio>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;
using neap::nn::Linear;
using neap::nn::MemoryMap;
using neap::nn::Watch;
using neap::tensor::Spec;

struct Mlp : neap::nn::Cloneable<Mlp> {
  Linear fc1{20, 32};
  Linear fc2{32, 4};

  Mlp() {
    register_module("fc1", fc1);
    register_module("fc2", fc2);
  }
  Mlp(const Mlp& other, neap::nn::Cloning& cloning)
      : Cloneable(other, cloning),
        fc1(other.fc1, cloning),
        fc2(other.fc2, cloning) {
    register_module("fc1", fc1);
    register_module("fc2", fc2);
  }
  Tensor forward(const Tensor& x) const override { return fc2(relu(fc1(x))); }
};

struct Batch {
  Tensor x;       // (n, 20)
  Tensor labels;  // (n)
};

Batch make_batch(std::int64_t size) {
  const Tensor x = neap::randn({size, 20});
  return {x, argmax(slice(x, 1, 0, 4), 1)};
}

// mlp_loss and the update, for batches of any size.
double train(Mlp& model, int steps) {
  neap::optim::SGD sgd(model.parameters(),
                       {.lr = 0.2, .momentum = 0.9, .weight_decay = 1e-4});
  double last = 0.0;
  for (int i = 0; i < steps; ++i) {
    const Batch batch = make_batch(64);
    const Tensor loss = cross_entropy(model(batch.x), batch.labels);
    backward(loss);
    sgd.step();
    sgd.zero_grad();
    last = loss.item();
  }
  return last;
}

bool look_up(Mlp& model) {
  const Batch batch = make_batch(8);
  backward(cross_entropy(model(batch.x), batch.labels));
  const Tensor w = model.parameter("fc1.weight");
  const Tensor dw = w.grad();
  const bool is_found = dw.shape() == w.shape();
  model.zero_grad();
  return is_found;
}

bool look_at_memory(Mlp& model) {
  const Batch batch = make_batch(8);
  const Watch watch(model);
  const Tensor loss = cross_entropy(model(batch.x), batch.labels);
  const MemoryMap map(model);
  std::printf("%s", map.format().c_str());
  const Tensor hidden = map.at("fc1.output").data();
  return hidden.shape() == neap::Shape{8, 32} && !map.caches().empty();
}

bool infer(Mlp& model) {
  const Batch batch = make_batch(500);
  const neap::NoGrad guard;
  const Tensor scores = model(batch.x);
  std::printf("accuracy  %.3f\n", neap::nn::accuracy(scores, batch.labels));
  return neap::nn::accuracy(scores, batch.labels) > 0.8;
}

// All memory of training and inference from a largest batch, made ahead.
bool train_planned(Mlp& model) {
  neap::optim::SGD sgd(model.parameters(), {.lr = 0.1, .momentum = 0.9});
  auto step = neap::compile(
      [&](const Tensor& x, const Tensor& labels) {
        Tensor loss = cross_entropy(model(x), labels);
        backward(loss);
        sgd.step();
        sgd.zero_grad();
        return loss;
      },
      {.max_batch = 64});
  step.prepare({Spec{neap::f32, {64, 20}}, Spec{neap::i64, {64}}});
  const neap::Bytes arena = step.arena_bytes();
  for (const std::int64_t size : {64, 64, 10, 64}) {
    const Batch batch = make_batch(size);
    std::printf("loss of %lld  %.3f\n", static_cast<long long>(size),
                step(batch.x, batch.labels).item());
  }
  return step.arena_bytes() == arena;
}

bool run() {
  neap::seed(1);
  Mlp model;
  const double loss = train(model, 300);
  std::printf("loss      %.4f\n", loss);
  Mlp twin = model.clone();      // deep: every parameter its own
  Mlp moved = std::move(model);  // every name, list and view stays right
  return loss < 0.5 && look_up(moved) && look_at_memory(moved) &&
         train_planned(twin) && infer(moved) && infer(twin);
}

}  // namespace

int main() {
  const bool is_right = run();
  const neap::Bytes live = neap::memory::domain().stats().live;
  std::printf("live at exit: %s\n", neap::format_bytes(live).c_str());
  return is_right && live == 0 ? 0 : 1;
}
