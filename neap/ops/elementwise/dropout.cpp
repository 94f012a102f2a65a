// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/dropout.hpp"

#include "neap/kernels/elementwise/dropout.hpp"
#include "neap/kernels/engine/attrs.hpp"
#include "neap/ops/support.hpp"
#include "neap/tensor/generator.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::DropoutAttrs;

// The same elements drop for the same key.
Tensor dropout_by(const Operand& x, const DropoutAttrs& attrs) {
  return graph::apply(kDropout, {x}, attrs);
}

}  // namespace

const Op kDropout{
    .name = "dropout",
    .formula =
        "y = keep(key, i) ? x / (1 - p) : 0 (Srivastava et al., JMLR 2014)",
    .infer = infer_floating,
    .kernel = &kernels::dropout_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, dropout_by(c.take_cotangent(), c.attrs<DropoutAttrs>()));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, dropout_by(c.tangent(), c.attrs<DropoutAttrs>()));
        },
    .facts = {.donates = 0b1,
              .effect = graph::Effect::kRandom,
              .draw_at = offsetof(DropoutAttrs, key),
              .first_at = offsetof(DropoutAttrs, first),
              .rows = rows_by_element}};

}  // namespace ops

Tensor dropout(const TensorOperand& x, double p, bool training) {
  const Tensor& value = ops::tensor_of("dropout", x);
  if (!(p >= 0.0 && p < 1.0)) {
    base::raise<ValueError>("dropout: p is {}, expected 0 <= p < 1", p);
  }
  if (!training || p == 0.0) {
    return value;
  }
  tensor::Generator& source = tensor::generator();
  Tensor y = ops::dropout_by(x, {p, source.next()});
  source.advance();
  return y;
}

}  // namespace neap
