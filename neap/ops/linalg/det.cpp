// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/det.hpp"

#include <limits>

#include "neap/kernels/linalg/solve.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/elementwise/where.hpp"
#include "neap/ops/linalg/matrices.hpp"
#include "neap/ops/linalg/solve.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap {
namespace ops {

// The rules: Giles, "An extended collection of matrix derivative results for
// forward and reverse mode algorithmic differentiation", 2008.
const Op kDet{
    .name = "det",
    .formula = "y = det a; da = dy y a^-T",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          check_square("det", args.inputs[0]);
          out[0].dtype = args.inputs[0].dtype;
          out[0].shape = batch_of(args.inputs[0].shape);
        },
    .kernel = &kernels::det_kernels,
    .vjp =
        [](VjpContext& c) {
          const Tensor scale = mul(c.cotangent(), c.output());
          c.set(0, mul(transpose(inverse_unchecked(c.input(0))),
                       unsqueeze(unsqueeze(scale, -1), -1)));
        },
    .jvp =
        [](JvpContext& c) {
          const Tensor back = transpose(inverse_unchecked(c.input()));
          c.set(0, mul(sum(mul(back, c.tangent()), {-2, -1}), c.output()));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b1, .outputs = 0b1}}},
              .rows = rows_before<2>,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                const Shape& a = args.inputs[0].shape;
                return moving(args, outputs,
                              a.element_count() * a.back(1) * 2 / 3);
              }}};

}  // namespace ops

Tensor det(const TensorOperand& a) {
  ops::tensor_of("det", a);
  return graph::apply(ops::kDet, {a});
}

namespace ops {
namespace {

void vjp_slogdet(VjpContext& c) {
  if (!c.cotangent(1).defined()) {
    return;  // the sign is constant wherever it has a derivative
  }
  c.set(0, mul(transpose(inverse_unchecked(c.input(0))),
               unsqueeze(unsqueeze(c.cotangent(1), -1), -1)));
}

}  // namespace

// The rules: Giles, "An extended collection of matrix derivative results for
// forward and reverse mode algorithmic differentiation", 2008.
const Op kSlogdet{
    .name = "slogdet",
    .formula = "sign det a, log |det a|; da = d(log) a^-T",
    .outputs = 2,
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          check_square("slogdet", args.inputs[0]);
          for (Spec& spec : out) {
            spec.dtype = args.inputs[0].dtype;
            spec.shape = batch_of(args.inputs[0].shape);
          }
        },
    .kernel = &kernels::slogdet_kernels,
    .vjp = vjp_slogdet,
    .jvp =
        [](JvpContext& c) {
          const Tensor back = transpose(inverse_unchecked(c.input()));
          c.set(1, sum(mul(back, c.tangent()), {-2, -1}));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b1}}},
              .rows = rows_before<2>,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                const Shape& a = args.inputs[0].shape;
                return moving(args, outputs,
                              a.element_count() * a.back(1) * 2 / 3);
              }}};

}  // namespace ops

Slogdet slogdet(const TensorOperand& a) {
  ops::tensor_of("slogdet", a);
  const Operand& operand = a;
  std::array<Tensor, 2> outputs;
  graph::dispatch(ops::kSlogdet, std::span(&operand, 1), {}, a.site(), outputs);
  return {outputs[0].detach(), std::move(outputs[1])};
}

Tensor logdet(const TensorOperand& a) {
  const ops::AtSite here(a);
  const Slogdet both = slogdet(a);
  return where(lt(both.sign, 0.0), std::numeric_limits<double>::quiet_NaN(),
               both.logabsdet);
}

}  // namespace neap
