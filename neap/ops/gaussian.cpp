// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/gaussian.hpp"

#include "neap/kernels/erf.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kGaussian{
    .name = "gaussian",
    .formula = "y = e^-x^2, dx = -2 x y dy",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_floating("gaussian", args, out[0]);
        },
    .kernel = &kernels::gaussian_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0,
                mul(c.take_cotangent(), mul(mul(c.input(0), c.output()), -2)));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, mul(c.tangent(), mul(mul(c.input(), c.output()), -2)));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b1, .outputs = 0b1}}},
              .donates = 0b1}};

}  // namespace ops

Tensor gaussian(const Operand& x) {
  return graph::apply(ops::kGaussian, {x});
}

}  // namespace neap
