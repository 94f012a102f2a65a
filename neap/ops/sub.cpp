// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sub.hpp"

#include "neap/kernels/sub.hpp"
#include "neap/ops/expand.hpp"
#include "neap/ops/neg.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kSub{
    .name = "sub",
    .formula = "y = a - b",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_arithmetic("sub", args, out[0]); },
    .kernel = &kernels::sub_kernels,
    .vjp =
        [](VjpContext& c) {
          if (c.needs(0)) {
            c.set(0, sum_to(c.cotangent(), c.input_shape(0)));
          }
          if (c.needs(1)) {
            c.set(1, neg(sum_to(c.cotangent(), c.input_shape(1))));
          }
        },
    .jvp =
        [](JvpContext& c) {
          const Tensor& da = c.tangent(0);
          const Tensor& db = c.tangent(1);
          if (da.defined() && db.defined()) {
            c.set(0, sub(da, db));
          } else {
            c.set(0, expand(da.defined() ? da : neg(db), c.output().shape()));
          }
        },
    .facts = {.vjp_reads = {{{.shapes = 0b01}, {.shapes = 0b10}}},
              .donates = 0b11}};

}  // namespace ops

Tensor sub(const Operand& a, const Operand& b) {
  const ops::Operands both("sub", a, b);
  return graph::apply(ops::kSub, {both.a(), both.b()});
}

}  // namespace neap
