// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/activation/parametric.hpp"

#include "neap/kernels/activation/rectifiers.hpp"
#include "neap/ops/activation/activation_grads.hpp"
#include "neap/ops/activation/activations.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/cast.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/elementwise/rules.hpp"
#include "neap/ops/elementwise/where.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::EluAttrs;
using kernels::SoftplusAttrs;

// The rules of elementwise/rules.hpp with the op's attributes.
template <class A>
using SlopeBy = Tensor (*)(const Operand& g, const Operand& v, const A& attrs);
template <class A>
using CurvatureBy = Tensor (*)(const Tensor& v, const A& attrs);

template <class A, SlopeBy<A> kSlope, CurvatureBy<A> kCurvature>
void vjp_by(VjpContext& c) {
  const A attrs = c.attrs<A>();
  set_slope_cotangents(
      c, [&](const Operand& g, const Tensor& v) { return kSlope(g, v, attrs); },
      [&](const Tensor& v) { return kCurvature(v, attrs); });
}

template <class A, SlopeBy<A> kSlope, CurvatureBy<A> kCurvature>
void jvp_by(JvpContext& c) {
  const A attrs = c.attrs<A>();
  set_slope_tangent(
      c, [&](const Operand& g, const Tensor& v) { return kSlope(g, v, attrs); },
      [&](const Tensor& v) { return kCurvature(v, attrs); });
}

Tensor elu_curvature(const Tensor& y, const EluAttrs&) {
  return cast(le(y, 0), y.dtype());
}

Tensor softplus_curvature(const Tensor& x, const SoftplusAttrs& attrs) {
  const Tensor z = mul(x, attrs.beta);
  const Tensor s = sigmoid(z);
  return where(gt(z, attrs.threshold), 0, mul(mul(s, sub(1, s)), attrs.beta));
}

}  // namespace

const Op kElu{
    .name = "elu",
    .formula = "y = x > 0 ? x : alpha (e^x - 1); dy/dx = alpha at 0",
    .infer = infer_floating,
    .kernel = &kernels::elu_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0,
                elu_grad(c.take_cotangent(), c.output(), c.attrs<EluAttrs>()));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, elu_grad(c.tangent(), c.output(), c.attrs<EluAttrs>()));
        },
    .facts = {.vjp_reads = {{{.outputs = 0b1}}},
              .donates = 0b1,
              .rows = rows_by_element}};

const Op kEluGrad{.name = "elu_grad",
                  .formula = "dx = y > 0 ? g : g (y + alpha), for y = elu(x)",
                  .infer = infer_gradient,
                  .kernel = &kernels::elu_grad_kernels,
                  .vjp = vjp_by<EluAttrs, elu_grad, elu_curvature>,
                  .jvp = jvp_by<EluAttrs, elu_grad, elu_curvature>,
                  .facts = kSlopeFacts};

const Op kSoftplus{
    .name = "softplus",
    .formula = "y = ln(1 + e^(beta x)) / beta, and x where beta x > threshold",
    .infer = infer_floating,
    .kernel = &kernels::softplus_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, softplus_grad(c.take_cotangent(), c.input(0),
                                 c.attrs<SoftplusAttrs>()));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, softplus_grad(c.tangent(), c.input(),
                                 c.attrs<SoftplusAttrs>()));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b1}}},
              .donates = 0b1,
              .rows = rows_by_element}};

const Op kSoftplusGrad{
    .name = "softplus_grad",
    .formula = "dx = g sigmoid(beta x), and g where beta x > threshold",
    .infer = infer_gradient,
    .kernel = &kernels::softplus_grad_kernels,
    .vjp = vjp_by<SoftplusAttrs, softplus_grad, softplus_curvature>,
    .jvp = jvp_by<SoftplusAttrs, softplus_grad, softplus_curvature>,
    .facts = kSlopeFacts};

Tensor elu_grad(const Operand& g, const Operand& y, const EluAttrs& attrs) {
  return graph::apply(kEluGrad, {g, y}, attrs);
}

Tensor softplus_grad(const Operand& g, const Operand& x,
                     const SoftplusAttrs& attrs) {
  return graph::apply(kSoftplusGrad, {g, x}, attrs);
}

}  // namespace ops

Tensor elu(const TensorOperand& x, double alpha) {
  if (!(alpha >= 0.0)) {
    base::raise<ValueError>("elu: alpha is {}, expected alpha >= 0", alpha);
  }
  return graph::apply(ops::kElu, {x}, ops::EluAttrs{alpha});
}

Tensor softplus(const TensorOperand& x, double beta, double threshold) {
  if (!(beta > 0.0)) {
    base::raise<ValueError>("softplus: beta is {}, expected beta > 0", beta);
  }
  return graph::apply(ops::kSoftplus, {x}, ops::SoftplusAttrs{beta, threshold});
}

}  // namespace neap
