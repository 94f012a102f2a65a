// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// RNN, LSTM, GRU: recurrent layers over whole sequences, in one or two
// directions, layer on layer, with PyTorch's parameters. Formulas and
// residuals: rnn.hpp, lstm.hpp and gru.hpp of ops/sequence/.
#pragma once

#include "neap/nn/layer.hpp"
#include "neap/nn/recurrent_weights.hpp"
#include "neap/ops/sequence/gru.hpp"
#include "neap/ops/sequence/lstm.hpp"
#include "neap/ops/sequence/rnn.hpp"

namespace neap::nn {

// Layer k has the parameters "weight_ih_l<k>" (gates h, inputs),
// "weight_hh_l<k>" (gates h, h) and, unless told otherwise, "bias_ih_l<k>" and
// "bias_hh_l<k>" (gates h); its second direction has them too, with "_reverse"
// behind the name. All are uniform in +-1 / sqrt(h). Layers above the first
// take h of both directions.
//
// x is (t, b, input), or (b, t, input) if `batch_first`; sequences may differ
// in length from call to call. The output has h of the last layer at every
// step, of both directions side by side: (t, b, directions h), or batch first.
// States are (layers directions, b, h), directions of a layer side by side;
// undefined: zeros. A sequence of one step from zeros leaves weight_hh without
// a gradient.
//
// The constructors THROW: ValueError for a size below 1 or a dropout outside
// [0, 1); DTypeError unless f32 or f64; OutOfMemory. Calls THROW: ShapeError
// (for no step too), DTypeError.

/// Elman's network, tanh or relu.
class NEAP_API RNN final : public Cloneable<RNN> {
 public:
  RNN(std::int64_t input, std::int64_t hidden,
      const RecurrentOptions& options = {},
      Nonlinearity nonlinearity = Nonlinearity::kTanh, DType dtype = f32,
      CallSite site = CallSite::here());
  RNN(const RNN& other, Cloning& cloning);

  Tensor forward(const Tensor& x) const override;
  /// The output, and h of every layer and direction after its last step.
  RecurrentResult run(const Tensor& x, const Tensor& h0 = {},
                      CallSite site = CallSite::here()) const;

 private:
  Tensor run_layers(const Tensor& x, const Tensor& h0,
                    memory::Vector<Tensor>* last) const;

  RecurrentLayers layers_;
  Nonlinearity nonlinearity_;
};

/// Long short-term memory; gates i, f, g, o.
class NEAP_API LSTM final : public Cloneable<LSTM> {
 public:
  LSTM(std::int64_t input, std::int64_t hidden,
       const RecurrentOptions& options = {}, DType dtype = f32,
       CallSite site = CallSite::here());
  LSTM(const LSTM& other, Cloning& cloning);

  Tensor forward(const Tensor& x) const override;
  /// The output, and the state of every layer and direction after its last
  /// step. THROW also: ValueError for half a state.
  LstmResult run(const Tensor& x, const LstmState& state = {},
                 CallSite site = CallSite::here()) const;

 private:
  Tensor run_layers(const Tensor& x, const LstmState& state,
                    memory::Vector<LstmState>* last) const;

  RecurrentLayers layers_;
};

/// Gated recurrent units; gates r, z, n.
class NEAP_API GRU final : public Cloneable<GRU> {
 public:
  GRU(std::int64_t input, std::int64_t hidden,
      const RecurrentOptions& options = {}, DType dtype = f32,
      CallSite site = CallSite::here());
  GRU(const GRU& other, Cloning& cloning);

  Tensor forward(const Tensor& x) const override;
  /// The same as RNN's.
  RecurrentResult run(const Tensor& x, const Tensor& h0 = {},
                      CallSite site = CallSite::here()) const;

 private:
  Tensor run_layers(const Tensor& x, const Tensor& h0,
                    memory::Vector<Tensor>* last) const;

  RecurrentLayers layers_;
};

extern template class Cloneable<RNN>;
extern template class Cloneable<LSTM>;
extern template class Cloneable<GRU>;

}  // namespace neap::nn
