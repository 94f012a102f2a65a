// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/cross_entropy_grad.hpp"

#include "neap/kernels/cross_entropy.hpp"
#include "neap/ops/div.hpp"
#include "neap/ops/fill.hpp"
#include "neap/ops/labels.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/one_hot.hpp"
#include "neap/ops/softmax.hpp"
#include "neap/ops/sub.hpp"
#include "neap/ops/sum.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

void infer_cross_entropy_grad(const OpArgs& args, Spec& out) {
  const Spec& logits = args.inputs[1];
  check_classification("cross_entropy_grad", logits, args.inputs[2]);
  check_dtype("cross_entropy_grad", args.inputs[0].dtype, logits.dtype);
  check_dtype("cross_entropy_grad", args.inputs[3].dtype, logits.dtype);
  if (args.inputs[0].shape.rank() != 0 ||
      args.inputs[3].shape != Shape{logits.shape[0]}) {
    raise<ShapeError>(
        "cross_entropy_grad: g {} and log_sum {}, expected [] and [{}]",
        format_shape(args.inputs[0].shape), format_shape(args.inputs[3].shape),
        logits.shape[0]);
  }
  out.dtype = logits.dtype;
  out.shape = logits.shape;
}

// N, but 1 where there is no sample.
double count_of(const Tensor& x) {
  return static_cast<double>(std::max<std::int64_t>(x.shape()[0], 1));
}

// (p * d - p * sum(p * d)) / N over each row, p = softmax(x): the derivative of
// p / N in the direction d, and its own transpose.
Tensor along_softmax(const Tensor& x, const Tensor& d) {
  const Tensor p = softmax(x, 1);
  Tensor pd = mul(p, d);
  const Tensor row = sum_axes(pd, 0b10);
  return div(sub(std::move(pd), mul(p, row)), count_of(x));
}

void vjp_cross_entropy_grad(VjpContext& c) {
  const Tensor& u = c.cotangent();
  if (c.needs(0)) {
    const Tensor x = c.input(1);
    const Tensor difference =
        sub(softmax(x, 1), one_hot(c.input(2), x.shape()[1], x.dtype()));
    c.set(0, div(sum(mul(difference, u)), count_of(x)));
  }
  if (c.needs(1)) {
    c.set(1, mul(along_softmax(c.input(1), u), c.input(0)));
  }
}

void jvp_cross_entropy_grad(JvpContext& c) {
  Tensor d;
  if (c.tangent(0).defined()) {
    d = cross_entropy_grad(c.tangent(0), c.input(1), c.input(2), c.input(3));
  }
  if (c.tangent(1).defined()) {
    d = add_defined(std::move(d),
                    mul(along_softmax(c.input(1), c.tangent(1)), c.input(0)));
  }
  c.set(0, std::move(d));
}

}  // namespace

// Its rules take log_sum for the function of the logits that it is.
const Op kCrossEntropyGrad{
    .name = "cross_entropy_grad",
    .formula = "dx = g (softmax(x) - one_hot(label)) / N",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_cross_entropy_grad(args, out[0]);
        },
    .kernel = &kernels::cross_entropy_grad_kernels,
    .vjp = vjp_cross_entropy_grad,
    .jvp = jvp_cross_entropy_grad,
    .facts = {.vjp_reads = {{{.inputs = 0b0110}, {.inputs = 0b0011}, {}, {}}},
              .donates = 0b0010,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              4 * outputs[0].shape.element_count());
              }}};

Tensor cross_entropy_grad(const Operand& g, const Operand& logits,
                          const Operand& labels, const Operand& log_sum) {
  return graph::apply(kCrossEntropyGrad, {g, logits, labels, log_sum});
}

}  // namespace ops

}  // namespace neap
