// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/resnet_block.hpp"

#include "neap/nn/init.hpp"
#include "neap/ops/activation/relu.hpp"
#include "neap/ops/operators.hpp"

namespace neap::models {
namespace {

nn::Sequential shortcut(std::int64_t in, std::int64_t out, std::int64_t stride,
                        DType dtype, const CallSite& site) {
  nn::Sequential layers;
  if (in != out || stride != 1) {
    layers.push(resnet_conv(in, out, 1, stride, dtype, site));
    layers.push(nn::BatchNorm2d(out, {}, dtype, site));
  }
  return layers;
}

}  // namespace

nn::Conv2d resnet_conv(std::int64_t in, std::int64_t out, std::int64_t kernel,
                       std::int64_t stride, DType dtype, const CallSite& site) {
  nn::Conv2d conv(in, out, kernel, {.stride = stride, .padding = kernel / 2},
                  false, dtype, site);
  nn::kaiming_normal_(conv.weight(), {.fan = nn::KaimingOptions::Fan::kOut},
                      site);
  return conv;
}

ResNetBlock::ResNetBlock(std::int64_t in, std::int64_t out, std::int64_t stride,
                         DType dtype, CallSite site)
    : conv1_(resnet_conv(in, out, 3, stride, dtype, site)),
      bn1_(out, {}, dtype, site),
      conv2_(resnet_conv(out, out, 3, 1, dtype, site)),
      bn2_(out, {}, dtype, site),
      downsample_(shortcut(in, out, stride, dtype, site)) {
  name_parts();
}

ResNetBlock::ResNetBlock(const ResNetBlock& other, nn::Cloning& cloning)
    : Cloneable(other, cloning),
      conv1_(other.conv1_, cloning),
      bn1_(other.bn1_, cloning),
      conv2_(other.conv2_, cloning),
      bn2_(other.bn2_, cloning),
      downsample_(other.downsample_, cloning) {
  name_parts();
}

void ResNetBlock::name_parts() {
  register_module("conv1", conv1_);
  register_module("bn1", bn1_);
  register_module("conv2", conv2_);
  register_module("bn2", bn2_);
  if (downsample_.size() > 0) {
    register_module("downsample", downsample_);
  }
}

Tensor ResNetBlock::forward(const Tensor& x) const {
  Tensor y = bn2_(conv2_(relu(bn1_(conv1_(x)))));
  y = std::move(y) + (downsample_.size() > 0 ? downsample_(x) : x);
  return relu(std::move(y));
}

ResNetBottleneck::ResNetBottleneck(std::int64_t in, std::int64_t width,
                                   std::int64_t stride, DType dtype,
                                   CallSite site)
    : conv1_(resnet_conv(in, width, 1, 1, dtype, site)),
      bn1_(width, {}, dtype, site),
      conv2_(resnet_conv(width, width, 3, stride, dtype, site)),
      bn2_(width, {}, dtype, site),
      conv3_(resnet_conv(width, kWider * width, 1, 1, dtype, site)),
      bn3_(kWider * width, {}, dtype, site),
      downsample_(shortcut(in, kWider * width, stride, dtype, site)) {
  name_parts();
}

ResNetBottleneck::ResNetBottleneck(const ResNetBottleneck& other,
                                   nn::Cloning& cloning)
    : Cloneable(other, cloning),
      conv1_(other.conv1_, cloning),
      bn1_(other.bn1_, cloning),
      conv2_(other.conv2_, cloning),
      bn2_(other.bn2_, cloning),
      conv3_(other.conv3_, cloning),
      bn3_(other.bn3_, cloning),
      downsample_(other.downsample_, cloning) {
  name_parts();
}

void ResNetBottleneck::name_parts() {
  register_module("conv1", conv1_);
  register_module("bn1", bn1_);
  register_module("conv2", conv2_);
  register_module("bn2", bn2_);
  register_module("conv3", conv3_);
  register_module("bn3", bn3_);
  if (downsample_.size() > 0) {
    register_module("downsample", downsample_);
  }
}

Tensor ResNetBottleneck::forward(const Tensor& x) const {
  Tensor y = relu(bn1_(conv1_(x)));
  y = bn3_(conv3_(relu(bn2_(conv2_(y)))));
  y = std::move(y) + (downsample_.size() > 0 ? downsample_(x) : x);
  return relu(std::move(y));
}

}  // namespace neap::models

namespace neap::nn {
template class Cloneable<models::ResNetBlock>;
template class Cloneable<models::ResNetBottleneck>;
}  // namespace neap::nn
