// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/lstm_stack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "neap/base/raise.hpp"
#include "neap/nn/init.hpp"
#include "neap/ops/concat.hpp"
#include "neap/ops/dropout.hpp"
#include "neap/ops/linear.hpp"
#include "neap/ops/narrow.hpp"
#include "neap/ops/operators.hpp"
#include "neap/ops/sigmoid.hpp"
#include "neap/ops/tanh.hpp"
#include "neap/ops/transpose.hpp"
#include "neap/tensor/create.hpp"

namespace neap::models {

using base::raise;

namespace {

void check(const LstmOptions& o) {
  if (o.features < 1 || o.hidden < 1 || o.layers < 1 || o.outputs < 1) {
    raise<ValueError>(
        "lstm: features {}, hidden {}, layers {}, outputs {}, expected at "
        "least 1 of each",
        o.features, o.hidden, o.layers, o.outputs);
  }
  if (!(o.dropout >= 0.0 && o.dropout < 1.0)) {
    raise<ValueError>("lstm: dropout is {}, expected 0 <= p < 1", o.dropout);
  }
  if (o.dtype != f32 && o.dtype != f64) {
    raise<DTypeError>("lstm: computes in f32 and f64, not in {}",
                      name_of(o.dtype));
  }
}

// What a step hands to the next; undefined is 0.
struct State {
  Tensor h;
  Tensor c;
};

// `gates`: (b, 4 hidden), what is applied to x and h.
State step(const Tensor& gates, const Tensor& c) {
  const std::int64_t n = gates.shape()[1] / 4;
  const auto gate = [&](std::int64_t k) { return narrow(gates, 1, k * n, n); };
  Tensor next = sigmoid(gate(0)) * tanh(gate(2));
  if (c.defined()) {
    next = sigmoid(gate(1)) * c + std::move(next);
  }
  Tensor h = sigmoid(gate(3)) * tanh(next);
  return {std::move(h), std::move(next)};
}

}  // namespace

LstmStack::LstmStack(const LstmOptions& options, CallSite site)
    : options_((check(options), options)) {
  const memory::ContextGuard guard(
      [](memory::Context& c) { c.category = memory::Category::kParameters; });
  const std::int64_t gates = base::checked_mul(4, options.hidden);
  const double bound = 1.0 / std::sqrt(static_cast<double>(options.hidden));
  for (std::int64_t k = 0; k < options.layers; ++k) {
    const auto made = [&](const char* name, const Shape& shape) {
      return nn::uniform_(
          register_parameter(fmt::format("{}_l{}", name, k),
                             empty(shape, options.dtype, site), site),
          -bound, bound, site);
    };
    const std::int64_t inputs = k == 0 ? options.features : options.hidden;
    weights_.push_back({.ih = made("weight_ih", {gates, inputs}),
                        .hh = made("weight_hh", {gates, options.hidden}),
                        .bias_ih = made("bias_ih", {gates}),
                        .bias_hh = made("bias_hh", {gates})});
  }
}

LstmStack::LstmStack(const LstmStack& other, nn::Cloning& cloning)
    : Cloneable(other, cloning), options_(other.options_) {
  for (std::int64_t k = 0; k < options_.layers; ++k) {
    const auto copied = [&](const char* name) {
      return parameter(fmt::format("{}_l{}", name, k));
    };
    weights_.push_back({.ih = copied("weight_ih"),
                        .hh = copied("weight_hh"),
                        .bias_ih = copied("bias_ih"),
                        .bias_hh = copied("bias_hh")});
  }
}

// x: (t, b, features). The gates' share of the inputs is made for some steps at
// once: enough for a good product, few enough to be a small part of what the
// steps keep.
Tensor LstmStack::run(const Weights& weights, const Tensor& x,
                      bool is_whole) const {
  constexpr std::int64_t kRows = 512;
  const std::int64_t steps = x.shape()[0];
  const std::int64_t batch = std::max<std::int64_t>(x.shape()[1], 1);
  const std::int64_t at_once = std::max<std::int64_t>(kRows / batch, 1);
  const Tensor bias = weights.bias_ih + weights.bias_hh;
  memory::Vector<Tensor> outputs;
  State state;
  Tensor given;  // (at_once or less, b, 4 hidden)
  for (std::int64_t t = 0; t < steps; ++t) {
    if (t % at_once == 0) {
      given = {};
      given = linear(narrow(x, 0, t, std::min(at_once, steps - t)), weights.ih,
                     bias);
    }
    Tensor gates = select(given, 0, t % at_once);
    if (state.h.defined()) {
      gates = linear(state.h, weights.hh) + gates;
    }
    state = step(gates, state.c);
    if (is_whole) {
      outputs.push_back(state.h);
    }
  }
  return is_whole ? stack(outputs) : state.h;
}

// What the last layer is given, (t, b, its features).
Tensor LstmStack::below_top(const Tensor& x) {
  if (x.rank() != 3 || x.shape()[1] < 1 || x.shape()[2] != options_.features) {
    raise<ShapeError>("lstm: x {}, expected (b, t, {}) with a step or more",
                      format_shape(x.shape()), options_.features);
  }
  Tensor h = transpose(x, 0, 1);
  for (std::size_t k = 0; k + 1 < weights_.size(); ++k) {
    h = dropout(run(weights_[k], h, true), options_.dropout, is_training());
  }
  return h;
}

Tensor LstmStack::forward(const Tensor& x) {
  return transpose(run(weights_.back(), below_top(x), true), 0, 1);
}

Tensor LstmStack::last(const Tensor& x, CallSite site) {
  const nn::ModuleScope scope(*this, site);
  Tensor h = run(weights_.back(), below_top(x), false);
  scope.note(h, x);
  return h;
}

}  // namespace neap::models
