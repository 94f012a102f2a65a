// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Networks that people train, in C++: a convolutional one of one's own and a
// ready one on images from files, a transformer and a recurrent network on
// text; compiled, measured, saved and loaded.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "neap/formats/idx.hpp"
#include "neap/neap.hpp"

namespace {

using neap::Tensor;

// An empty folder that goes with the object.
struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("neap_networks_" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directory(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }

  std::string at(const std::string& name) const {
    return (path / name).string();
  }
};

void expect(bool is_so, const char* what) {
  std::printf("%-45s %s\n", what, is_so ? "yes" : "NO");
  if (!is_so) {
    throw std::runtime_error(what);
  }
}

void put_idx(const Folder& folder, const std::string& name,
             const neap::Shape& shape, const std::vector<unsigned char>& data) {
  const auto bytes = std::as_bytes(std::span(data));
  if (!neap::formats::write_idx(neap::files::system_door(), folder.at(name),
                                neap::u8, shape, bytes)) {
    throw std::runtime_error("a file is not written");
  }
}

// The four files of MNIST's naming: a bright row, whose place is the class.
void put_images(const Folder& folder) {
  constexpr int kSide = 8;
  for (const std::string part : {"train", "t10k"}) {
    const int count = part == "train" ? 400 : 80;
    std::vector<unsigned char> pixels;
    std::vector<unsigned char> labels;
    for (int i = 0; i < count; ++i) {
      labels.push_back(static_cast<unsigned char>(i % kSide));
      for (int pixel = 0; pixel < kSide * kSide; ++pixel) {
        const int noise = (i * 31 + pixel * 17) % 60;
        const bool is_bright = pixel / kSide == i % kSide;
        pixels.push_back(
            static_cast<unsigned char>((is_bright ? 120 : 40) + noise));
      }
    }
    put_idx(folder, part + "-images-idx3-ubyte", {count, kSide, kSide}, pixels);
    put_idx(folder, part + "-labels-idx1-ubyte", {count}, labels);
  }
}

// A convolutional network with a residual block.
struct Net : neap::nn::Layer {
  neap::nn::Conv2d conv1{1, 8, 3, {.padding = 1}, false};
  neap::nn::BatchNorm2d bn1{8};
  neap::nn::Conv2d conv2{8, 8, 3, {.padding = 1}, false};
  neap::nn::BatchNorm2d bn2{8};
  neap::nn::Linear fc{8 * 4 * 4, 10};

  Net() {
    register_module("conv1", conv1);
    register_module("bn1", bn1);
    register_module("conv2", conv2);
    register_module("bn2", bn2);
    register_module("fc", fc);
  }
  Tensor forward(const Tensor& x) const override {
    const Tensor y = relu(bn1(conv1(x)));
    const Tensor z = relu(bn2(conv2(y)) + y);
    return fc(flatten(max_pool2d(z, {.kernel = 2}), 1));
  }
};

// Any network for images: trained on the folder's images, mirrored at random.
// RETURNS: the share of the test images that it gets right.
double train_on_images(neap::nn::Layer& net, const std::string& folder) {
  const auto sets = neap::data::read_mnist(neap::files::system_door(), folder);
  if (!sets) {
    throw std::runtime_error(sets.error().message);
  }
  const neap::data::Augmented train(sets->train, {.flip = 0.5, .seed = 7});
  const neap::data::Augmented test(sets->test, {});
  neap::data::Loader loader(
      train, {.batch = 40, .shuffle = true, .seed = 7, .prefetch = 2});
  neap::data::Loader tests(test, {.batch = 40});

  neap::optim::SGD sgd(net.parameters(), {.momentum = 0.9});
  neap::train::FitOptions options;
  options.epochs = 6;
  options.trainer.compile = true;
  options.trainer.learning_rate = neap::optim::cosine(0.05, 60, 5);
  neap::train::fit(net, sgd, loader, options);
  return neap::train::evaluate(net, tests).accuracy;
}

void images(const Folder& folder) {
  put_images(folder);
  Net net;
  expect(train_on_images(net, folder.path) > 0.9, "a network of one's own");
  neap::models::ResNet resnet({.channels = 1, .width = 4});
  expect(train_on_images(resnet, folder.path) > 0.9, "a ready one");

  const std::string path = folder.at("net.safetensors");
  Net other;
  const bool is_saved = neap::save(net, path) && neap::load(other, path);
  net.eval();
  other.eval();
  const neap::NoGrad guard;
  const Tensor x = neap::rand({2, 1, 8, 8});
  expect(is_saved && net(x).to_vector() == other(x).to_vector(),
         "saved and loaded");
}

// The loss of the last batch, per token.
template <class Model>
double train_on_text(Model& model, const neap::data::TextSet& text) {
  neap::optim::AdamW adam(model.parameters(), {.lr = 1e-2});
  neap::data::Loader loader(text, {.batch = 8, .seed = 7, .prefetch = 1});
  auto step = neap::compile([&](const Tensor& tokens, const Tensor& targets) {
    Tensor loss = model.loss(tokens, targets);
    backward(loss);
    neap::optim::clip_grad_norm(model.parameters(), 1.0);
    adam.step();
    adam.zero_grad();
    return loss;
  });
  double last = 0.0;
  for (int epoch = 0; epoch < 15; ++epoch) {
    for (const neap::data::Batch& batch : loader.epoch(epoch)) {
      last = step(batch.input, batch.target).item();
    }
  }
  return last;
}

void texts(const Folder& folder) {
  const std::string path = folder.at("verses.txt");
  std::ofstream file(path);
  for (int i = 0; i < 200; ++i) {
    file << "the quick brown fox jumps over the lazy dog\n";
  }
  file.close();
  const auto sets =
      neap::data::read_text(neap::files::system_door(), path,
                            {.block = 24, .validation = 0.1, .samples = 64});
  if (!sets) {
    throw std::runtime_error(sets.error().message);
  }
  const std::int64_t vocab = sets->train.vocabulary().size();
  neap::models::Gpt gpt(
      {.vocab = vocab, .block = 24, .layers = 2, .heads = 2, .dim = 32});
  expect(train_on_text(gpt, sets->train) < 0.5, "a transformer");
  neap::models::LstmLm lstm({.vocab = vocab, .dim = 32, .hidden = 32});
  expect(train_on_text(lstm, sets->train) < 0.5, "a recurrent network");
}

}  // namespace

int main() {
  try {
    const Folder folder;
    neap::seed(7);
    images(folder);
    texts(folder);
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
  return neap::memory::domain().stats().live == 0 ? 0 : 1;
}
