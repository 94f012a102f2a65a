// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "model_steps.hpp"

#include <sys/resource.h>

#include <array>

#include "neap/compile/compile.hpp"
#include "support/counting_malloc.hpp"
#include "support/measure.hpp"

namespace neap::bench {
namespace {

constexpr std::array<std::int64_t, 4> kWidths{784, 512, 256, 10};

Bytes bytes_of(const Tensor& x) {
  return x.element_count() * size_of(x.dtype());
}

Bytes live() {
  return memory::default_domain().stats().live;
}

Bytes bytes_of_buffers(const nn::Module& model) {
  Bytes bytes = 0;
  for (const Parameter& buffer : model.buffers()) {
    bytes += bytes_of(buffer.tensor);
  }
  return bytes;
}

long minor_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

// Loss of a model that maps a batch to scores of classes.
template <class Model>
auto classification(const std::shared_ptr<Model>& model) {
  return [model](const Tensor& x, const Tensor& y) {
    return cross_entropy((*model)(x), y);
  };
}

// One LSTM cell for all steps of time; classes from its last state.
class LstmCells final : public nn::Module {
 public:
  explicit LstmCells(const models::LstmOptions& options)
      : hidden_(options.hidden),
        cell_(options.features, options.hidden),
        head_(options.hidden, options.outputs) {
    register_module("cell", cell_);
    register_module("head", head_);
  }

  /// (b, t, features) -> (b, outputs)
  Tensor operator()(const Tensor& x) const {
    const Tensor none = zeros({x.size(0), hidden_});
    LstmState state{none, none};
    for (std::int64_t t = 0; t < x.size(1); ++t) {
      state = cell_.step(select(x, 1, t), state);
    }
    return head_(state.h);
  }

 private:
  std::int64_t hidden_;
  nn::LSTMCell cell_;
  nn::Linear head_;
};

}  // namespace

MakeTraining mlp_training(std::int64_t batch, const std::string& optimizer) {
  return [=] {
    const auto model = std::make_shared<models::Mlp>(kWidths);
    const bool is_sgd = optimizer == "sgd";
    std::unique_ptr<optim::Optimizer> made;
    if (is_sgd) {
      made = std::make_unique<optim::SGD>(model->parameters());
    } else {
      made = std::make_unique<optim::Adam>(model->parameters());
    }
    return Training{.model = model,
                    .optimizer = std::move(made),
                    .copies = is_sgd ? 1 : 3,
                    .loss = classification(model),
                    .x = rand({batch, kWidths.front()}),
                    .y = randint(0, kWidths.back(), {batch})};
  };
}

MakeTraining cnn_training(std::int64_t batch) {
  return [=] {
    const auto model = std::make_shared<models::LeNet>();
    return Training{
        .model = model,
        .optimizer = std::make_unique<optim::SGD>(model->parameters()),
        .copies = 1,
        .loss = classification(model),
        .x = rand({batch, 1, 28, 28}),
        .y = randint(0, 10, {batch})};
  };
}

MakeTraining resnet_training(std::int64_t batch) {
  return [=] {
    const auto model = std::make_shared<models::ResNet>();
    return Training{
        .model = model,
        .optimizer = std::make_unique<optim::SGD>(
            model->parameters(), optim::SGDOptions{.momentum = 0.9}),
        .copies = 2,
        .loss = classification(model),
        .x = rand({batch, 3, 32, 32}),
        .y = randint(0, 10, {batch})};
  };
}

MakeTraining gpt_training(const models::GptOptions& options,
                          std::int64_t batch) {
  return [=] {
    const auto model = std::make_shared<models::Gpt>(options);
    return Training{
        .model = model,
        .optimizer = std::make_unique<optim::AdamW>(model->parameters()),
        .copies = 3,
        .loss = [model](const Tensor& x,
                        const Tensor& y) { return model->loss(x, y); },
        .x = randint(0, options.vocab, {batch, options.block}),
        .y = randint(0, options.vocab, {batch, options.block})};
  };
}

MakeTraining lstm_training(const models::LstmOptions& options,
                           std::int64_t steps, std::int64_t batch) {
  return [=] {
    const auto model = std::make_shared<models::Lstm>(options);
    return Training{
        .model = model,
        .optimizer = std::make_unique<optim::Adam>(model->parameters()),
        .copies = 3,
        .loss = classification(model),
        .x = rand({batch, steps, options.features}),
        .y = randint(0, options.outputs, {batch})};
  };
}

MakeTraining lstm_cells_training(const models::LstmOptions& options,
                                 std::int64_t steps, std::int64_t batch) {
  return [=] {
    const auto model = std::make_shared<LstmCells>(options);
    return Training{
        .model = model,
        .optimizer = std::make_unique<optim::Adam>(model->parameters()),
        .copies = 3,
        .loss = classification(model),
        .x = rand({batch, steps, options.features}),
        .y = randint(0, options.outputs, {batch})};
  };
}

ModelStep::ModelStep(const MakeTraining& make, bool is_compiled,
                     const CompileOptions& how) {
  memory::Domain& domain = memory::default_domain();
  const Bytes before = live();
  training_ = make();
  const auto step = [this](const Tensor& x, const Tensor& y) {
    backward(training_.loss(x, y));
    training_.optimizer->step();
    training_.optimizer->zero_grad();
  };
  if (is_compiled) {
    auto plan =
        std::make_shared<compiler::Compiled<std::decay_t<decltype(step)>>>(
            compile(step, how));
    plan->prepare({training_.x.spec(), training_.y.spec()});
    arena_ = plan->arena_bytes();
    run_ = [this, plan] { (*plan)(training_.x, training_.y); };
  } else {
    run_ = [this, step] { step(training_.x, training_.y); };
  }
  run_();
  run_();
  domain.reset_peak();
  run_();
  peak_ = domain.stats().live_peak - before -
          training_.copies * training_.model->parameter_bytes() -
          bytes_of_buffers(*training_.model) - bytes_of(training_.x) -
          bytes_of(training_.y);
}

StepParts ModelStep::parts(int count) {
  std::vector<double> forward;
  std::vector<double> back;
  std::vector<double> update;
  for (int i = 0; i < count; ++i) {
    const double begin = now();
    const Tensor loss = training_.loss(training_.x, training_.y);
    const double loss_at = now();
    backward(loss);
    const double gradients_at = now();
    training_.optimizer->step();
    training_.optimizer->zero_grad();
    forward.push_back(loss_at - begin);
    back.push_back(gradients_at - loss_at);
    update.push_back(now() - gradients_at);
  }
  return {median(forward), median(back), median(update)};
}

Bytes ModelStep::kept() {
  const Bytes before = live();
  const Tensor loss = training_.loss(training_.x, training_.y);
  return live() - before;
}

StepCalls ModelStep::calls(int count) {
  const long faults = minor_faults();
  support::reset_outside_calls();
  for (int i = 0; i < count; ++i) {
    run_();
  }
  const auto calls = static_cast<double>(support::outside_stats().heap_calls);
  return {calls / count, static_cast<double>(minor_faults() - faults) / count};
}

}  // namespace neap::bench
