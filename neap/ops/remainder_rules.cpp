// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/remainder_rules.hpp"

#include "neap/ops/div.hpp"
#include "neap/ops/expand.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/neg.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {

void remainder_vjp(graph::VjpContext& c, Rounding round) {
  if (c.needs(0)) {
    c.set(0, sum_to(c.cotangent(), c.input_shape(0)));
  }
  if (c.needs(1)) {
    c.set(1, neg(sum_to(
                 mul(c.take_cotangent(), round(div(c.input(0), c.input(1)))),
                 c.input_shape(1))));
  }
}

void remainder_jvp(graph::JvpContext& c, Rounding round) {
  Tensor d;
  if (c.tangent(1).defined()) {
    d = neg(mul(c.tangent(1), round(div(c.input(0), c.input(1)))));
  }
  if (c.tangent(0).defined()) {
    d = add_defined(std::move(d), c.tangent(0));
  }
  c.set(0, expand(d, c.output().shape()));
}

}  // namespace neap::ops
