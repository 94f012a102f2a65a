// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/resnet.hpp"

#include <array>

#include "neap/base/raise.hpp"
#include "neap/ops/activation/relu.hpp"
#include "neap/ops/reduction/sum.hpp"

namespace neap::models {
namespace {

std::int64_t blocks_of(std::int64_t layers, std::size_t stage) {
  constexpr std::array<std::int64_t, 4> k18{2, 2, 2, 2};
  constexpr std::array<std::int64_t, 4> k34{3, 4, 6, 3};
  if (layers != 18 && layers != 34) {
    base::raise<ValueError>("ResNet: {} layers, expected 18 or 34", layers);
  }
  return (layers == 18 ? k18 : k34)[stage];
}

// Stage 0 keeps the size; each later one halves it and has twice the channels.
nn::Sequential stage_of(const ResNetOptions& options, std::size_t stage,
                        const CallSite& site) {
  const std::int64_t out = options.width << stage;
  const std::int64_t in = stage == 0 ? out : out / 2;
  nn::Sequential blocks;
  for (std::int64_t i = 0; i < blocks_of(options.layers, stage); ++i) {
    const bool is_first = i == 0;
    blocks.push(ResNetBlock(is_first ? in : out, out,
                            is_first && stage > 0 ? 2 : 1, options.dtype,
                            site));
  }
  return blocks;
}

}  // namespace

ResNet::ResNet(const ResNetOptions& options, CallSite site)
    : conv1_(resnet_conv(options.channels, options.width, 3, 1, options.dtype,
                         site)),
      bn1_(options.width, {}, options.dtype, site),
      layer1_(stage_of(options, 0, site)),
      layer2_(stage_of(options, 1, site)),
      layer3_(stage_of(options, 2, site)),
      layer4_(stage_of(options, 3, site)),
      fc_(8 * options.width, options.classes, true, options.dtype, site) {
  name_parts();
}

ResNet::ResNet(const ResNet& other, nn::Cloning& cloning)
    : Cloneable(other, cloning),
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
  y = layer4_(layer3_(layer2_(layer1_(y))));
  return fc_(mean(y, {2, 3}));
}

}  // namespace neap::models

namespace neap::nn {
template class Cloneable<models::ResNet>;
}  // namespace neap::nn
