// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/mlp.hpp"

#include <fmt/format.h>

#include "neap/base/raise.hpp"
#include "neap/ops/activation/relu.hpp"
#include "neap/ops/elementwise/dropout.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::models {

Mlp::Mlp(std::span<const std::int64_t> widths, const MlpOptions& options,
         CallSite site)
    : dropout_(options.dropout) {
  if (widths.size() < 2) {
    base::raise<ValueError>("mlp: {} widths, expected inputs and outputs",
                            widths.size());
  }
  layers_.reserve(widths.size() - 1);
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    push(nn::Linear(widths[i], widths[i + 1], true, options.dtype, site));
  }
}

Mlp::Mlp(const Mlp& other, nn::Cloning& cloning)
    : Cloneable(other, cloning), dropout_(other.dropout_) {
  layers_.reserve(other.layers_.size());
  for (const nn::Linear& layer : other.layers_) {
    push(nn::Linear(layer, cloning));
  }
}

// The layers stay where the registry does.
// NOLINTBEGIN(bugprone-use-after-move)
Mlp::Mlp(Mlp&& other) noexcept
    : Cloneable(std::move(other)),
      layers_(other.is_moved_from() ? std::move(other.layers_)
                                    : decltype(layers_)()),
      dropout_(other.dropout_) {}

// NOLINTNEXTLINE(performance-noexcept-move-constructor): as nn::Module's
Mlp& Mlp::operator=(Mlp&& other) {
  Cloneable::operator=(std::move(other));
  if (other.is_moved_from()) {
    layers_ = std::move(other.layers_);
    dropout_ = other.dropout_;
  }
  return *this;
}
// NOLINTEND(bugprone-use-after-move)

void Mlp::push(nn::Linear layer) {
  layers_.push_back(std::move(layer));
  register_module(fmt::format("fc{}", layers_.size()), layers_.back());
}

Tensor Mlp::forward(const Tensor& input) const {
  Tensor x = input.rank() == 2 ? input : flatten(input, 1);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    x = layers_[i](x);
    if (i + 1 < layers_.size()) {
      x = relu(std::move(x));
      if (dropout_ > 0.0) {
        x = dropout(std::move(x), dropout_, is_training());
      }
    }
  }
  return x;
}

}  // namespace neap::models

namespace neap::nn {
template class Cloneable<models::Mlp>;
}  // namespace neap::nn
