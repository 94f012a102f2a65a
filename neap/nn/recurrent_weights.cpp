// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/recurrent_weights.hpp"

#include <fmt/core.h>

#include "neap/base/append.hpp"
#include "neap/base/raise.hpp"
#include "neap/ops/elementwise/dropout.hpp"
#include "neap/ops/shape/concat.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::nn {

using base::raise;

void RecurrentLayers::check(const char* name, const RecurrentSizes& sizes,
                            const RecurrentOptions& options, DType dtype) {
  if (sizes.input < 1 || sizes.hidden < 1 || options.num_layers < 1) {
    raise<ValueError>(
        "{}: {} inputs, {} hidden units and {} layers, expected at least one "
        "of each",
        name, sizes.input, sizes.hidden, options.num_layers);
  }
  constexpr std::int64_t kMostLayers = 1 << 20;  // far beyond any memory
  if (options.num_layers > kMostLayers) {
    raise<ValueError>("{}: {} layers, expected at most {}", name,
                      options.num_layers, kMostLayers);
  }
  if (!(options.dropout >= 0.0 && options.dropout < 1.0)) {
    raise<ValueError>("{}: dropout is {}, expected 0 <= p < 1", name,
                      options.dropout);
  }
  if (dtype != f32 && dtype != f64) {
    raise<DTypeError>("{}: computes in f32 and f64, not in {}", name,
                      name_of(dtype));
  }
}

RecurrentLayers::RecurrentLayers(const RecurrentSizes& sizes,
                                 const RecurrentOptions& options,
                                 const Parameters& parameters)
    : sizes_(sizes), options_(options) {
  const std::int64_t rows = base::checked_mul(sizes.gates, sizes.hidden);
  weights_.reserve(static_cast<std::size_t>(count()));
  for (std::int64_t index = 0; index < count(); ++index) {
    const std::int64_t layer = index / directions();
    const char* suffix = index % directions() == 1 ? "_reverse" : "";
    const auto parameter = [&](const char* kind, const Shape& shape) {
      memory::String name;
      base::append(name, "{}_l{}{}", kind, layer, suffix);
      return parameters(name, shape);
    };
    const std::int64_t inputs =
        layer == 0 ? sizes.input : directions() * sizes.hidden;
    RecurrentWeights weights{
        .w_ih = parameter("weight_ih", {rows, inputs}),
        .w_hh = parameter("weight_hh", {rows, sizes.hidden})};
    if (options.bias) {
      weights.b_ih = parameter("bias_ih", {rows});
      weights.b_hh = parameter("bias_hh", {rows});
    }
    weights_.push_back(std::move(weights));
  }
}

RecurrentLayers::RecurrentLayers(RecurrentLayers&& other) noexcept
    : sizes_(other.sizes_),
      options_(other.options_),
      weights_(other.origin_.may_move() ? std::move(other.weights_)
                                        : decltype(weights_)()) {}

// NOLINTNEXTLINE(performance-noexcept-move-constructor): as Module's
RecurrentLayers& RecurrentLayers::operator=(RecurrentLayers&& other) {
  if (origin_.may_move() && other.origin_.may_move()) {
    sizes_ = other.sizes_;
    options_ = other.options_;
    weights_ = std::move(other.weights_);
  }
  return *this;
}

Tensor RecurrentLayers::run(const char* name, const Tensor& x, bool is_training,
                            const Run& layer) const {
  if (x.rank() != 3 || x.size(2) != sizes_.input) {
    raise<ShapeError>(
        "{}: x {}, expected ({}, {})", name, format_shape(x.shape()),
        options_.batch_first ? "samples, steps" : "steps, samples",
        sizes_.input);
  }
  if (weights_.empty()) {
    raise<UseAfterRelease>("{}: used after it was moved from", name);
  }
  Tensor h = options_.batch_first ? transpose(x, 0, 1) : x;
  for (std::int64_t k = 0; k < options_.num_layers; ++k) {
    if (k > 0 && options_.dropout > 0.0) {
      h = dropout(std::move(h), options_.dropout, is_training);
    }
    const auto run_one = [&](std::int64_t direction) {
      const std::int64_t index = k * directions() + direction;
      return layer(h, weights_[static_cast<std::size_t>(index)], index,
                   direction == 1);
    };
    if (options_.bidirectional) {
      const Tensor forward = run_one(0);
      h = concat({forward, run_one(1)}, 2);
    } else {
      h = run_one(0);
    }
  }
  return options_.batch_first ? transpose(h, 0, 1) : h;
}

Tensor RecurrentLayers::state_of(const char* name, const Tensor& states,
                                 std::int64_t index) const {
  if (!states.is_given()) {
    return {};
  }
  if (states.rank() != 3 || states.size(0) != count()) {
    raise<ShapeError>("{}: states {}, expected ({}, samples, {})", name,
                      format_shape(states.shape()), count(), sizes_.hidden);
  }
  return select(states, 0, index);
}

}  // namespace neap::nn
