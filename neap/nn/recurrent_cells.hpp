// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// RNNCell, LSTMCell, GRUCell: one step at a time, for loops of one's own.
#pragma once

#include "neap/nn/layer.hpp"
#include "neap/ops/sequence/gru.hpp"
#include "neap/ops/sequence/lstm.hpp"
#include "neap/ops/sequence/rnn.hpp"

namespace neap::nn {

// Parameters "weight_ih" (gates h, input), "weight_hh" (gates h, h) and, unless
// told otherwise, "bias_ih" and "bias_hh" (gates h), all uniform in +-1 /
// sqrt(h). x is (b, input), a state (b, h), undefined: zeros. forward() is a
// step from zeros. A whole sequence runs faster through RNN, LSTM and GRU
// (recurrent.hpp), whose results are the same.
//
// The constructors THROW: ValueError for a size below 1; DTypeError unless f32
// or f64; OutOfMemory. Calls THROW: ShapeError, DTypeError.

class NEAP_API RNNCell final : public Cloneable<RNNCell> {
 public:
  RNNCell(std::int64_t input, std::int64_t hidden, bool has_bias = true,
          Nonlinearity nonlinearity = Nonlinearity::kTanh, DType dtype = f32,
          CallSite site = CallSite::here());
  RNNCell(const RNNCell& other, Cloning& cloning);

  Tensor forward(const Tensor& x) const override;
  Tensor step(const Tensor& x, const Tensor& h,
              CallSite site = CallSite::here()) const;

 private:
  RecurrentWeights weights_;
  Nonlinearity nonlinearity_;
};

class NEAP_API LSTMCell final : public Cloneable<LSTMCell> {
 public:
  LSTMCell(std::int64_t input, std::int64_t hidden, bool has_bias = true,
           DType dtype = f32, CallSite site = CallSite::here());
  LSTMCell(const LSTMCell& other, Cloning& cloning);

  Tensor forward(const Tensor& x) const override;
  LstmState step(const Tensor& x, const LstmState& state,
                 CallSite site = CallSite::here()) const;

 private:
  RecurrentWeights weights_;
};

class NEAP_API GRUCell final : public Cloneable<GRUCell> {
 public:
  GRUCell(std::int64_t input, std::int64_t hidden, bool has_bias = true,
          DType dtype = f32, CallSite site = CallSite::here());
  GRUCell(const GRUCell& other, Cloning& cloning);

  Tensor forward(const Tensor& x) const override;
  Tensor step(const Tensor& x, const Tensor& h,
              CallSite site = CallSite::here()) const;

 private:
  RecurrentWeights weights_;
};

extern template class Cloneable<RNNCell>;
extern template class Cloneable<LSTMCell>;
extern template class Cloneable<GRUCell>;

}  // namespace neap::nn
