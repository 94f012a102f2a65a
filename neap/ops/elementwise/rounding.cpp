// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/rounding.hpp"

#include "neap/kernels/elementwise/fmod.hpp"
#include "neap/kernels/elementwise/rounding.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/rules.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap {
namespace ops {
namespace {

// a - b q with q = round(a / b), constant but for jumps.
using Rounding = Tensor (*)(const TensorOperand& x);

void remainder_vjp(VjpContext& c, Rounding round) {
  if (c.needs(0)) {
    c.set(0, sum_to(c.cotangent(), c.input_shape(0)));
  }
  if (c.needs(1)) {
    c.set(1, neg(sum_to(
                 mul(c.take_cotangent(), round(div(c.input(0), c.input(1)))),
                 c.input_shape(1))));
  }
}

void remainder_jvp(JvpContext& c, Rounding round) {
  Tensor d;
  if (c.tangent(1).defined()) {
    d = neg(mul(c.tangent(1), round(div(c.input(0), c.input(1)))));
  }
  if (c.tangent(0).defined()) {
    d = add_defined(std::move(d), c.tangent(0));
  }
  c.set(0, expand(d, c.output().shape()));
}

}  // namespace

constinit const Op kCeil =
    with_zero_slope({.name = "ceil",
                     .formula = "y = the next whole number up; dy/dx = 0",
                     .infer = infer_floating,
                     .kernel = &kernels::ceil_kernels});

constinit const Op kFloor =
    with_zero_slope({.name = "floor",
                     .formula = "y = the next whole number down; dy/dx = 0",
                     .infer = infer_floating,
                     .kernel = &kernels::floor_kernels});

constinit const Op kRound = with_zero_slope(
    {.name = "round",
     .formula = "y = the nearest whole number, halves to even; dy/dx = 0",
     .infer = infer_floating,
     .kernel = &kernels::round_kernels});

constinit const Op kTrunc = with_zero_slope(
    {.name = "trunc",
     .formula = "y = the next whole number towards 0; dy/dx = 0",
     .infer = infer_floating,
     .kernel = &kernels::trunc_kernels});

const Op kFmod{
    .name = "fmod",
    .formula = "y = a - b trunc(a / b), da = dy, db = -dy trunc(a / b)",
    .infer = infer_broadcast_floating,
    .kernel = &kernels::fmod_kernels,
    .vjp = [](VjpContext& c) { remainder_vjp(c, trunc); },
    .jvp = [](JvpContext& c) { remainder_jvp(c, trunc); },
    .facts = {.vjp_reads = {{{.shapes = 0b1}, {.inputs = 0b11}}},
              .donates = 0b11,
              .rows = rows_by_element}};

const Op kRemainder{
    .name = "remainder",
    .formula = "y = a - b floor(a / b), da = dy, db = -dy floor(a / b)",
    .infer = infer_broadcast_floating,
    .kernel = &kernels::remainder_kernels,
    .vjp = [](VjpContext& c) { remainder_vjp(c, floor); },
    .jvp = [](JvpContext& c) { remainder_jvp(c, floor); },
    .facts = {.vjp_reads = {{{.shapes = 0b1}, {.inputs = 0b11}}},
              .donates = 0b11,
              .rows = rows_by_element}};

}  // namespace ops

Tensor ceil(const TensorOperand& x) {
  return graph::apply(ops::kCeil, {x});
}

Tensor floor(const TensorOperand& x) {
  return graph::apply(ops::kFloor, {x});
}

Tensor round(const TensorOperand& x) {
  return graph::apply(ops::kRound, {x});
}

Tensor trunc(const TensorOperand& x) {
  return graph::apply(ops::kTrunc, {x});
}

Tensor fmod(const Operand& a, const Operand& b) {
  return ops::apply_pair(ops::kFmod, a, b);
}

Tensor remainder(const Operand& a, const Operand& b) {
  return ops::apply_pair(ops::kRemainder, a, b);
}

}  // namespace neap
