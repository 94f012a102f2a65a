// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// zoo_hash NETWORK prints the state hash after some compiled steps, for the
// same steps of Python's: tests/zoo.py, tests/test_same_hash.py.
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile.hpp"
#include "neap/models/gpt.hpp"
#include "neap/models/lenet.hpp"
#include "neap/models/lstm.hpp"
#include "neap/models/mlp.hpp"
#include "neap/models/recurrent_lm.hpp"
#include "neap/models/resnet.hpp"
#include "neap/models/unet.hpp"
#include "neap/models/vgg.hpp"
#include "neap/ops/ops.hpp"
#include "neap/optim/adam.hpp"
#include "neap/tensor/create.hpp"
#include "neap/train/state_hash.hpp"

namespace neap {
namespace {

// How to make a network, its input, and the shape and number of its targets.
struct Case {
  std::function<std::unique_ptr<nn::Layer>()> make;
  std::function<Tensor()> input;
  Shape targets;
  std::int64_t classes;
};

template <class Net, class... Options>
std::function<std::unique_ptr<nn::Layer>()> make(const Options&... options) {
  return [options...] { return std::make_unique<Net>(options...); };
}

std::function<Tensor()> images(std::int64_t channels, std::int64_t size) {
  return [=] { return randn({4, channels, size, size}); };
}

Tensor tokens() {
  return randint(0, 11, {3, 8});
}

std::map<std::string, Case> cases() {
  using namespace models;  // NOLINT(google-build-using-namespace)
  const RecurrentLmOptions lstm_lm{
      .vocab = 11, .dim = 8, .hidden = 8, .layers = 2, .dropout = 0.1};
  const RecurrentLmOptions gru_lm{
      .vocab = 11, .dim = 8, .hidden = 8, .layers = 1};
  return {
      {"mlp",
       {make<Mlp>(std::array<std::int64_t, 4>{20, 32, 16, 5},
                  MlpOptions{.dropout = 0.25}),
        [] {
          return randn({12, 20});
        },
        {12},
        5}},
      {"lenet",
       {make<LeNet>(LeNetOptions{.image = {1, 8, 8},
                                 .channels = {4, 6},
                                 .classes = 5,
                                 .dropout = 0.1}),
        images(1, 8),
        {4},
        5}},
      {"vgg",
       {make<Vgg11>(VggOptions{.width = 2, .classes = 5, .batch_norm = true}),
        images(3, 32),
        {4},
        5}},
      {"resnet",
       {make<ResNet>(ResNetOptions{.width = 4, .classes = 5}),
        images(3, 16),
        {4},
        5}},
      {"unet",
       {make<UNet>(UNetOptions{.width = 4, .depth = 2}),
        images(1, 8),
        {4, 8, 8},
        2}},
      {"lstm",
       {make<Lstm>(
            LstmOptions{.features = 3, .hidden = 8, .layers = 2, .outputs = 5}),
        [] {
          return randn({4, 6, 3});
        },
        {4},
        5}},
      {"lstm_lm", {make<LstmLm>(lstm_lm), tokens, {3, 8}, 11}},
      {"gru_lm", {make<GruLm>(gru_lm), tokens, {3, 8}, 11}},
      {"gpt",
       {make<Gpt>(GptOptions{.vocab = 11,
                             .block = 8,
                             .layers = 2,
                             .heads = 2,
                             .dim = 16,
                             .dropout = 0.1}),
        tokens,
        {3, 8},
        11}}};
}

// The mean over all targets, of scores (n, classes, ...) or, of tokens, (b, t,
// classes).
Tensor loss_of(const Tensor& scores, const Tensor& targets) {
  if (scores.rank() == 3) {
    return cross_entropy(reshape(scores, {-1, scores.size(2)}),
                         reshape(targets, {-1}));
  }
  return cross_entropy(scores, targets);
}

std::uint64_t hash_of(const Case& of) {
  seed(7);
  const std::unique_ptr<nn::Layer> net = of.make();
  optim::AdamW adam(net->parameters(), {.lr = 1e-2});
  auto step = neap::compile([&](const Tensor& x, const Tensor& y) {
    Tensor loss = loss_of((*net)(x), y);
    backward(loss);
    adam.step();
    adam.zero_grad();
    return loss;
  });
  for (int i = 0; i < 10; ++i) {
    const Tensor x = of.input();
    const Tensor y = randint(0, of.classes, of.targets);
    step(x, y);
  }
  return train::state_hash(*net, adam, tensor::generator());
}

}  // namespace
}  // namespace neap

int main(int argc, char** argv) {
  try {
    const auto cases = neap::cases();
    std::printf("%016llx\n", static_cast<unsigned long long>(neap::hash_of(
                                 cases.at(argc > 1 ? argv[1] : ""))));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "zoo_hash: %s\n", error.what());
    return 1;
  }
}
