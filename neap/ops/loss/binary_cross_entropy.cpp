// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/loss/binary_cross_entropy.hpp"

#include "neap/kernels/loss/binary_cross_entropy.hpp"
#include "neap/ops/activation/activations.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/elementwise/extremes.hpp"
#include "neap/ops/loss/reduced.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

// d/dx and d/dt of a loss, from x and t.
using Part = Tensor (*)(const Tensor& x, const Tensor& t);

Tensor by_probability(const Tensor& x, const Tensor& t) {
  return div(sub(x, t), clip_min(mul(x, sub(1, x)), 1e-12));
}

Tensor by_target(const Tensor& x, const Tensor&) {
  return sub(clip_min(log1p(neg(x)), -100), clip_min(log(x), -100));
}

Tensor by_logit(const Tensor& z, const Tensor& t) {
  return sub(sigmoid(z), t);
}

Tensor by_target_of_logit(const Tensor& z, const Tensor&) {
  return neg(z);
}

template <Part kByX, Part kByT>
void vjp_of(VjpContext& c) {
  if (c.needs(1)) {
    c.set(1, mul(kByT(c.input(0), {}), c.cotangent()));
  }
  if (c.needs(0)) {
    c.set(0, mul(kByX(c.input(0), c.input(1)), c.take_cotangent()));
  }
}

template <Part kByX, Part kByT>
void jvp_of(JvpContext& c) {
  Tensor d;
  if (c.tangent(0).defined()) {
    d = mul(kByX(c.input(0), c.input(1)), c.tangent(0));
  }
  if (c.tangent(1).defined()) {
    d = add_defined(std::move(d), mul(kByT(c.input(0), {}), c.tangent(1)));
  }
  c.set(0, std::move(d));
}

constexpr graph::Facts kLossFacts{
    .vjp_reads = {{{.inputs = 0b11}, {.inputs = 0b01}}},
    .donates = 0b11,
    .rows = rows_by_element};

}  // namespace

const Op kBinaryCrossEntropy{
    .name = "binary_cross_entropy",
    .formula = "y = -(t ln x + (1 - t) ln(1 - x)), logarithms >= -100",
    .infer = infer_gradient,
    .kernel = &kernels::binary_cross_entropy_kernels,
    .vjp = vjp_of<by_probability, by_target>,
    .jvp = jvp_of<by_probability, by_target>,
    .facts = kLossFacts};

const Op kLogitsCrossEntropy{
    .name = "logits_cross_entropy",
    .formula = "y = max(z, 0) - z t + ln(1 + e^-|z|)",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_gradient(
              {"binary_cross_entropy_with_logits", args.inputs, args.attrs},
              out);
        },
    .kernel = &kernels::logits_cross_entropy_kernels,
    .vjp = vjp_of<by_logit, by_target_of_logit>,
    .jvp = jvp_of<by_logit, by_target_of_logit>,
    .facts = kLossFacts};

}  // namespace ops

Tensor binary_cross_entropy(const Operand& x, const Operand& target,
                            Reduction reduction) {
  const ops::AtSite here(x);
  return ops::reduced(graph::apply(ops::kBinaryCrossEntropy, {x, target}),
                      reduction);
}

Tensor binary_cross_entropy_with_logits(const Operand& logits,
                                        const Operand& target,
                                        Reduction reduction,
                                        const Tensor& pos_weight) {
  const ops::AtSite here(logits);
  if (!pos_weight.is_given()) {
    return ops::reduced(
        graph::apply(ops::kLogitsCrossEntropy, {logits, target}), reduction);
  }
  constexpr const char* kName = "binary_cross_entropy_with_logits";
  const Tensor& z = ops::tensor_of(kName, logits);
  const Tensor& t = ops::tensor_of(kName, target);
  if (z.shape() != t.shape()) {
    base::raise<ShapeError>("{}: shapes {} and {}, expected equal ones", kName,
                            format_shape(z.shape()), format_shape(t.shape()));
  }
  const Tensor likely = mul(mul(t, pos_weight), log_sigmoid(z));
  const Tensor unlikely = mul(sub(1, t), log_sigmoid(neg(z)));
  return ops::reduced(neg(add(likely, unlikely)), reduction);
}

}  // namespace neap
