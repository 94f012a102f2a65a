// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/linalg/linear.hpp"

#include <array>

#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/precision.hpp"
#include "neap/kernels/gemm/gemm.hpp"

namespace neap::kernels {
namespace {

template <class T>
Gemm<T> product_of(const Args& args) noexcept {
  const Strided& x = args.in[0];   // (rows, in)
  const Strided& w = args.in[1];   // (out, in)
  const Strided& y = args.out[0];  // (rows, out)
  Gemm<T> product;
  product.m = y.shape[0];
  product.n = y.shape[1];
  product.k = x.shape[1];
  product.a = {x.as<const T>(), x.strides[0], x.strides[1]};
  product.b = gemm_operand<T>(w, w.strides[1], w.strides[0]);
  product.c = y.as<T>();
  product.precision = precision_of(args.attrs);
  if (args.in.size() > 2) {
    const Strided& bias = args.in[2];  // (out)
    product.start = GemmStart::kBias;
    product.bias = bias.as<const T>();
    product.bias_stride = bias.strides[0];
  }
  return product;
}

template <class T>
void linear(const Args& args) noexcept {
  gemm(product_of<T>(args), args.scratch, *args.executor);
}

template <class T>
Bytes linear_scratch(const Args& args) noexcept {
  return gemm_scratch_bytes(product_of<T>(args), args.executor->threads());
}

template <class T>
void linear_reference(const Args& args) noexcept {
  gemm_reference(product_of<T>(args));
}

constexpr std::array kKernels = float_rows<"linear">(
    {.run = linear<float>, .scratch = linear_scratch<float>},
    {.run = linear<double>, .scratch = linear_scratch<double>},
    {linear_reference<float>}, {linear_reference<double>});

}  // namespace

constinit const KernelList linear_kernels{"linear", kKernels};

}  // namespace neap::kernels
