// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/fmod.hpp"

#include "neap/kernels/fmod.hpp"
#include "neap/ops/div.hpp"
#include "neap/ops/expand.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/neg.hpp"
#include "neap/ops/support.hpp"
#include "neap/ops/trunc.hpp"

namespace neap {
namespace ops {
namespace {

// How often b goes into a.
Tensor times(const Tensor& a, const Tensor& b) {
  return trunc(div(a, b));
}

}  // namespace

const Op kFmod{
    .name = "fmod",
    .formula = "y = a - b trunc(a / b), da = dy, db = -dy trunc(a / b)",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_broadcast_floating("fmod", args, out[0]);
        },
    .kernel = &kernels::fmod_kernels,
    .vjp =
        [](VjpContext& c) {
          if (c.needs(0)) {
            c.set(0, sum_to(c.cotangent(), c.input_shape(0)));
          }
          if (c.needs(1)) {
            c.set(1, neg(sum_to(
                         mul(c.take_cotangent(), times(c.input(0), c.input(1))),
                         c.input_shape(1))));
          }
        },
    .jvp =
        [](JvpContext& c) {
          Tensor d;
          if (c.tangent(1).defined()) {
            d = neg(mul(c.tangent(1), times(c.input(0), c.input(1))));
          }
          if (c.tangent(0).defined()) {
            d = add_defined(std::move(d), c.tangent(0));
          }
          c.set(0, expand(d, c.output().shape()));
        },
    .facts = {.vjp_reads = {{{.shapes = 0b1}, {.inputs = 0b11}}},
              .donates = 0b11}};

}  // namespace ops

Tensor fmod(const Operand& a, const Operand& b) {
  const ops::Operands both("fmod", a, b);
  return graph::apply(ops::kFmod, {both.a(), both.b()});
}

}  // namespace neap
