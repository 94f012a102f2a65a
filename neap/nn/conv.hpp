// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Convolution layers over one and two spatial axes, and their transposes.
//
//   nn::Conv2d conv(64, 128, 3, {.stride = 2, .padding = 1}, false);
#pragma once

#include "neap/nn/layer.hpp"
#include "neap/ops/conv/conv_options.hpp"

namespace neap::nn {

/// The op that Options are of, with the parameters "weight" and, unless told
/// otherwise, "bias" (out), both uniform in +-1 / sqrt(fan in):
/// kaiming_uniform_ with slope sqrt(5), PyTorch's default. The weight is (out,
/// in / groups, kernel), or transposed (in, out / groups, kernel), whose fan in
/// is PyTorch's: out / groups times the kernel.
template <template <int> class Options, int kAxes>
class NEAP_API ConvLayer : public Cloneable<ConvLayer<Options, kAxes>> {
 public:
  /// Draws once from the generator for a parameter; a constructor that throws
  /// has drawn nothing. THROWS: ValueError unless channels and kernel are
  /// positive, groups divide both channels, and the options make sense;
  /// DTypeError unless f32 or f64; OutOfMemory.
  ConvLayer(std::int64_t in_channels, std::int64_t out_channels,
            const PerAxis<kAxes>& kernel_size,
            const Options<kAxes>& options = {}, bool has_bias = true,
            DType dtype = f32, CallSite site = CallSite::here());
  ConvLayer(const ConvLayer& other, Cloning& cloning);

  Tensor forward(const Tensor& x) const override;

  const Tensor& weight() const noexcept { return weight_; }
  /// Undefined where there is none.
  const Tensor& bias() const noexcept { return bias_; }

 private:
  Options<kAxes> options_;
  Tensor weight_;
  Tensor bias_;
};

using Conv1d = ConvLayer<ConvOptions, 1>;
using Conv2d = ConvLayer<ConvOptions, 2>;
using ConvTranspose1d = ConvLayer<ConvTransposeOptions, 1>;
using ConvTranspose2d = ConvLayer<ConvTransposeOptions, 2>;

extern template class ConvLayer<ConvOptions, 1>;
extern template class ConvLayer<ConvOptions, 2>;
extern template class ConvLayer<ConvTransposeOptions, 1>;
extern template class ConvLayer<ConvTransposeOptions, 2>;

}  // namespace neap::nn
