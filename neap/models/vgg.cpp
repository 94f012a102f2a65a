// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/vgg.hpp"

#include <array>

#include "neap/models/images.hpp"
#include "neap/nn/batch_norm.hpp"
#include "neap/nn/conv.hpp"
#include "neap/nn/init.hpp"
#include "neap/nn/layers.hpp"
#include "neap/nn/pool.hpp"
#include "neap/ops/elementwise/dropout.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::models {
namespace {

constexpr std::int64_t kPool = 0;
constexpr std::array<std::int64_t, 13> kPlan{
    1, kPool, 2, kPool, 4, 4, kPool, 8, 8, kPool, 8, 8, kPool};
constexpr std::int64_t kReduction = 32;  // of the sides, by five poolings

nn::Sequential features_of(const VggOptions& options, const CallSite& site) {
  check_images("Vgg11", options.image, kReduction);
  nn::Sequential features;
  std::int64_t channels = options.image[0];
  for (const std::int64_t step : kPlan) {
    if (step == kPool) {
      features.push(nn::MaxPool2d({.kernel = 2}));
      continue;
    }
    nn::Conv2d conv(channels, step * options.width, 3, {.padding = 1}, true,
                    options.dtype, site);
    nn::kaiming_normal_(conv.weight(), {.fan = nn::KaimingOptions::Fan::kOut});
    nn::constant_(conv.bias(), 0.0);
    features.push(std::move(conv));
    channels = step * options.width;
    if (options.batch_norm) {
      features.push(nn::BatchNorm2d(channels, {}, options.dtype, site));
    }
    features.push(nn::ReLU());
  }
  return features;
}

std::int64_t features_count(const VggOptions& options) {
  return 8 * options.width * (options.image[1] / kReduction) *
         (options.image[2] / kReduction);
}

}  // namespace

Vgg11::Vgg11(const VggOptions& options, CallSite site)
    : dropout_(options.dropout),
      features_(features_of(options, site)),
      classifier_(features_count(options), options.classes, true, options.dtype,
                  site) {
  check_probability("Vgg11", dropout_);
  name_parts();
}

Vgg11::Vgg11(const Vgg11& other, nn::Cloning& cloning)
    : Cloneable(other, cloning),
      dropout_(other.dropout_),
      features_(other.features_, cloning),
      classifier_(other.classifier_, cloning) {
  name_parts();
}

void Vgg11::name_parts() {
  register_module("features", features_);
  register_module("classifier", classifier_);
}

Tensor Vgg11::forward(const Tensor& x) const {
  return classifier_(
      dropout(flatten(features_(x), 1), dropout_, is_training()));
}

}  // namespace neap::models

namespace neap::nn {
template class Cloneable<models::Vgg11>;
}  // namespace neap::nn
