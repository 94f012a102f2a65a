// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The precision in which products of f32 tensors are computed: the user's
// choice for a block of code, as torch.autocast or JAX's
// default_matmul_precision are.
//
//   const UsePrecision guard(Precision::kBf16);
//   Tensor loss = model(x);   // products with factors rounded to bf16
//
// Parameters, activations, sums and everything that is no product stay f32.
// An op takes the precision that is current at its call; its derivatives have
// the same, whatever is current when they are computed. Products are linear,
// matmul, matmul_add, gelu_linear, linear_cross_entropy, ops composed of them
// (einsum, dot, bilinear forms), convolutions and their transposes, those of
// rnn, lstm and gru with their input and with their state, and those of
// scaled_dot_product_attention. Gates, cells, softmax and matrix factorisations
// are in f32 always.
#pragma once

#include "neap/base/api.hpp"
#include "neap/graph/op.hpp"
#include "neap/kernels/engine/precision.hpp"
#include "neap/tensor/execution.hpp"

namespace neap {

using kernels::Precision;

/// The precision of products that the current thread calls; kF32 outside all
/// guards.
NEAP_API Precision current_precision() noexcept;

/// Sets it for a block of code, for the current thread. Guards nest, and each
/// restores what it found. Products of f64 are not concerned.
class NEAP_API UsePrecision : public tensor::ExecutionGuard {
 public:
  /// THROWS: DeviceError for kBf16 where the processor has no dot products of
  /// bf16 (or NEAP_ISA forbids them): nothing falls back to f32 silently.
  explicit UsePrecision(Precision precision);
};

namespace ops {

/// Attributes of a product that is called now.
NEAP_API kernels::ProductAttrs product_attrs() noexcept;

/// The precision that a call of an op multiplies in; kF32 for ops that are no
/// products.
NEAP_API Precision precision_of(const graph::Op& op,
                                const void* attrs) noexcept;

}  // namespace ops
}  // namespace neap
