// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/unet.hpp"

#include <fmt/format.h>

#include "neap/base/raise.hpp"
#include "neap/nn/batch_norm.hpp"
#include "neap/nn/layers.hpp"
#include "neap/nn/pool.hpp"
#include "neap/ops/shape/concat.hpp"

namespace neap::models {

using base::raise;

namespace {

constexpr std::int64_t kMaxDepth = 16;

nn::Sequential two_convs(std::int64_t in, std::int64_t out, DType dtype,
                         const CallSite& site) {
  nn::Sequential layers;
  for (const std::int64_t from : {in, out}) {
    layers.push(nn::Conv2d(from, out, 3, {.padding = 1}, false, dtype, site));
    layers.push(nn::BatchNorm2d(out, {}, dtype, site));
    layers.push(nn::ReLU());
  }
  return layers;
}

// "maxpool_conv" of a step down.
nn::Sequential down_of(std::int64_t in, DType dtype, const CallSite& site) {
  nn::Sequential pool_conv;
  pool_conv.push(nn::MaxPool2d({.kernel = 2}));
  pool_conv.push(DoubleConv(in, 2 * in, dtype, site));
  nn::Sequential down;
  down.push("maxpool_conv", std::move(pool_conv));
  return down;
}

const UNetOptions& checked(const UNetOptions& options) {
  if (options.depth < 1 || options.depth > kMaxDepth || options.width < 1) {
    raise<ValueError>("UNet: depth {} and width {}, expected 1 to {} and 1",
                      options.depth, options.width, kMaxDepth);
  }
  return options;
}

}  // namespace

DoubleConv::DoubleConv(std::int64_t in, std::int64_t out, DType dtype,
                       CallSite site)
    : layers_(two_convs(in, out, dtype, site)) {
  register_module("double_conv", layers_);
}

DoubleConv::DoubleConv(const DoubleConv& other, nn::Cloning& cloning)
    : Cloneable(other, cloning), layers_(other.layers_, cloning) {
  register_module("double_conv", layers_);
}

UNetUp::UNetUp(std::int64_t in, DType dtype, CallSite site)
    : up_(in, in / 2, 2, {.stride = 2}, true, dtype, site),
      conv_(in, in / 2, dtype, site) {
  name_parts();
}

UNetUp::UNetUp(const UNetUp& other, nn::Cloning& cloning)
    : Module(other, cloning),
      up_(other.up_, cloning),
      conv_(other.conv_, cloning) {
  name_parts();
}

void UNetUp::name_parts() {
  register_module("up", up_);
  register_module("conv", conv_);
}

Tensor UNetUp::operator()(const Tensor& below, const Tensor& beside,
                          CallSite site) const {
  const nn::ModuleScope scope(*this, site);
  Tensor y = conv_(concat({beside, up_(below)}, 1));
  scope.note(y, below, beside);
  return y;
}

UNet::UNet(const UNetOptions& options, CallSite site)
    : inc_(checked(options).channels, options.width, options.dtype, site) {
  const auto depth = static_cast<std::size_t>(options.depth);
  downs_.reserve(depth);
  ups_.reserve(depth);
  for (std::int64_t k = 0; k < options.depth; ++k) {
    downs_.push_back(down_of(options.width << k, options.dtype, site));
  }
  for (std::int64_t k = options.depth; k > 0; --k) {
    ups_.emplace_back(options.width << k, options.dtype, site);
  }
  outc_.push("conv", nn::Conv2d(options.width, options.classes, 1, {}, true,
                                options.dtype, site));
  name_parts();
}

UNet::UNet(const UNet& other, nn::Cloning& cloning)
    : Cloneable(other, cloning),
      inc_(other.inc_, cloning),
      outc_(other.outc_, cloning) {
  downs_.reserve(other.downs_.size());
  ups_.reserve(other.ups_.size());
  for (const nn::Sequential& down : other.downs_) {
    downs_.emplace_back(down, cloning);
  }
  for (const UNetUp& up : other.ups_) {
    ups_.emplace_back(up, cloning);
  }
  name_parts();
}

// The parts stay where the registry does.
// NOLINTBEGIN(bugprone-use-after-move)
UNet::UNet(UNet&& other) noexcept
    : Cloneable(std::move(other)),
      inc_(std::move(other.inc_)),
      downs_(other.is_moved_from() ? std::move(other.downs_)
                                   : decltype(downs_)()),
      ups_(other.is_moved_from() ? std::move(other.ups_) : decltype(ups_)()),
      outc_(std::move(other.outc_)) {}

// NOLINTNEXTLINE(performance-noexcept-move-constructor): as nn::Module's
UNet& UNet::operator=(UNet&& other) {
  Cloneable::operator=(std::move(other));
  if (other.is_moved_from()) {
    inc_ = std::move(other.inc_);
    downs_ = std::move(other.downs_);
    ups_ = std::move(other.ups_);
    outc_ = std::move(other.outc_);
  }
  return *this;
}
// NOLINTEND(bugprone-use-after-move)

void UNet::name_parts() {
  register_module("inc", inc_);
  for (std::size_t k = 0; k < downs_.size(); ++k) {
    register_module(fmt::format("down{}", k + 1), downs_[k]);
  }
  for (std::size_t k = 0; k < ups_.size(); ++k) {
    register_module(fmt::format("up{}", k + 1), ups_[k]);
  }
  register_module("outc", outc_);
}

Tensor UNet::forward(const Tensor& x) const {
  const std::int64_t unit = std::int64_t{1} << downs_.size();
  if (x.rank() != 4 || x.size(2) % unit != 0 || x.size(3) % unit != 0) {
    raise<ShapeError>(
        "UNet: images {}, expected (n, channels, h, w) with h and w multiples "
        "of {}",
        format_shape(x.shape()), unit);
  }
  memory::Vector<Tensor> levels;  // what the way down leaves beside it
  levels.reserve(downs_.size());
  Tensor y = inc_(x);
  for (const nn::Sequential& down : downs_) {
    levels.push_back(y);
    y = down(y);
  }
  for (const UNetUp& up : ups_) {
    y = up(y, levels.back());
    levels.pop_back();
  }
  return outc_(y);
}

}  // namespace neap::models

namespace neap::nn {
template class Cloneable<models::DoubleConv>;
template class Cloneable<models::UNet>;
}  // namespace neap::nn
