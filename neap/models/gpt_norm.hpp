// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// GptNorm: the norm in front of a part of a transformer, and that part's first
// product after it.
#pragma once

#include "neap/models/gpt_options.hpp"
#include "neap/nn/linear.hpp"

namespace neap::models {

/// layer_norm or rms_norm, as the options say, over the last axis: "weight"
/// (dim), ones at first, and "bias" (dim), zeros at first, of a layer_norm
/// where layers have one.
class NEAP_API GptNorm final : public nn::Cloneable<GptNorm> {
 public:
  explicit GptNorm(const GptOptions& options, CallSite site = CallSite::here());
  GptNorm(const GptNorm& other, nn::Cloning& cloning);

  Tensor forward(const Tensor& x) const override;
  /// layer(this(x)), of which x and the result are kept; the norm is recomputed
  /// for the backward. Both layers may be destroyed by then. A layer with an
  /// adapter is called as it is.
  Tensor then(const nn::Linear& layer, const Tensor& x) const;

 private:
  GptNormalise form_;
  double eps_;
  Tensor weight_;
  Tensor bias_;  // undefined where there is none
};

}  // namespace neap::models

namespace neap::nn {
extern template class Cloneable<models::GptNorm>;
}  // namespace neap::nn
