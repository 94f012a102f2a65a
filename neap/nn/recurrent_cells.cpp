// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/recurrent_cells.hpp"

#include <cmath>

#include "neap/nn/init.hpp"
#include "neap/nn/recurrent_weights.hpp"
#include "neap/tensor/create.hpp"

namespace neap::nn {
namespace {

// `parameter(name, shape)` gives one of the cell's parameters.
template <class Parameter>
RecurrentWeights weights_from(const RecurrentSizes& sizes, bool has_bias,
                              const Parameter& parameter) {
  const std::int64_t rows = base::checked_mul(sizes.gates, sizes.hidden);
  RecurrentWeights weights{
      .w_ih = parameter("weight_ih", Shape{rows, sizes.input}),
      .w_hh = parameter("weight_hh", Shape{rows, sizes.hidden})};
  if (has_bias) {
    weights.b_ih = parameter("bias_ih", Shape{rows});
    weights.b_hh = parameter("bias_hh", Shape{rows});
  }
  return weights;
}

// `enter(name, tensor)` makes one a parameter of the cell.
template <class Enter>
RecurrentWeights made(const char* cell, const RecurrentSizes& sizes,
                      bool has_bias, DType dtype, const CallSite& site,
                      const Enter& enter) {
  RecurrentLayers::check(cell, sizes, {}, dtype);
  const memory::ContextGuard guard(
      [](memory::Context& c) { c.category = memory::Category::kParameters; });
  const double bound = 1.0 / std::sqrt(static_cast<double>(sizes.hidden));
  return weights_from(sizes, has_bias,
                      [&](const char* name, const Shape& shape) {
                        return uniform_(enter(name, empty(shape, dtype, site)),
                                        -bound, bound, site);
                      });
}

template <class Find>
RecurrentWeights copied(const RecurrentWeights& other, const Find& find) {
  return weights_from(
      {}, other.b_ih.is_given(),
      [&](const char* name, const Shape& /* shape */) { return find(name); });
}

}  // namespace

RNNCell::RNNCell(std::int64_t input, std::int64_t hidden, bool has_bias,
                 Nonlinearity nonlinearity, DType dtype, CallSite site)
    : weights_(made("RNNCell", {.input = input, .hidden = hidden}, has_bias,
                    dtype, site,
                    [&](const char* name, const Tensor& w) {
                      return register_parameter(name, w, site);
                    })),
      nonlinearity_(nonlinearity) {}

RNNCell::RNNCell(const RNNCell& other, Cloning& cloning)
    : Cloneable(other, cloning),
      weights_(copied(other.weights_,
                      [this](const char* name) { return parameter(name); })),
      nonlinearity_(other.nonlinearity_) {}

Tensor RNNCell::forward(const Tensor& x) const {
  return rnn_cell(x, {}, weights_, nonlinearity_);
}

Tensor RNNCell::step(const Tensor& x, const Tensor& h, CallSite site) const {
  const ModuleScope scope(*this, site);
  Tensor next = rnn_cell(x, h, weights_, nonlinearity_);
  scope.note(next, x);
  return next;
}

LSTMCell::LSTMCell(std::int64_t input, std::int64_t hidden, bool has_bias,
                   DType dtype, CallSite site)
    : weights_(made("LSTMCell", {.input = input, .hidden = hidden, .gates = 4},
                    has_bias, dtype, site,
                    [&](const char* name, const Tensor& w) {
                      return register_parameter(name, w, site);
                    })) {}

LSTMCell::LSTMCell(const LSTMCell& other, Cloning& cloning)
    : Cloneable(other, cloning),
      weights_(copied(other.weights_,
                      [this](const char* name) { return parameter(name); })) {}

Tensor LSTMCell::forward(const Tensor& x) const {
  return lstm_cell(x, {}, weights_).h;
}

LstmState LSTMCell::step(const Tensor& x, const LstmState& state,
                         CallSite site) const {
  const ModuleScope scope(*this, site);
  LstmState next = lstm_cell(x, state, weights_);
  scope.note(next.h, x);
  return next;
}

GRUCell::GRUCell(std::int64_t input, std::int64_t hidden, bool has_bias,
                 DType dtype, CallSite site)
    : weights_(made("GRUCell", {.input = input, .hidden = hidden, .gates = 3},
                    has_bias, dtype, site,
                    [&](const char* name, const Tensor& w) {
                      return register_parameter(name, w, site);
                    })) {}

GRUCell::GRUCell(const GRUCell& other, Cloning& cloning)
    : Cloneable(other, cloning),
      weights_(copied(other.weights_,
                      [this](const char* name) { return parameter(name); })) {}

Tensor GRUCell::forward(const Tensor& x) const {
  return gru_cell(x, {}, weights_);
}

Tensor GRUCell::step(const Tensor& x, const Tensor& h, CallSite site) const {
  const ModuleScope scope(*this, site);
  Tensor next = gru_cell(x, h, weights_);
  scope.note(next, x);
  return next;
}

template class Cloneable<RNNCell>;
template class Cloneable<LSTMCell>;
template class Cloneable<GRUCell>;

}  // namespace neap::nn
