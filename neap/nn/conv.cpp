// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/conv.hpp"

#include <cmath>

#include "neap/base/raise.hpp"
#include "neap/nn/for_parameter.hpp"
#include "neap/nn/init.hpp"
#include "neap/ops/conv/conv1d.hpp"
#include "neap/ops/conv/conv2d.hpp"
#include "neap/ops/conv/conv_transpose1d.hpp"
#include "neap/ops/conv/conv_transpose2d.hpp"
#include "neap/tensor/create.hpp"

namespace neap::nn {

using base::raise;

namespace {

struct Channels {
  std::int64_t in;
  std::int64_t out;
};

template <class Options, int kAxes>
void check(const char* layer, const Channels& channels,
           const PerAxis<kAxes>& kernel, const Options& options, DType dtype) {
  if (channels.in <= 0 || channels.out <= 0 || options.groups <= 0 ||
      channels.in % options.groups != 0 || channels.out % options.groups != 0) {
    raise<ValueError>(
        "{}: {} and {} channels in {} groups, expected positive multiples",
        layer, channels.in, channels.out, options.groups);
  }
  for (int axis = 0; axis < kAxes; ++axis) {
    if (kernel[axis] <= 0 || options.stride[axis] <= 0 ||
        options.dilation[axis] <= 0 || options.padding[axis] < 0) {
      raise<ValueError>(
          "{}: kernel {}, stride {}, dilation {}, padding {}; expected at "
          "least 1, 1, 1, 0",
          layer, kernel[axis], options.stride[axis], options.dilation[axis],
          options.padding[axis]);
    }
  }
  if (dtype != f32 && dtype != f64) {
    raise<DTypeError>("{}: computes in f32 and f64, not in {}", layer,
                      name_of(dtype));
  }
}

// Name of the layer, one of four, to which options of this type belong.
template <int kAxes>
constexpr const char* name_of_layer(const ConvOptions<kAxes>& /*options*/) {
  return kAxes == 1 ? "Conv1d" : "Conv2d";
}
template <int kAxes>
constexpr const char* name_of_layer(
    const ConvTransposeOptions<kAxes>& /*options*/) {
  return kAxes == 1 ? "ConvTranspose1d" : "ConvTranspose2d";
}

template <int kAxes>
Shape channels_of(const Channels& channels, const ConvOptions<kAxes>& options) {
  return {channels.out, channels.in / options.groups};
}
template <int kAxes>
Shape channels_of(const Channels& channels,
                  const ConvTransposeOptions<kAxes>& options) {
  return {channels.in, channels.out / options.groups};
}

template <class Options, int kAxes>
Shape weight_shape(const Channels& channels, const PerAxis<kAxes>& kernel,
                   const Options& options) {
  Shape shape = channels_of(channels, options);
  for (int axis = 0; axis < kAxes; ++axis) {
    shape.push_back(kernel[axis]);
  }
  return shape;
}

// Each takes a draw.
void initialise(const Tensor& weight, const Tensor& bias,
                const CallSite& site) {
  const double bound =
      1.0 / std::sqrt(static_cast<double>(fans_of(weight.shape()).in));
  uniform_(weight, -bound, bound, site);
  if (bias.is_given()) {
    uniform_(bias, -bound, bound, site);
  }
}

template <class... Operands>
Tensor convolve(const ConvOptions<1>& options, const Operands&... operands) {
  return conv1d(operands..., options);
}
template <class... Operands>
Tensor convolve(const ConvOptions<2>& options, const Operands&... operands) {
  return conv2d(operands..., options);
}
template <class... Operands>
Tensor convolve(const ConvTransposeOptions<1>& options,
                const Operands&... operands) {
  return conv_transpose1d(operands..., options);
}
template <class... Operands>
Tensor convolve(const ConvTransposeOptions<2>& options,
                const Operands&... operands) {
  return conv_transpose2d(operands..., options);
}

}  // namespace

template <template <int> class Options, int kAxes>
// NOLINTNEXTLINE(readability-function-size): PyTorch's arguments
ConvLayer<Options, kAxes>::ConvLayer(std::int64_t in_channels,
                                     std::int64_t out_channels,
                                     const PerAxis<kAxes>& kernel_size,
                                     const Options<kAxes>& options,
                                     bool has_bias, DType dtype, CallSite site)
    : options_(options) {
  const Channels channels{in_channels, out_channels};
  check(name_of_layer(options), channels, kernel_size, options, dtype);
  weight_ = this->register_parameter(
      "weight",
      for_parameter(weight_shape(channels, kernel_size, options), dtype, site),
      site);
  if (has_bias) {
    bias_ = this->register_parameter(
        "bias", for_parameter({out_channels}, dtype, site), site);
  }
  initialise(weight_, bias_, site);
}

template <template <int> class Options, int kAxes>
ConvLayer<Options, kAxes>::ConvLayer(const ConvLayer& other, Cloning& cloning)
    : Cloneable<ConvLayer>(other, cloning),
      options_(other.options_),
      weight_(this->parameter("weight")),
      bias_(other.bias_.is_given() ? this->parameter("bias") : Tensor()) {}

template <template <int> class Options, int kAxes>
Tensor ConvLayer<Options, kAxes>::forward(const Tensor& x) const {
  return bias_.is_given() ? convolve(options_, x, weight_, bias_)
                          : convolve(options_, x, weight_);
}

template class ConvLayer<ConvOptions, 1>;
template class ConvLayer<ConvOptions, 2>;
template class ConvLayer<ConvTransposeOptions, 1>;
template class ConvLayer<ConvTransposeOptions, 2>;

}  // namespace neap::nn
