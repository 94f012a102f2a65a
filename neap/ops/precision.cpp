// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/precision.hpp"

#include "neap/base/raise.hpp"
#include "neap/kernels/conv/conv.hpp"
#include "neap/kernels/engine/kernel.hpp"
#include "neap/kernels/linalg/gelu_linear.hpp"
#include "neap/kernels/sequence/attention.hpp"
#include "neap/kernels/sequence/recurrent.hpp"
#include "neap/ops/conv/conv2d.hpp"
#include "neap/ops/conv/conv2d_relu.hpp"
#include "neap/ops/conv/conv2d_weight.hpp"
#include "neap/ops/conv/conv_transpose2d.hpp"
#include "neap/ops/linalg/gelu_linear.hpp"
#include "neap/ops/linalg/linear.hpp"
#include "neap/ops/linalg/linear_cross_entropy.hpp"
#include "neap/ops/linalg/linear_cross_entropy_grad.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/sequence/attention.hpp"
#include "neap/ops/sequence/attention_grad.hpp"
#include "neap/ops/sequence/gru.hpp"
#include "neap/ops/sequence/lstm.hpp"
#include "neap/ops/sequence/recurrent_grads.hpp"
#include "neap/ops/sequence/rnn.hpp"
#include "neap/tensor/execution.hpp"

namespace neap {
namespace {

// Nothing falls back to f32 silently.
Precision checked(Precision precision) {
  if (precision == Precision::kBf16) {
    const char* level = kernels::isa();  // as NEAP_ISA says, before the look
    if (!kernels::has_bf16_dot()) {
      base::raise<DeviceError>(
          "bf16: this processor has no dot products of bf16 (AVX512_BF16) at "
          "the instruction set '{}', compute in f32",
          level);
    }
  }
  return precision;
}

}  // namespace

Precision current_precision() noexcept {
  return tensor::thread_execution().precision;
}

UsePrecision::UsePrecision(Precision precision)
    : ExecutionGuard([precision = checked(precision)](tensor::Execution& e) {
        e.precision = precision;
      }) {}

namespace ops {

kernels::ProductAttrs product_attrs() noexcept {
  return {.precision = current_precision()};
}

Precision precision_of(const graph::Op& op, const void* attrs) noexcept {
  if (attrs == nullptr) {
    return Precision::kF32;
  }
  if (&op == &kLinear || &op == &kMatmul || &op == &kMatmulAdd) {
    return kernels::precision_of(attrs);
  }
  if (&op == &kConv2d || &op == &kConvTranspose2d || &op == &kConv2dWeight ||
      &op == &kConv2dWeightAdd || &op == &kConv2dRelu ||
      &op == &kConv2dReluBits) {
    return static_cast<const kernels::ConvAttrs*>(attrs)->precision;
  }
  if (&op == &kGeluLinear) {
    return static_cast<const kernels::GeluLinearAttrs*>(attrs)->precision;
  }
  if (&op == &kAttention || &op == &kAttentionDropout ||
      &op == &kAttentionGrad || &op == &kAttentionDropoutGrad) {
    return static_cast<const kernels::AttentionAttrs*>(attrs)->precision;
  }
  if (&op == &kLinearCrossEntropy || &op == &kLinearCrossEntropyGrad) {
    return static_cast<const kernels::LinearCrossEntropyAttrs*>(attrs)
        ->precision;
  }
  if (&op == &kRnn || &op == &kLstm || &op == &kGru) {
    return static_cast<const kernels::RecurrentAttrs*>(attrs)->precision;
  }
  if (&op == &kRnnGrad || &op == &kLstmGrad || &op == &kGruGrad) {
    return static_cast<const kernels::RecurrentGradAttrs*>(attrs)->precision;
  }
  return Precision::kF32;
}

}  // namespace ops

}  // namespace neap
