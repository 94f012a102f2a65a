// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/where.hpp"

#include "neap/kernels/elementwise/where.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

void infer_where(const OpArgs& args, std::span<Spec> out) {
  check_dtype("where", args.inputs[0].dtype, boolean);
  infer_broadcast({args.name, args.inputs.subspan(1), args.attrs}, out);
  out[0].shape = base::broadcast("where", out[0].shape, args.inputs[0].shape);
}

}  // namespace

const Op kWhere{.name = "where",
                .formula = "y = condition ? a : b",
                .infer = infer_where,
                .kernel = &kernels::where_kernels,
                .vjp =
                    [](VjpContext& c) {
                      if (c.needs(1)) {
                        c.set(1, sum_to(where(c.input(0), c.cotangent(), 0),
                                        c.input_shape(1)));
                      }
                      if (c.needs(2)) {
                        c.set(2, sum_to(where(c.input(0), 0, c.cotangent()),
                                        c.input_shape(2)));
                      }
                    },
                .jvp =
                    [](JvpContext& c) {
                      const Tensor& da = c.tangent(1);
                      const Tensor& db = c.tangent(2);
                      const Tensor d = da.defined() && db.defined()
                                           ? where(c.input(0), da, db)
                                       : da.defined()
                                           ? where(c.input(0), da, 0)
                                           : where(c.input(0), 0, db);
                      c.set(0, expand(d, c.output().shape()));
                    },
                .facts = {.vjp_reads = {{{},
                                         {.inputs = 0b001, .shapes = 0b010},
                                         {.inputs = 0b001, .shapes = 0b100}}},
                          .donates = 0b110,
                          .rows = rows_by_element}};

}  // namespace ops

Tensor where(const Operand& condition, const Operand& a, const Operand& b) {
  const ops::Operands both("where", a, b);
  return graph::apply(ops::kWhere, {condition, both.a(), both.b()});
}

Tensor masked_fill(const Operand& x, const Operand& mask,
                   const Operand& value) {
  return where(mask, value, x);
}

}  // namespace neap
