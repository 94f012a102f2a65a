// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The steps that are measured, and the arithmetic that each cannot do without:
// forward, the gradients of the weights, and those of the inputs of all layers
// but the first. Attention's products are counted whole, causal or not.
#include <fmt/format.h>

#include "model_steps.hpp"

namespace neap::bench {
namespace {

// Multiply-adds of a forward pass, for one sample.
struct Products {
  double first = 0;  // of the first layer, whose input needs no gradient
  double rest = 0;
  double step_flops(std::int64_t batch) const {
    return 2 * static_cast<double>(batch) * (2 * first + 3 * rest);
  }
};

double conv(std::int64_t in, std::int64_t out, std::int64_t kernel,
            std::int64_t side) {
  return static_cast<double>(in * out * kernel * kernel * side * side);
}

Products resnet18_products() {
  Products products{conv(3, 64, 3, 32), 512.0 * 10};
  std::int64_t in = 64;
  std::int64_t side = 32;
  for (const std::int64_t out : {64, 128, 256, 512}) {
    if (out != in) {
      side /= 2;
      products.rest += conv(in, out, 1, side);
    }
    products.rest += conv(in, out, 3, side) + 3 * conv(out, out, 3, side);
    in = out;
  }
  return products;
}

ModelCase mlp_case(std::int64_t batch, const char* optimizer) {
  const Products products{784.0 * 512, 512.0 * 256 + 256.0 * 10};
  return {.name = fmt::format("MLP b{} {}", batch, optimizer),
          .peer = fmt::format("mlp {} {}", batch, optimizer),
          .flops = products.step_flops(batch),
          .make = mlp_training(batch, optimizer)};
}

ModelCase cnn_case(std::int64_t batch) {
  const Products products{conv(1, 32, 3, 28),
                          conv(32, 64, 3, 28) + 64.0 * 14 * 14 * 10};
  return {.name = fmt::format("CNN b{} sgd", batch),
          .peer = fmt::format("cnn {}", batch),
          .flops = products.step_flops(batch),
          .make = cnn_training(batch)};
}

ModelCase resnet_case(std::int64_t batch) {
  return {.name = fmt::format("ResNet-18 b{} momentum", batch),
          .peer = fmt::format("resnet {}", batch),
          .flops = resnet18_products().step_flops(batch),
          .is_long = true,
          .make = resnet_training(batch)};
}

ModelCase gpt_case(const std::string& name, const models::GptOptions& o,
                   std::int64_t batch, bool is_long = false) {
  const auto c = static_cast<double>(o.dim);
  const auto t = static_cast<double>(o.block);
  const double token =
      static_cast<double>(o.layers) * (12 * c * c + 2 * t * c) +
      c * static_cast<double>(o.vocab);
  return {.name = name,
          .peer = fmt::format("gpt {} {} {} {} {} {}", o.layers, o.heads, o.dim,
                              o.block, batch, o.vocab),
          .flops = Products{0, token * t}.step_flops(batch),
          .is_long = is_long,
          .make = gpt_training(o, batch)};
}

// Names the case that keeps more, which this one is compared with.
ModelCase beside(ModelCase which, const std::string& keeps_more) {
  which.keeps_more = keeps_more;
  return which;
}

ModelCase lstm_case(const std::string& name, const models::LstmOptions& o,
                    std::int64_t steps, std::int64_t batch) {
  const auto features = static_cast<double>(o.features);
  const auto hidden = static_cast<double>(o.hidden);
  const auto count = static_cast<double>(steps);
  const Products products{count * 4 * hidden * features,
                          count * 4 * hidden * hidden};
  return {.name = name,
          .peer = fmt::format("lstm {} {} {} {} {}", o.features, o.hidden,
                              steps, batch, o.outputs),
          .flops = products.step_flops(batch),
          .make = lstm_training(o, steps, batch)};
}

}  // namespace

std::vector<ModelCase> model_cases() {
  const models::GptOptions tiny{
      .vocab = 256, .block = 64, .layers = 4, .heads = 4, .dim = 128};
  models::GptOptions all_kept = tiny;
  all_kept.keep = models::GptKeep::kEverything;
  models::GptOptions nothing_kept = tiny;
  nothing_kept.keep = models::GptKeep::kNothing;
  const models::GptOptions nano{
      .vocab = 256, .block = 256, .layers = 6, .heads = 6, .dim = 384};
  models::GptOptions nano_anew = nano;
  nano_anew.keep = models::GptKeep::kNothing;
  return {mlp_case(64, "sgd"),
          mlp_case(64, "adam"),
          mlp_case(512, "sgd"),
          mlp_case(512, "adam"),
          cnn_case(64),
          resnet_case(32),
          gpt_case("GPT tiny AdamW", tiny, 16),
          gpt_case("GPT tiny AdamW, all kept", all_kept, 16),
          beside(gpt_case("GPT tiny AdamW, nothing kept", nothing_kept, 16),
                 "GPT tiny AdamW"),
          gpt_case("GPT nano AdamW", nano, 8, true),
          beside(gpt_case("GPT nano AdamW, nothing kept", nano_anew, 8, true),
                 "GPT nano AdamW"),
          lstm_case("LSTM 256 Adam",
                    {.features = 256, .hidden = 256, .outputs = 10}, 100, 32)};
}

}  // namespace neap::bench
