// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/rules.hpp"

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
  set_slope_cotangents(c, c.op().slope, c.op().curvature);
}

void slope_jvp(JvpContext& c) {
  set_slope_tangent(c, c.op().slope, c.op().curvature);
}

}  // namespace neap::ops
