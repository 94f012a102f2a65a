// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "model_steps.hpp"

#include <fmt/format.h>

#include "neap/compile/compile.hpp"
#include "training.hpp"

namespace neap::bench {
namespace {

// Forward, the gradients of the weights and those of the inputs: each product
// three times. Attention's are counted whole, as they are computed.
double gpt_flops(const models::GptOptions& o, std::int64_t batch) {
  const auto c = static_cast<double>(o.dim);
  const auto t = static_cast<double>(o.block);
  const double block = 12 * c * c + 2 * t * c;
  const double token =
      static_cast<double>(o.layers) * block + c * static_cast<double>(o.vocab);
  return 3 * 2 * token * static_cast<double>(batch) * t;
}

ModelCase gpt_case(const std::string& name, const models::GptOptions& options,
                   std::int64_t batch, bool is_long) {
  const auto make = gpt_training(options, batch);
  return {.name = name,
          .peer = fmt::format("gpt {} {} {} {} {} {}", options.layers,
                              options.heads, options.dim, options.block, batch,
                              options.vocab),
          .flops = gpt_flops(options, batch),
          .is_long = is_long,
          .make = make};
}

ModelCase lstm_case(const std::string& name, const models::LstmOptions& options,
                    std::int64_t steps, std::int64_t batch) {
  const auto make = lstm_training(options, steps, batch);
  const auto features = static_cast<double>(options.features);
  const auto hidden = static_cast<double>(options.hidden);
  const double step = 4 * hidden * (2 * features + 3 * hidden);
  return {.name = name,
          .peer = fmt::format("lstm {} {} {} {} {}", options.features,
                              options.hidden, steps, batch, options.outputs),
          .flops = 2 * step * static_cast<double>(batch * steps),
          .make = make};
}

Bytes bytes_of(const Tensor& x) {
  return x.element_count() * size_of(x.dtype());
}

}  // namespace

std::function<Training()> gpt_training(const models::GptOptions& options,
                                       std::int64_t batch) {
  return [=] {
    auto model = std::make_shared<models::Gpt>(options);
    auto optimizer = std::make_unique<optim::AdamW>(model->parameters());
    const Tensor tokens = randint(0, options.vocab, {batch, options.block});
    const Tensor targets = randint(0, options.vocab, {batch, options.block});
    return Training{
        .model = model,
        .optimizer = std::move(optimizer),
        .loss = [model](const Tensor& x,
                        const Tensor& y) { return model->loss(x, y); },
        .x = tokens,
        .y = targets};
  };
}

std::function<Training()> lstm_training(const models::LstmOptions& options,
                                        std::int64_t steps,
                                        std::int64_t batch) {
  return [=] {
    auto model = std::make_shared<models::Lstm>(options);
    auto optimizer = std::make_unique<optim::Adam>(model->parameters());
    const Tensor x = rand({batch, steps, options.features});
    const Tensor labels = randint(0, options.outputs, {batch});
    return Training{.model = model,
                    .optimizer = std::move(optimizer),
                    .loss =
                        [model](const Tensor& in, const Tensor& classes) {
                          return cross_entropy((*model)(in), classes);
                        },
                    .x = x,
                    .y = labels};
  };
}

std::function<Training()> mlp_training(std::int64_t batch) {
  return [=] {
    auto model = std::make_shared<models::Mlp>(kWidths);
    auto optimizer = std::make_unique<optim::Adam>(model->parameters());
    const Tensor x = rand({batch, kWidths.front()});
    const Tensor labels = randint(0, kWidths.back(), {batch});
    return Training{.model = model,
                    .optimizer = std::move(optimizer),
                    .loss =
                        [model](const Tensor& in, const Tensor& classes) {
                          return cross_entropy((*model)(in), classes);
                        },
                    .x = x,
                    .y = labels};
  };
}

ModelStep::ModelStep(const std::function<Training()>& make, bool is_compiled) {
  memory::Domain& domain = memory::default_domain();
  const Bytes before = domain.stats().live;
  training_ = make();
  const auto step = [this](const Tensor& x, const Tensor& y) {
    backward(training_.loss(x, y));
    training_.optimizer->step();
    training_.optimizer->zero_grad();
  };
  if (is_compiled) {
    auto plan =
        std::make_shared<compiler::Compiled<std::decay_t<decltype(step)>>>(
            compile(step));
    run_ = [this, plan] { (*plan)(training_.x, training_.y); };
  } else {
    run_ = [this, step] { step(training_.x, training_.y); };
  }
  run_();
  run_();
  domain.reset_peak();
  run_();
  // Adam's state is twice the parameters.
  peak_ = domain.stats().live_peak - before -
          3 * training_.model->parameter_bytes() - bytes_of(training_.x) -
          bytes_of(training_.y);
}

std::vector<ModelCase> model_cases() {
  return {
      gpt_case("gpt tiny AdamW",
               {.vocab = 256, .block = 64, .layers = 4, .heads = 4, .dim = 128},
               16, false),
      gpt_case("gpt tiny AdamW, products kept",
               {.vocab = 256,
                .block = 64,
                .layers = 4,
                .heads = 4,
                .dim = 128,
                .keep = models::GptKeep::kProducts},
               16, false),
      gpt_case("gpt tiny AdamW, nothing kept",
               {.vocab = 256,
                .block = 64,
                .layers = 4,
                .heads = 4,
                .dim = 128,
                .keep = models::GptKeep::kNothing},
               16, false),
      gpt_case(
          "gpt nano AdamW",
          {.vocab = 256, .block = 256, .layers = 6, .heads = 6, .dim = 384}, 8,
          true),
      lstm_case("lstm 256 Adam",
                {.features = 256, .hidden = 256, .outputs = 10}, 100, 32)};
}

}  // namespace neap::bench
