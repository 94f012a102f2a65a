// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/recurrent.hpp"

#include <cmath>

#include "neap/nn/for_parameter.hpp"
#include "neap/nn/init.hpp"
#include "neap/ops/shape/concat.hpp"
#include "neap/tensor/create.hpp"

namespace neap::nn {
namespace {

// `enter(name, tensor)` makes one a parameter of the layer.
template <class Enter>
RecurrentLayers made(const char* name, const RecurrentSizes& sizes,
                     const RecurrentOptions& options, DType dtype,
                     const CallSite& site, const Enter& enter) {
  RecurrentLayers::check(name, sizes, options, dtype);
  const double bound = 1.0 / std::sqrt(static_cast<double>(sizes.hidden));
  return {sizes, options,
          [&](const memory::String& parameter, const Shape& shape) {
            return uniform_(enter(parameter, for_parameter(shape, dtype, site)),
                            -bound, bound, site);
          }};
}

// `find(name)` gives a parameter that the layer has.
template <class Find>
RecurrentLayers copied(const RecurrentLayers& other, const Find& find) {
  return {other.sizes(), other.options(),
          [&](const memory::String& parameter, const Shape& /* shape */) {
            return find(parameter);
          }};
}

}  // namespace

// --- RNN -------------------------------------------------------------------

RNN::RNN(std::int64_t input, std::int64_t hidden,
         const RecurrentOptions& options, Nonlinearity nonlinearity,
         DType dtype, CallSite site)
    : layers_(made("RNN", {.input = input, .hidden = hidden}, options, dtype,
                   site,
                   [&](const memory::String& name, const Tensor& w) {
                     return register_parameter(name, w, site);
                   })),
      nonlinearity_(nonlinearity) {}

RNN::RNN(const RNN& other, Cloning& cloning)
    : Cloneable(other, cloning),
      layers_(copied(
          other.layers_,
          [this](const memory::String& name) { return parameter(name); })),
      nonlinearity_(other.nonlinearity_) {}

Tensor RNN::run_layers(const Tensor& x, const Tensor& h0,
                       memory::Vector<Tensor>* last) const {
  return layers_.run(
      "RNN", x, is_training(),
      [&](const Tensor& in, const RecurrentWeights& weights, std::int64_t index,
          bool is_reverse) {
        RecurrentResult result =
            rnn(in, weights, layers_.state_of("RNN", h0, index),
                {.nonlinearity = nonlinearity_, .is_reverse = is_reverse});
        if (last != nullptr) {
          last->push_back(std::move(result.h));
        }
        return std::move(result.output);
      });
}

Tensor RNN::forward(const Tensor& x) const {
  return run_layers(x, {}, nullptr);
}

RecurrentResult RNN::run(const Tensor& x, const Tensor& h0,
                         CallSite site) const {
  const ModuleScope scope(*this, site);
  memory::Vector<Tensor> last;
  Tensor y = run_layers(x, h0, &last);
  scope.note(y, x);
  return {std::move(y), stack(last)};
}

// --- LSTM ------------------------------------------------------------------

LSTM::LSTM(std::int64_t input, std::int64_t hidden,
           const RecurrentOptions& options, DType dtype, CallSite site)
    : layers_(made("LSTM", {.input = input, .hidden = hidden, .gates = 4},
                   options, dtype, site,
                   [&](const memory::String& name, const Tensor& w) {
                     return register_parameter(name, w, site);
                   })) {}

LSTM::LSTM(const LSTM& other, Cloning& cloning)
    : Cloneable(other, cloning),
      layers_(copied(other.layers_, [this](const memory::String& name) {
        return parameter(name);
      })) {}

Tensor LSTM::run_layers(const Tensor& x, const LstmState& state,
                        memory::Vector<LstmState>* last) const {
  return layers_.run("LSTM", x, is_training(),
                     [&](const Tensor& in, const RecurrentWeights& weights,
                         std::int64_t index, bool is_reverse) {
                       LstmResult result =
                           lstm(in, weights,
                                {layers_.state_of("LSTM", state.h, index),
                                 layers_.state_of("LSTM", state.c, index)},
                                is_reverse);
                       if (last != nullptr) {
                         last->push_back(std::move(result.state));
                       }
                       return std::move(result.output);
                     });
}

Tensor LSTM::forward(const Tensor& x) const {
  return run_layers(x, {}, nullptr);
}

LstmResult LSTM::run(const Tensor& x, const LstmState& state,
                     CallSite site) const {
  const ModuleScope scope(*this, site);
  memory::Vector<LstmState> last;
  Tensor y = run_layers(x, state, &last);
  scope.note(y, x);
  memory::Vector<Tensor> h;
  memory::Vector<Tensor> c;
  for (LstmState& one : last) {
    h.push_back(std::move(one.h));
    c.push_back(std::move(one.c));
  }
  return {std::move(y), {stack(h), stack(c)}};
}

// --- GRU -------------------------------------------------------------------

GRU::GRU(std::int64_t input, std::int64_t hidden,
         const RecurrentOptions& options, DType dtype, CallSite site)
    : layers_(made("GRU", {.input = input, .hidden = hidden, .gates = 3},
                   options, dtype, site,
                   [&](const memory::String& name, const Tensor& w) {
                     return register_parameter(name, w, site);
                   })) {}

GRU::GRU(const GRU& other, Cloning& cloning)
    : Cloneable(other, cloning),
      layers_(copied(other.layers_, [this](const memory::String& name) {
        return parameter(name);
      })) {}

Tensor GRU::run_layers(const Tensor& x, const Tensor& h0,
                       memory::Vector<Tensor>* last) const {
  return layers_.run("GRU", x, is_training(),
                     [&](const Tensor& in, const RecurrentWeights& weights,
                         std::int64_t index, bool is_reverse) {
                       RecurrentResult result =
                           gru(in, weights, layers_.state_of("GRU", h0, index),
                               is_reverse);
                       if (last != nullptr) {
                         last->push_back(std::move(result.h));
                       }
                       return std::move(result.output);
                     });
}

Tensor GRU::forward(const Tensor& x) const {
  return run_layers(x, {}, nullptr);
}

RecurrentResult GRU::run(const Tensor& x, const Tensor& h0,
                         CallSite site) const {
  const ModuleScope scope(*this, site);
  memory::Vector<Tensor> last;
  Tensor y = run_layers(x, h0, &last);
  scope.note(y, x);
  return {std::move(y), stack(last)};
}

template class Cloneable<RNN>;
template class Cloneable<LSTM>;
template class Cloneable<GRU>;

}  // namespace neap::nn
