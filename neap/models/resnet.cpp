// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/resnet.hpp"

#include <algorithm>
#include <array>

#include "neap/base/raise.hpp"
#include "neap/ops/activation/relu.hpp"
#include "neap/ops/conv/max_pool2d.hpp"
#include "neap/ops/reduction/sum.hpp"

namespace neap::models {
namespace {

struct Form {
  std::int64_t layers;
  std::array<std::int64_t, 4> blocks;  // of each stage
  bool is_bottleneck;
};

const Form& form_of(const ResNetOptions& options) {
  static constexpr std::array<Form, 5> kForms{{{18, {2, 2, 2, 2}, false},
                                               {34, {3, 4, 6, 3}, false},
                                               {50, {3, 4, 6, 3}, true},
                                               {101, {3, 4, 23, 3}, true},
                                               {152, {3, 8, 36, 3}, true}}};
  const auto found = std::ranges::find(kForms, options.layers, &Form::layers);
  if (found == kForms.end()) {
    base::raise<ValueError>(
        "ResNet: {} layers, expected 18, 34, 50, 101 or 152", options.layers);
  }
  return *found;
}

// Channels of what a stage makes.
std::int64_t channels_of(const ResNetOptions& options, std::size_t stage) {
  const std::int64_t width = options.width << stage;
  return form_of(options).is_bottleneck ? ResNetBottleneck::kWider * width
                                        : width;
}

// Stage 0 keeps the size; each later one halves it and has twice the channels.
nn::Sequential stage_of(const ResNetOptions& options, std::size_t stage,
                        const CallSite& site) {
  const Form& form = form_of(options);
  const std::int64_t width = options.width << stage;
  const std::int64_t out = channels_of(options, stage);
  std::int64_t in =
      stage == 0 ? options.width : channels_of(options, stage - 1);
  std::int64_t stride = stage > 0 ? 2 : 1;
  nn::Sequential blocks;
  for (std::int64_t i = 0; i < form.blocks[stage]; ++i) {
    if (form.is_bottleneck) {
      blocks.push(ResNetBottleneck(in, width, stride, options.dtype, site));
    } else {
      blocks.push(ResNetBlock(in, out, stride, options.dtype, site));
    }
    in = out;
    stride = 1;
  }
  return blocks;
}

nn::Conv2d stem_of(const ResNetOptions& options, const CallSite& site) {
  const bool is_large = options.stem == ResNetStem::kLarge;
  return resnet_conv(options.channels, options.width, is_large ? 7 : 3,
                     is_large ? 2 : 1, options.dtype, site);
}

}  // namespace

ResNet::ResNet(const ResNetOptions& options, CallSite site)
    : stem_(options.stem),
      conv1_(stem_of(options, site)),
      bn1_(options.width, {}, options.dtype, site),
      layer1_(stage_of(options, 0, site)),
      layer2_(stage_of(options, 1, site)),
      layer3_(stage_of(options, 2, site)),
      layer4_(stage_of(options, 3, site)),
      fc_(channels_of(options, 3), options.classes, true, options.dtype, site) {
  name_parts();
}

ResNet::ResNet(const ResNet& other, nn::Cloning& cloning)
    : Cloneable(other, cloning),
      stem_(other.stem_),
      conv1_(other.conv1_, cloning),
      bn1_(other.bn1_, cloning),
      layer1_(other.layer1_, cloning),
      layer2_(other.layer2_, cloning),
      layer3_(other.layer3_, cloning),
      layer4_(other.layer4_, cloning),
      fc_(other.fc_, cloning) {
  name_parts();
}

void ResNet::name_parts() {
  register_module("conv1", conv1_);
  register_module("bn1", bn1_);
  register_module("layer1", layer1_);
  register_module("layer2", layer2_);
  register_module("layer3", layer3_);
  register_module("layer4", layer4_);
  register_module("fc", fc_);
}

Tensor ResNet::forward(const Tensor& x) const {
  Tensor y = relu(bn1_(conv1_(x)));
  if (stem_ == ResNetStem::kLarge) {
    y = max_pool2d(y, {.kernel = 3, .stride = 2, .padding = 1});
  }
  y = layer4_(layer3_(layer2_(layer1_(y))));
  return fc_(mean(y, {2, 3}));
}

}  // namespace neap::models

namespace neap::nn {
template class Cloneable<models::ResNet>;
}  // namespace neap::nn
