// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "subject.hpp"

#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/autograd/functional.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/models/gpt.hpp"
#include "neap/models/lenet.hpp"
#include "neap/models/lstm.hpp"
#include "neap/models/mlp.hpp"
#include "neap/models/recurrent_lm.hpp"
#include "neap/models/resnet.hpp"
#include "neap/models/unet.hpp"
#include "neap/models/vgg.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"

namespace neap::tests {
namespace {

using tensor::Spec;

class MlpSubject final : public Subject {
 public:
  nn::Module& module() override { return model_; }
  Tensor differentiate(const Tensor& x, const Tensor& y) override {
    Tensor loss = cross_entropy(model_(x), y);
    backward(loss);
    return loss;
  }
  std::array<Spec, 2> specs(std::int64_t batch) const override {
    return {Spec{f32, {batch, 24}}, Spec{i64, {batch}}};
  }
  std::int64_t classes() const override { return 4; }

 private:
  models::Mlp model_{std::vector<std::int64_t>{24, 40, 20, 4},
                     {.dropout = 0.25}};
};

// A network for images of 32 x 32 pixels at most.
template <class Model>
class ImageSubject final : public Subject {
 public:
  template <class Options>
  ImageSubject(const Options& options, const Shape& image, bool has_pixels)
      : model_(options), image_(image), has_pixels_(has_pixels) {}
  nn::Module& module() override { return model_; }
  Tensor differentiate(const Tensor& x, const Tensor& y) override {
    Tensor loss = cross_entropy(model_(x), y);
    backward(loss);
    return loss;
  }
  std::array<Spec, 2> specs(std::int64_t batch) const override {
    const Shape images{batch, image_[0], image_[1], image_[2]};
    const Shape labels =
        has_pixels_ ? Shape{batch, image_[1], image_[2]} : Shape{batch};
    return {Spec{f32, images}, Spec{i64, labels}};
  }
  std::int64_t classes() const override { return 4; }

 private:
  Model model_;
  Shape image_;
  bool has_pixels_;
};

class GptSubject final : public Subject {
 public:
  explicit GptSubject(models::GptOptions options) : model_(sized(options)) {}
  nn::Module& module() override { return model_; }
  Tensor differentiate(const Tensor& x, const Tensor& y) override {
    Tensor loss = model_.loss(x, y);
    backward(loss);
    return loss;
  }
  std::array<Spec, 2> specs(std::int64_t batch) const override {
    return {Spec{i64, {batch, 6}}, Spec{i64, {batch, 6}}};
  }
  std::int64_t classes() const override { return 13; }

 private:
  static models::GptOptions sized(models::GptOptions options) {
    options.vocab = 13;
    options.block = 6;
    options.layers = 2;
    options.heads = 2;
    options.dim = 8;
    options.dropout = 0.1;
    return options;
  }

  models::Gpt model_;
};

class LstmSubject final : public Subject {
 public:
  nn::Module& module() override { return model_; }
  Tensor differentiate(const Tensor& x, const Tensor& y) override {
    Tensor loss = cross_entropy(model_(x), y);
    backward(loss);
    return loss;
  }
  std::array<Spec, 2> specs(std::int64_t batch) const override {
    return {Spec{f32, {batch, 5, 3}}, Spec{i64, {batch}}};
  }
  std::int64_t classes() const override { return 4; }

 private:
  models::Lstm model_{
      {.features = 3, .hidden = 5, .layers = 2, .outputs = 4, .dropout = 0.2}};
};

template <class Model>
class RecurrentLmSubject final : public Subject {
 public:
  nn::Module& module() override { return model_; }
  Tensor differentiate(const Tensor& x, const Tensor& y) override {
    Tensor loss = model_.loss(x, y);
    backward(loss);
    return loss;
  }
  std::array<Spec, 2> specs(std::int64_t batch) const override {
    return {Spec{i64, {batch, 5}}, Spec{i64, {batch, 5}}};
  }
  std::int64_t classes() const override { return 7; }

 private:
  Model model_{{.vocab = 7,
                .dim = 6,
                .hidden = 6,
                .layers = 2,
                .dropout = 0.2,
                .tie = true}};
};

struct Plane : nn::Module {
  Tensor weight;
  Plane() { weight = register_parameter("weight", zeros({6}, f64)); }
};

// The mean of log(1 + exp(-label x.w)) over what dropout leaves of x, and some
// decay, which makes the Hessian definite.
class NewtonSubject final : public Subject {
 public:
  nn::Module& module() override { return plane_; }
  Tensor differentiate(const Tensor& x, const Tensor& y) override {
    const Tensor seen = dropout(x, 0.1);
    const Tensor side = 2.0 * cast(y, f64) - 1.0;
    const auto loss_at = [&](const Tensor& w) {
      return mean(softplus(-side * matmul(seen, w))) + 1e-2 * sum(square(w));
    };
    Tensor loss = loss_at(plane_.weight);
    const Tensor slope = grad(loss, {plane_.weight})[0];
    set_grad(plane_.weight, solved(loss_at, slope));
    return loss;
  }
  std::array<Spec, 2> specs(std::int64_t batch) const override {
    return {Spec{f64, {batch, 6}}, Spec{i64, {batch}}};
  }
  std::int64_t classes() const override { return 2; }

 private:
  // Three rounds of conjugate gradients from 0 towards H d = b.
  template <class LossAt>
  Tensor solved(const LossAt& loss_at, const Tensor& b) const {
    const Tensor w = plane_.weight.detach();
    Tensor d = zeros_like(b);
    Tensor rest = b;
    Tensor direction = b;
    Tensor square_now = dot(rest, rest);
    for (int round = 0; round < 3; ++round) {
      const Tensor bent = hvp(loss_at, w, direction).product;
      const Tensor length = square_now / dot(direction, bent);
      d = d + length * direction;
      rest = rest - length * bent;
      const Tensor square_next = dot(rest, rest);
      direction = rest + square_next / square_now * direction;
      square_now = square_next;
    }
    return d;
  }

  Plane plane_;
};

}  // namespace

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kMlp:
      return "Mlp";
    case Kind::kLeNet:
      return "LeNet";
    case Kind::kVgg:
      return "Vgg";
    case Kind::kResNet:
      return "ResNet";
    case Kind::kUNet:
      return "UNet";
    case Kind::kGpt:
      return "Gpt";
    case Kind::kGptAnew:
      return "GptAnew";
    case Kind::kLstm:
      return "Lstm";
    case Kind::kGruLm:
      return "GruLm";
    case Kind::kResNet34:
      return "ResNet34";
    case Kind::kGptProducts:
      return "GptProducts";
    case Kind::kGptRotary:
      return "GptRotary";
    case Kind::kLstmLm:
      return "LstmLm";
    default:
      return "Newton";
  }
}

std::unique_ptr<Subject> make_subject(Kind kind) {
  switch (kind) {
    case Kind::kMlp:
      return std::make_unique<MlpSubject>();
    case Kind::kLeNet:
      return std::make_unique<ImageSubject<models::LeNet>>(
          models::LeNetOptions{.image = {1, 8, 8},
                               .channels = {3, 5},
                               .classes = 4,
                               .dropout = 0.2},
          Shape{1, 8, 8}, false);
    case Kind::kVgg:
      return std::make_unique<ImageSubject<models::Vgg11>>(
          models::VggOptions{.image = {1, 64, 32},
                             .width = 1,
                             .classes = 4,
                             .batch_norm = true,
                             .dropout = 0.1},
          Shape{1, 64, 32}, false);
    case Kind::kResNet:
      return std::make_unique<ImageSubject<models::ResNet>>(
          models::ResNetOptions{.channels = 2, .width = 2, .classes = 4},
          Shape{2, 12, 16}, false);
    case Kind::kUNet:
      return std::make_unique<ImageSubject<models::UNet>>(
          models::UNetOptions{.classes = 4, .width = 2, .depth = 2},
          Shape{1, 8, 8}, true);
    case Kind::kGpt:
      return std::make_unique<GptSubject>(
          models::GptOptions{.keep = models::GptKeep::kEverything});
    case Kind::kGptAnew:
      return std::make_unique<GptSubject>(
          models::GptOptions{.keep = models::GptKeep::kNothing});
    case Kind::kLstm:
      return std::make_unique<LstmSubject>();
    case Kind::kGruLm:
      return std::make_unique<RecurrentLmSubject<models::GruLm>>();
    case Kind::kResNet34:
      return std::make_unique<ImageSubject<models::ResNet>>(
          models::ResNetOptions{
              .layers = 34, .channels = 2, .width = 2, .classes = 4},
          Shape{2, 12, 16}, false);
    case Kind::kGptProducts:
      return std::make_unique<GptSubject>(
          models::GptOptions{.keep = models::GptKeep::kProducts});
    case Kind::kGptRotary:
      return std::make_unique<GptSubject>(
          models::GptOptions{.bias = false,
                             .tie = false,
                             .positions = models::GptPositions::kRotary,
                             .mlp = models::GptFeedForward::kSwiglu});
    case Kind::kLstmLm:
      return std::make_unique<RecurrentLmSubject<models::LstmLm>>();
    default:
      return std::make_unique<NewtonSubject>();
  }
}

}  // namespace neap::tests
