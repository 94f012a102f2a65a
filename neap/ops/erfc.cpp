// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/erfc.hpp"

#include "neap/kernels/erf.hpp"
#include "neap/ops/gaussian.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

constexpr double kSlope = -1.1283791670955126;  // -2 / sqrt(pi)

}  // namespace

const Op kErfc{
    .name = "erfc",
    .formula = "y = 1 - erf x",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("erfc", args, out[0]); },
    .kernel = &kernels::erfc_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, mul(c.take_cotangent(), mul(gaussian(c.input(0)), kSlope)));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, mul(c.tangent(), mul(gaussian(c.input()), kSlope)));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor erfc(const Operand& x) {
  return graph::apply(ops::kErfc, {x});
}

}  // namespace neap
