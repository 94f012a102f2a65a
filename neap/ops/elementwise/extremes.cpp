// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/extremes.hpp"

#include <cmath>
#include <limits>

#include "neap/kernels/elementwise/arithmetic.hpp"
#include "neap/kernels/elementwise/clip.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/elementwise/rules.hpp"
#include "neap/ops/elementwise/where.hpp"
#include "neap/tensor/number_check.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::ClipAttrs;

// d unless b is chosen over a, half of it where they are equal. Where one of
// them is NaN neither is chosen, and both have d.
Tensor share_of(const Op& op, const Tensor& a, const Tensor& b,
                const Tensor& d) {
  const Tensor loses = &op == &kMaximum ? lt(a, b) : gt(a, b);
  return where(loses, 0, where(eq(a, b), mul(d, 0.5), d));
}

template <const Op& kOp>
void extreme_vjp(VjpContext& c) {
  for (int i = 0; i < 2; ++i) {
    if (c.needs(i)) {
      c.set(i, sum_to(share_of(kOp, c.input(i), c.input(1 - i), c.cotangent()),
                      c.input_shape(i)));
    }
  }
}

template <const Op& kOp>
void extreme_jvp(JvpContext& c) {
  Tensor d;
  for (int i = 0; i < 2; ++i) {
    if (c.tangent(i).defined()) {
      d = add_defined(std::move(d),
                      share_of(kOp, c.input(i), c.input(1 - i), c.tangent(i)));
    }
  }
  c.set(0, std::move(d));
}

constexpr graph::Facts kExtremeFacts = {
    .vjp_reads = {{{.inputs = 0b11}, {.inputs = 0b11}}},
    .donates = 0b11,
    .rows = rows_by_element};

void check_bound(double bound) {
  if (std::isnan(bound)) {
    base::raise<ValueError>("clip: a bound is NaN, expected numbers");
  }
}

Tensor clip_to(const Operand& x, const ClipAttrs& bounds) {
  const DType dtype = tensor_of("clip", x).dtype();
  for (const double bound : {bounds.low, bounds.high}) {
    check_bound(bound);
    if (!std::isinf(bound)) {
      tensor::check_number("clip", bound, dtype);
    }
  }
  return graph::apply(kClip, {x}, bounds);
}

}  // namespace

const Op kMaximum{.name = "maximum",
                  .formula = "y = max(a, b); equal operands share dy equally",
                  .infer = infer_arithmetic,
                  .kernel = &kernels::maximum_kernels,
                  .vjp = extreme_vjp<kMaximum>,
                  .jvp = extreme_jvp<kMaximum>,
                  .facts = kExtremeFacts};

const Op kMinimum{.name = "minimum",
                  .formula = "y = min(a, b); equal operands share dy equally",
                  .infer = infer_arithmetic,
                  .kernel = &kernels::minimum_kernels,
                  .vjp = extreme_vjp<kMinimum>,
                  .jvp = extreme_jvp<kMinimum>,
                  .facts = kExtremeFacts};

const Op kClip{
    .name = "clip",
    .formula = "y = min(max(x, low), high), dx = low < x < high ? dy : 0",
    .infer = infer_signed,
    .kernel = &kernels::clip_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, clip_grad(c.take_cotangent(), c.input(0),
                             c.attrs<ClipAttrs>()));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, clip_grad(c.tangent(), c.input(), c.attrs<ClipAttrs>()));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b1}}},
              .donates = 0b1,
              .rows = rows_by_element}};

const Op kClipGrad{
    .name = "clip_grad",
    .formula = "dx = low < x < high ? g : 0",
    .infer = infer_gradient,
    .kernel = &kernels::clip_grad_kernels,
    .vjp =
        [](VjpContext& c) {
          if (c.needs(0)) {
            c.set(0, clip_grad(c.take_cotangent(), c.input(1),
                               c.attrs<ClipAttrs>()));
          }
        },
    .jvp =
        [](JvpContext& c) {
          if (c.tangent(0).defined()) {
            c.set(0, clip_grad(c.tangent(0), c.input(1), c.attrs<ClipAttrs>()));
          }
        },
    .facts = {.vjp_reads = {{{.inputs = 0b10}}},
              .donates = 0b11,
              .rows = rows_by_element}};

Tensor clip_grad(const Operand& g, const Operand& x, const ClipAttrs& bounds) {
  return graph::apply(kClipGrad, {g, x}, bounds);
}

}  // namespace ops

Tensor maximum(const Operand& a, const Operand& b) {
  return ops::apply_pair(ops::kMaximum, a, b);
}

Tensor minimum(const Operand& a, const Operand& b) {
  return ops::apply_pair(ops::kMinimum, a, b);
}

namespace {

// Elements that the bound replaces: those beyond it, and where it is NaN all.
Tensor replaced(Tensor beyond, const Operand& bound) {
  if (bound.is_number()) {
    ops::check_bound(bound.number());
    return beyond;
  }
  return is_floating(bound.tensor().dtype())
             ? logical_or(std::move(beyond), isnan(bound.tensor()))
             : beyond;
}

}  // namespace

Tensor clip(const Operand& x, const Operand& low, const Operand& high) {
  if (low.is_number() && high.is_number()) {
    return ops::clip_to(x, {low.number(), high.number()});
  }
  const Tensor& value = ops::tensor_of("clip", x);
  const ops::AtSite site(x);
  const Tensor raised = where(replaced(lt(value, low), low), low, value);
  return where(replaced(gt(raised, high), high), high, raised);
}

Tensor clip_min(const TensorOperand& x, Number low) {
  return ops::clip_to(x,
                      {low.value(), std::numeric_limits<double>::infinity()});
}

Tensor clip_max(const TensorOperand& x, Number high) {
  return ops::clip_to(x,
                      {-std::numeric_limits<double>::infinity(), high.value()});
}

}  // namespace neap
