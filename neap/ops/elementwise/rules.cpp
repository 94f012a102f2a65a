// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/rules.hpp"

#include "neap/ops/elementwise/arithmetic.hpp"

namespace neap::ops {

void slope_vjp_from_input(VjpContext& c) {
  const Tensor x = c.input(0);
  c.set(0, c.op().slope(c.take_cotangent(), x));
}

void slope_jvp_from_input(JvpContext& c) {
  c.set(0, c.op().slope(c.tangent(), c.input()));
}

void slope_vjp_from_output(VjpContext& c) {
  const Tensor y = c.output();
  c.set(0, c.op().slope(c.take_cotangent(), y));
}

void slope_jvp_from_output(JvpContext& c) {
  c.set(0, c.op().slope(c.tangent(), c.output()));
}

void slope_vjp(VjpContext& c) {
  const Op& op = c.op();
  const Tensor v = c.input(1);
  if (c.needs(1)) {
    c.set(1, mul(mul(op.curvature(v), c.input(0)), c.cotangent()));
  }
  if (c.needs(0)) {
    c.set(0, op.slope(c.take_cotangent(), v));
  }
}

void slope_jvp(JvpContext& c) {
  const Op& op = c.op();
  Tensor d;
  if (c.tangent(0).defined()) {
    d = op.slope(c.tangent(0), c.input(1));
  }
  if (c.tangent(1).defined()) {
    d = add_defined(std::move(d), mul(mul(op.curvature(c.input(1)), c.input(0)),
                                      c.tangent(1)));
  }
  c.set(0, std::move(d));
}

}  // namespace neap::ops
