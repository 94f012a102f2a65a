// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The derivative rules of elementwise ops y = f(x), from one function each:
// Op::slope, dx = slope(dy, v), where v is the input x or the output y. For
// sources of ops only.
//
//   constinit const Op kSinh = from_input(
//       {.name = "sinh",
//        .formula = "y = sinh x, dx = dy cosh x",
//        .infer = infer_floating,
//        .kernel = &kernels::sinh_kernels,
//        .slope = [](const Operand& dy, const Operand& x) {
//          return mul(dy, cosh(x));
//        }});
//
// A slope uses dy once: the op that is given it may take over its memory.
#pragma once

#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {

void slope_vjp_from_input(VjpContext& c);
void slope_jvp_from_input(JvpContext& c);
void slope_vjp_from_output(VjpContext& c);
void slope_jvp_from_output(JvpContext& c);
void slope_vjp(VjpContext& c);
void slope_jvp(JvpContext& c);

/// slope_vjp and slope_jvp for any two functions, slope(dy, v) and
/// curvature(v): those of ops whose slopes need their attributes.
template <class Slope, class Curvature>
void set_slope_cotangents(VjpContext& c, const Slope& slope,
                          const Curvature& curvature) {
  const Tensor v = c.input(1);
  if (c.needs(1)) {
    c.set(1, mul(mul(curvature(v), c.input(0)), c.cotangent()));
  }
  if (c.needs(0)) {
    c.set(0, slope(c.take_cotangent(), v));
  }
}
template <class Slope, class Curvature>
void set_slope_tangent(JvpContext& c, const Slope& slope,
                       const Curvature& curvature) {
  const Tensor& v = c.input(1);
  Tensor d;
  if (c.tangent(0).defined()) {
    d = slope(c.tangent(0), v);
  }
  if (c.tangent(1).defined()) {
    d = add_defined(std::move(d),
                    mul(mul(curvature(v), c.input(0)), c.tangent(1)));
  }
  c.set(0, std::move(d));
}

inline constexpr graph::Facts kSlopeFacts{
    .vjp_reads = {{{.inputs = 0b10}, {.inputs = 0b11}}},
    .donates = 0b11,
    .rows = rows_by_element};

/// y = f(x), dx = slope(dy, x): x is kept.
constexpr Op from_input(Op op) noexcept {
  op.vjp = slope_vjp_from_input;
  op.jvp = slope_jvp_from_input;
  op.facts = {.vjp_reads = {{{.inputs = 0b1}}},
              .donates = 0b1,
              .rows = rows_by_element};
  return op;
}

/// y = f(x), dx = slope(dy, y): y is kept.
constexpr Op from_output(Op op) noexcept {
  op.vjp = slope_vjp_from_output;
  op.jvp = slope_jvp_from_output;
  op.facts = {.vjp_reads = {{{.outputs = 0b1}}},
              .donates = 0b1,
              .rows = rows_by_element};
  return op;
}

/// y = f(x), dx = 0 wherever it is defined.
constexpr Op with_zero_slope(Op op) noexcept {
  op.vjp = [](VjpContext&) {};
  op.jvp = [](JvpContext&) {};
  op.facts = {.donates = 0b1, .rows = rows_by_element};
  return op;
}

/// y = slope(g, v) = g s(v), the derivative of another op: linear in g, and by
/// v it has g curvature(v), where curvature is ds / dv.
constexpr Op of_slope(Op op) noexcept {
  op.vjp = slope_vjp;
  op.jvp = slope_jvp;
  op.facts = kSlopeFacts;
  return op;
}

}  // namespace neap::ops
