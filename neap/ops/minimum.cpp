// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/minimum.hpp"

#include "neap/kernels/minimum.hpp"
#include "neap/ops/compare.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/support.hpp"
#include "neap/ops/where.hpp"

namespace neap {
namespace ops {
namespace {

// d where a wins over b, half of it where they are equal.
Tensor share_of(const Tensor& a, const Tensor& b, const Tensor& d) {
  return where(lt(a, b), d, where(eq(a, b), mul(d, 0.5), 0));
}

}  // namespace

const Op kMinimum{
    .name = "minimum",
    .formula = "y = min(a, b); equal operands share dy equally",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_arithmetic("minimum", args, out[0]);
        },
    .kernel = &kernels::minimum_kernels,
    .vjp =
        [](VjpContext& c) {
          for (int i = 0; i < 2; ++i) {
            if (c.needs(i)) {
              c.set(i,
                    sum_to(share_of(c.input(i), c.input(1 - i), c.cotangent()),
                           c.input_shape(i)));
            }
          }
        },
    .jvp =
        [](JvpContext& c) {
          Tensor d;
          for (int i = 0; i < 2; ++i) {
            if (c.tangent(i).defined()) {
              d = add_defined(std::move(d), share_of(c.input(i), c.input(1 - i),
                                                     c.tangent(i)));
            }
          }
          c.set(0, std::move(d));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b11}, {.inputs = 0b11}}},
              .donates = 0b11}};

}  // namespace ops

Tensor minimum(const Operand& a, const Operand& b) {
  const ops::Operands both("minimum", a, b);
  return graph::apply(ops::kMinimum, {both.a(), both.b()});
}

}  // namespace neap
