// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Training on data of one's own: a data set that makes its samples up, a module
// with two layers, and a training loop written by hand.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;

// Points of the square from -1 to 1; those in the disk around 0 are class 1.
class Points {
 public:
  explicit Points(std::int64_t size) : size_(size) {}

  std::int64_t size() const { return size_; }

  // One sample: two f32 as input, one i64 as label.
  neap::data::SampleSpec spec() const {
    return {.input = {2},
            .input_dtype = neap::f32,
            .target = {},
            .target_dtype = neap::i64};
  }

  // Writes sample `index` straight into the row of a batch.
  void load(std::int64_t index, std::span<std::byte> input,
            std::span<std::byte> target) const noexcept {
    const neap::base::DrawKey key{1, static_cast<std::uint64_t>(index)};
    const float point[] = {2 * neap::base::uniform_f32(key.word(0)) - 1,
                           2 * neap::base::uniform_f32(key.word(1)) - 1};
    const std::int64_t label = std::hypot(point[0], point[1]) < 0.8F ? 1 : 0;
    std::memcpy(input.data(), point, sizeof(point));
    std::memcpy(target.data(), &label, sizeof(label));
  }

 private:
  std::int64_t size_;
};

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

double train() {
  const Points points(2000);
  Net net;
  neap::optim::Adam adam(net.parameters(), {.lr = 1e-2});
  neap::data::Loader loader(points, {.batch = 50, .shuffle = true, .seed = 7});
  double last = 0.0;
  for (int epoch = 0; epoch < 10; ++epoch) {
    for (const neap::data::Batch& batch : loader.epoch(epoch)) {
      const Tensor loss = cross_entropy(net(batch.input), batch.target);
      backward(loss);
      adam.step();
      adam.zero_grad();
      last = loss.item();
    }
  }
  std::printf("loss of the last batch  %.4f\n", last);
  const auto measured = neap::train::evaluate(net, loader);
  std::printf("accuracy                %.1f %%\n", measured.accuracy * 100);
  return measured.accuracy;
}

// The loop that the library has, its step laid out in one arena.
double fit() {
  const Points points(2000);
  Net net;
  neap::optim::AdamW adam(net.parameters());
  neap::data::Loader loader(points, {.batch = 50, .shuffle = true, .seed = 7});
  neap::train::FitOptions options;
  options.epochs = 10;
  options.trainer.clip_norm = 1.0;
  options.trainer.learning_rate = neap::optim::cosine(1e-2, 400, 40);
  options.trainer.compile = true;
  const auto fitted = neap::train::fit(net, adam, loader, options);
  std::printf("loss of step %lld      %.4f\n",
              static_cast<long long>(fitted.steps), fitted.last_loss);
  return neap::train::evaluate(net, loader, {.compile = true}).accuracy;
}

}  // namespace

int main() {
  const double by_hand = train();
  const double accuracy = std::min(by_hand, fit());
  const neap::Bytes live = neap::memory::domain().stats().live;
  std::printf("live at exit: %s\n", neap::format_bytes(live).c_str());
  return accuracy > 0.95 && live == 0 ? 0 : 1;
}
