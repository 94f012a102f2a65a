// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Lstm: what an LstmStack has made of a sequence after its last step, through a
// linear layer. Children "lstm" and "fc".
#pragma once

#include "neap/models/lstm_stack.hpp"
#include "neap/nn/linear.hpp"

namespace neap::models {

class NEAP_API Lstm final : public nn::Cloneable<Lstm> {
 public:
  /// THROWS: as LstmStack and nn::Linear.
  explicit Lstm(const LstmOptions& options, CallSite site = CallSite::here());
  Lstm(const Lstm& other, nn::Cloning& cloning);

  /// (b, t, features) -> (b, outputs). THROWS: ShapeError.
  Tensor forward(const Tensor& x) override;

 private:
  void name_parts();

  LstmStack lstm_;
  nn::Linear fc_;
};

}  // namespace neap::models
