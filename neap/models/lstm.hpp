// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Lstm: the result of an nn::LSTM after a sequence's last step, through a
// linear layer. Children "lstm" and "fc".
#pragma once

#include "neap/nn/linear.hpp"
#include "neap/nn/recurrent.hpp"

namespace neap::models {

struct LstmOptions {
  std::int64_t features = 1;  // numbers of a step
  std::int64_t hidden = 1;
  std::int64_t layers = 1;
  std::int64_t outputs = 1;
  double dropout = 0.0;  // probability in [0, 1), between layers
  DType dtype = f32;
};

class NEAP_API Lstm final : public nn::Cloneable<Lstm> {
 public:
  /// THROWS: as nn::LSTM and nn::Linear.
  explicit Lstm(const LstmOptions& options, CallSite site = CallSite::here());
  Lstm(const Lstm& other, nn::Cloning& cloning);

  /// (b, t, features) -> (b, outputs). THROWS: ShapeError, for no step too.
  Tensor forward(const Tensor& x) const override;

 private:
  void name_parts();

  nn::LSTM lstm_;
  nn::Linear fc_;
};

}  // namespace neap::models

namespace neap::nn {
extern template class Cloneable<models::Lstm>;
}  // namespace neap::nn
