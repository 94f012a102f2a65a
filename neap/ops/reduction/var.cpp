// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/var.hpp"

#include <algorithm>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/reduction/var.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/reduction/reduce.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::VarAttrs;

void infer_var(const OpArgs& args, std::span<Spec> out) {
  infer_floating(args, out);
  out[0].shape = reduced(args.inputs[0].shape, args.attrs.as<VarAttrs>().axes);
  out[1] = out[0];
}

// 1 / n and, of the sum of squares, 1 / (n - correction).
double mean_factor(const Shape& shape, const VarAttrs& attrs) {
  return 1.0 / static_cast<double>(reduced_count(shape, attrs.axes));
}
double var_factor(const Shape& shape, const VarAttrs& attrs) {
  const auto n = static_cast<double>(reduced_count(shape, attrs.axes));
  return 1.0 / std::max(0.0, n - attrs.correction);
}

// dy of the root, or of the variance, as a factor of x - mean.
Tensor slope(const Tensor& dy, const Tensor& y, double factor, bool is_std) {
  return is_std ? mul(mul(dy, inverse_or_zero(y)), factor)
                : mul(dy, 2.0 * factor);
}

void var_vjp(VjpContext& c) {
  const auto attrs = c.attrs<VarAttrs>();
  const Tensor x = c.input(0);
  Tensor dx;
  if (c.cotangent(0).defined()) {
    const Tensor factor =
        slope(c.take_cotangent(0), attrs.is_std ? c.output(0) : Tensor(),
              var_factor(x.shape(), attrs), attrs.is_std);
    dx = mul(sub(x, c.output(1)), factor);
  }
  if (c.cotangent(1).defined()) {
    const Tensor share = mul(c.cotangent(1), mean_factor(x.shape(), attrs));
    dx = dx.defined() ? add(std::move(dx), share) : expand(share, x.shape());
  }
  c.set(0, std::move(dx));
}

void var_jvp(JvpContext& c) {
  const auto attrs = c.attrs<VarAttrs>();
  const Shape& shape = c.input().shape();
  const Tensor& t = c.tangent();
  const Tensor dot = sum_axes(mul(sub(c.input(), c.output(1)), t), attrs.axes);
  c.set(0, slope(dot, c.output(0), var_factor(shape, attrs), attrs.is_std));
  c.set(1, mul(sum_axes(t, attrs.axes), mean_factor(shape, attrs)));
}

Cost cost_of_var(const OpArgs& args, std::span<const Spec> outputs) {
  return moving(args, outputs, 4 * args.inputs[0].shape.element_count());
}

VarMean var_axes(const Op& op, const Operand& x, const VarAttrs& attrs) {
  std::array<Tensor, 2> out;
  graph::dispatch(op, {&x, 1}, attrs, x.site(), out);
  return {out[0], out[1]};
}

VarMean over(const Op& op, const Operand& x, std::uint64_t axes, bool keepdim,
             double correction) {
  const AtSite here(x);
  const VarMean kept = var_axes(
      op, x, {.axes = axes, .correction = correction, .is_std = &op == &kStd});
  return keepdim ? kept
                 : VarMean{without_axes(kept.var, axes),
                           without_axes(kept.mean, axes)};
}

}  // namespace

const Op kVar{.name = "var",
              .formula =
                  "y = sum (x - m)^2 / (n - correction) over some axes, which "
                  "stay with extent 1, with the mean m; dx = 2 dy (x - m) / (n "
                  "- correction) + dm / n",
              .outputs = 2,
              .infer = infer_var,
              .kernel = &kernels::var_kernels,
              .vjp = var_vjp,
              .jvp = var_jvp,
              .facts = {.vjp_reads = {{{.inputs = 0b1, .outputs = 0b10}}},
                        .rows = rows_of_reduction,
                        .cost = cost_of_var}};

const Op kStd{.name = "std",
              .formula =
                  "y = root of the variance over some axes, which stay with "
                  "extent 1, with the mean m; dx = dy (x - m) / (y (n - "
                  "correction)) + dm / n, its first term 0 where y is",
              .outputs = 2,
              .infer = infer_var,
              .kernel = &kernels::var_kernels,
              .vjp = var_vjp,
              .jvp = var_jvp,
              .facts = {.vjp_reads = {{{.inputs = 0b1, .outputs = 0b11}}},
                        .rows = rows_of_reduction,
                        .cost = cost_of_var}};

}  // namespace ops

Tensor var(const TensorOperand& x) {
  const int rank = ops::tensor_of("var", x).rank();
  return ops::over(ops::kVar, x, ops::all_axes(rank), false, 1.0).var;
}

Tensor var(const TensorOperand& x, const Shape& axes, bool keepdim,
           double correction) {
  return var_mean(x, axes, keepdim, correction).var;
}

VarMean var_mean(const TensorOperand& x, const Shape& axes, bool keepdim,
                 double correction) {
  const int rank = ops::tensor_of("var", x).rank();
  return ops::over(ops::kVar, x, ops::axes_mask("var", axes, rank), keepdim,
                   correction);
}

Tensor std(const TensorOperand& x) {
  const int rank = ops::tensor_of("std", x).rank();
  return ops::over(ops::kStd, x, ops::all_axes(rank), false, 1.0).var;
}

Tensor std(const TensorOperand& x, const Shape& axes, bool keepdim,
           double correction) {
  const int rank = ops::tensor_of("std", x).rank();
  return ops::over(ops::kStd, x, ops::axes_mask("std", axes, rank), keepdim,
                   correction)
      .var;
}

}  // namespace neap
