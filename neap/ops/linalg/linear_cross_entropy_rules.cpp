// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/linear_cross_entropy_rules.hpp"

#include "neap/ops/elementwise/fill.hpp"
#include "neap/ops/indexing/labels.hpp"
#include "neap/ops/linalg/linear.hpp"
#include "neap/ops/linalg/linear_rules.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::ops {

using kernels::CrossEntropyAttrs;
using kernels::LossReduction;

Tensor logits_of(const Tensor& x, const Tensor& w, const Tensor& bias) {
  return bias.defined() ? linear(x, w, bias) : linear(x, w);
}

Tensor moved_logits(const Tensor& x, const Tensor& w, const LogitsMove& move) {
  Tensor d;
  if (move.x.defined()) {
    d = linear(move.x, w);
  }
  if (move.w.defined()) {
    d = add_defined(std::move(d), linear(x, move.w));
  }
  if (move.bias.defined()) {
    d = add_defined(std::move(d), move.bias);
  }
  return d.defined() ? expand(d, {x.shape()[0], w.shape()[0]}) : d;
}

Tensor ones_of_losses(const Tensor& log_sum, const CrossEntropyAttrs& attrs) {
  Spec spec = log_sum.spec();
  if (attrs.reduction != LossReduction::kNone) {
    spec.shape = Shape();
  }
  return filled(spec, 1.0, CallSite::here());
}

Tensor along_losses(const Tensor& each, const CrossEntropyAttrs& attrs) {
  return attrs.reduction == LossReduction::kNone ? sum(each, {1}) : sum(each);
}

void infer_losses(const OpArgs& args, std::span<Spec> out) {
  const auto& attrs = args.attrs.as<kernels::LinearCrossEntropyAttrs>();
  const Spec& labels = args.inputs[2];
  std::array<Spec, 3> product{args.inputs[0], args.inputs[1]};
  if (attrs.has_bias) {
    product[2] = args.inputs[3];
  }
  Spec logits;
  infer_linear(
      {args.name, std::span(product).first(attrs.has_bias ? 3 : 2), args.attrs},
      {&logits, 1});
  const Shape samples{logits.shape[0]};
  check_dtype(args.name, labels.dtype, i64);
  if (labels.shape != samples) {
    raise<ShapeError>("{}: labels {} for x {}, expected {}", args.name,
                      format_shape(labels.shape),
                      format_shape(args.inputs[0].shape),
                      format_shape(samples));
  }
  out[0].dtype = logits.dtype;
  out[0].shape =
      attrs.loss.reduction == LossReduction::kNone ? samples : Shape();
  out[1].dtype = logits.dtype;
  out[1].shape = samples;
}

}  // namespace neap::ops
