// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/erf.hpp"

#include "neap/kernels/erf.hpp"
#include "neap/ops/gaussian.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

constexpr double kSlope = 1.1283791670955126;  // 2 / sqrt(pi)

}  // namespace

const Op kErf{
    .name = "erf",
    .formula = "y = 2 / sqrt(pi) integral of e^-t^2 from 0 to x",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("erf", args, out[0]); },
    .kernel = &kernels::erf_kernels,
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

Tensor erf(const Operand& x) {
  return graph::apply(ops::kErf, {x});
}

}  // namespace neap
