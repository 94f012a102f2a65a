// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// LstmStack: long short-term memory over a sequence, layer on layer, unrolled
// over time (Hochreiter and Schmidhuber, 1997; gates as torch.nn.LSTM's):
//
//   i, f, g, o = x_t w_ih^T + b_ih + h w_hh^T + b_hh     side by side
//   c = sigmoid(f) c + sigmoid(i) tanh(g)
//   h = sigmoid(o) tanh(c)                               c, h: 0 at first
#pragma once

#include <cstdint>

#include "neap/memory/containers.hpp"
#include "neap/nn/layer.hpp"

namespace neap::models {

struct LstmOptions {
  std::int64_t features = 1;  // of a step
  std::int64_t hidden = 1;
  std::int64_t layers = 1;
  std::int64_t outputs = 1;  // of Lstm's head
  double dropout = 0.0;      // between layers; probability, in [0, 1)
  DType dtype = f32;
};

/// For layer k the parameters "weight_ih_l<k>" (4 hidden, features or hidden),
/// "weight_hh_l<k>" (4 hidden, hidden), "bias_ih_l<k>" and "bias_hh_l<k>" (4
/// hidden), all uniform in +-1 / sqrt(hidden). What the inputs give to the
/// gates is one product for all steps; each step then makes one of its own. A
/// sequence of one step leaves weight_hh without a gradient.
class NEAP_API LstmStack final : public nn::Cloneable<LstmStack> {
 public:
  /// THROWS: ValueError for a size below 1 or a dropout outside [0, 1);
  /// DTypeError unless f32 or f64; OutOfMemory.
  explicit LstmStack(const LstmOptions& options,
                     CallSite site = CallSite::here());
  LstmStack(const LstmStack& other, nn::Cloning& cloning);

  /// (b, t, features) -> h of the last layer at every step, (b, t, hidden).
  /// THROWS: ShapeError, for no step too.
  Tensor forward(const Tensor& x) override;
  /// h of the last layer after the last step, (b, hidden).
  Tensor last(const Tensor& x, CallSite site = CallSite::here());

 private:
  struct Weights {
    Tensor ih;
    Tensor hh;
    Tensor bias_ih;
    Tensor bias_hh;
  };

  Tensor below_top(const Tensor& x);
  Tensor run(const Weights& weights, const Tensor& x, bool is_whole) const;

  LstmOptions options_;
  memory::Vector<Weights> weights_;  // of each layer
};

}  // namespace neap::models
