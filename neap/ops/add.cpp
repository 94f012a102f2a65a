// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/add.hpp"

#include "neap/kernels/add.hpp"
#include "neap/ops/expand.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kAdd{
    .name = "add",
    .formula = "y = a + b",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_arithmetic("add", args, out[0]); },
    .kernel = &kernels::add_kernels,
    .vjp =
        [](VjpContext& c) {
          for (int i = 0; i < 2; ++i) {
            if (c.needs(i)) {
              c.set(i, sum_to(c.cotangent(), c.input_shape(i)));
            }
          }
        },
    .jvp =
        [](JvpContext& c) {
          const Tensor& da = c.tangent(0);
          const Tensor& db = c.tangent(1);
          if (da.defined() && db.defined()) {
            c.set(0, add(da, db));
          } else {
            c.set(0, expand(da.defined() ? da : db, c.output().shape()));
          }
        },
    .facts = {.vjp_reads = {{{.shapes = 0b01}, {.shapes = 0b10}}},
              .donates = 0b11}};

}  // namespace ops

Tensor add(const Operand& a, const Operand& b) {
  const ops::Operands both("add", a, b);
  return graph::apply(ops::kAdd, {both.a(), both.b()});
}

}  // namespace neap
