// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/conv.hpp"

#include <cmath>

#include "neap/base/raise.hpp"
#include "neap/nn/init.hpp"
#include "neap/ops/conv1d.hpp"
#include "neap/ops/conv2d.hpp"
#include "neap/ops/conv_transpose1d.hpp"
#include "neap/ops/conv_transpose2d.hpp"
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

// Counted as parameters from the first byte on, so that a refusal says what was
// asked for.
Tensor for_parameter(const Shape& shape, DType dtype, const CallSite& site) {
  const memory::ContextGuard guard(
      [](memory::Context& c) { c.category = memory::Category::kParameters; });
  return empty(shape, dtype, site);
}

template <int kAxes>
Shape weight_shape(std::int64_t first, std::int64_t second,
                   const PerAxis<kAxes>& kernel) {
  Shape shape{first, second};
  for (int axis = 0; axis < kAxes; ++axis) {
    shape.push_back(kernel[axis]);
  }
  return shape;
}

// One draw each.
void initialise(const Tensor& weight, const Tensor& bias,
                const CallSite& site) {
  const double bound =
      1.0 / std::sqrt(static_cast<double>(fans_of(weight.shape()).in));
  uniform_(weight, -bound, bound, site);
  if (bias.defined()) {
    uniform_(bias, -bound, bound, site);
  }
}

template <int kAxes>
constexpr const char* name_of_conv(bool is_transposed) {
  if (is_transposed) {
    return kAxes == 1 ? "ConvTranspose1d" : "ConvTranspose2d";
  }
  return kAxes == 1 ? "Conv1d" : "Conv2d";
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

template <int kAxes>
// NOLINTNEXTLINE(readability-function-size): PyTorch's arguments
ConvLayer<kAxes>::ConvLayer(std::int64_t in_channels, std::int64_t out_channels,
                            const PerAxis<kAxes>& kernel_size,
                            const ConvOptions<kAxes>& options, bool has_bias,
                            DType dtype, CallSite site)
    : options_(options) {
  check(name_of_conv<kAxes>(false), {in_channels, out_channels}, kernel_size,
        options, dtype);
  weight_ = this->register_parameter(
      "weight",
      for_parameter(
          weight_shape(out_channels, in_channels / options.groups, kernel_size),
          dtype, site),
      site);
  if (has_bias) {
    bias_ = this->register_parameter(
        "bias", for_parameter({out_channels}, dtype, site), site);
  }
  initialise(weight_, bias_, site);
}

template <int kAxes>
ConvLayer<kAxes>::ConvLayer(const ConvLayer& other, Cloning& cloning)
    : Cloneable<ConvLayer>(other, cloning),
      options_(other.options_),
      weight_(this->parameter("weight")),
      bias_(other.bias_.defined() ? this->parameter("bias") : Tensor()) {}

template <int kAxes>
Tensor ConvLayer<kAxes>::forward(const Tensor& x) {
  return bias_.defined() ? convolve(options_, x, weight_, bias_)
                         : convolve(options_, x, weight_);
}

template <int kAxes>
// NOLINTNEXTLINE(readability-function-size): PyTorch's arguments
ConvTransposeLayer<kAxes>::ConvTransposeLayer(
    std::int64_t in_channels, std::int64_t out_channels,
    const PerAxis<kAxes>& kernel_size,
    const ConvTransposeOptions<kAxes>& options, bool has_bias, DType dtype,
    CallSite site)
    : options_(options) {
  check(name_of_conv<kAxes>(true), {in_channels, out_channels}, kernel_size,
        options, dtype);
  weight_ = this->register_parameter(
      "weight",
      for_parameter(
          weight_shape(in_channels, out_channels / options.groups, kernel_size),
          dtype, site),
      site);
  if (has_bias) {
    bias_ = this->register_parameter(
        "bias", for_parameter({out_channels}, dtype, site), site);
  }
  initialise(weight_, bias_, site);
}

template <int kAxes>
ConvTransposeLayer<kAxes>::ConvTransposeLayer(const ConvTransposeLayer& other,
                                              Cloning& cloning)
    : Cloneable<ConvTransposeLayer>(other, cloning),
      options_(other.options_),
      weight_(this->parameter("weight")),
      bias_(other.bias_.defined() ? this->parameter("bias") : Tensor()) {}

template <int kAxes>
Tensor ConvTransposeLayer<kAxes>::forward(const Tensor& x) {
  return bias_.defined() ? convolve(options_, x, weight_, bias_)
                         : convolve(options_, x, weight_);
}

template class ConvLayer<1>;
template class ConvLayer<2>;
template class ConvTransposeLayer<1>;
template class ConvTransposeLayer<2>;

}  // namespace neap::nn
