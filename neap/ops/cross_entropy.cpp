// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/cross_entropy.hpp"

#include "neap/kernels/cross_entropy.hpp"
#include "neap/ops/cross_entropy_grad.hpp"
#include "neap/ops/fill.hpp"
#include "neap/ops/labels.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/sum.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

void infer_cross_entropy(const OpArgs& args, std::span<Spec> out) {
  const Spec& logits = args.inputs[0];
  check_classification("cross_entropy", logits, args.inputs[1]);
  out[0].dtype = logits.dtype;
  out[0].shape = {};
  out[1].dtype = logits.dtype;
  out[1].shape = {logits.shape[0]};
}

void jvp_cross_entropy(JvpContext& c) {
  if (c.tangent(0).defined()) {
    const Tensor& x = c.input(0);
    const Tensor one = constant(1.0, x.dtype(), x.space(), CallSite::here());
    c.set(0, sum(mul(cross_entropy_grad(one, x, c.input(1), c.output(1)),
                     c.tangent(0))));
  }
}

}  // namespace

// The second output is a residual alone, never given to the user: the
// logarithm of each row's sum of e^x, (N). No derivative flows through it; the
// gradient's own rule takes it for the function of the logits that it is.
const Op kCrossEntropy{
    .name = "cross_entropy",
    .formula = "y = mean over rows of (log sum e^x - x[label])",
    .outputs = 2,
    .infer = infer_cross_entropy,
    .kernel = &kernels::cross_entropy_kernels,
    .vjp =
        [](VjpContext& c) {
          if (c.needs(0)) {
            c.set(0, cross_entropy_grad(c.take_cotangent(), c.input(0),
                                        c.input(1), c.output(1).detach()));
          }
        },
    .jvp = jvp_cross_entropy,
    .facts = {.vjp_reads = {{{.inputs = 0b11, .outputs = 0b10}, {}}},
              .sample_axis = SampleAxis::kReduced,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              4 * args.inputs[0].shape.element_count());
              }}};

}  // namespace ops

Tensor cross_entropy(const Operand& logits, const Operand& labels) {
  const Tensor& x = ops::tensor_of("cross_entropy", logits);
  const Tensor& truth = ops::tensor_of("cross_entropy", labels);
  ops::check_classification("cross_entropy", x.spec(), truth.spec());
  ops::check_labels("cross_entropy", truth, x.shape()[1]);
  std::array<Tensor, 2> outputs;
  const std::array<Operand, 2> inputs{logits, labels};
  graph::dispatch(ops::kCrossEntropy, inputs, {}, logits.site(), outputs);
  return std::move(outputs[0]);
}

}  // namespace neap
