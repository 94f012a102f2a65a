// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/lenet.hpp"

#include "neap/models/images.hpp"
#include "neap/ops/activation/relu.hpp"
#include "neap/ops/conv/max_pool2d.hpp"
#include "neap/ops/elementwise/dropout.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::models {
namespace {

constexpr std::int64_t kPool = 2;

std::int64_t features_of(const LeNetOptions& options) {
  check_images("LeNet", options.image, kPool);
  return options.channels[1] * (options.image[1] / kPool) *
         (options.image[2] / kPool);
}

}  // namespace

LeNet::LeNet(const LeNetOptions& options, CallSite site)
    : dropout_(options.dropout),
      conv1_((check_images("LeNet", options.image, kPool), options.image[0]),
             options.channels[0], 3, {.padding = 1}, true, options.dtype, site),
      conv2_(options.channels[0], options.channels[1], 3, {.padding = 1}, true,
             options.dtype, site),
      fc_(features_of(options), options.classes, true, options.dtype, site) {
  check_probability("LeNet", dropout_);
  name_parts();
}

LeNet::LeNet(const LeNet& other, nn::Cloning& cloning)
    : Cloneable(other, cloning),
      dropout_(other.dropout_),
      conv1_(other.conv1_, cloning),
      conv2_(other.conv2_, cloning),
      fc_(other.fc_, cloning) {
  name_parts();
}

void LeNet::name_parts() {
  register_module("conv1", conv1_);
  register_module("conv2", conv2_);
  register_module("fc", fc_);
}

Tensor LeNet::forward(const Tensor& x) const {
  Tensor y = relu(conv2_(relu(conv1_(x))));
  y = flatten(max_pool2d(std::move(y), {.kernel = kPool}), 1);
  return fc_(dropout(std::move(y), dropout_, is_training()));
}

}  // namespace neap::models

namespace neap::nn {
template class Cloneable<models::LeNet>;
}  // namespace neap::nn
