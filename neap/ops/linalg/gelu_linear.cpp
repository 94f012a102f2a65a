// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/gelu_linear.hpp"

#include "neap/kernels/linalg/gelu_linear.hpp"
#include "neap/ops/activation/activation_grads.hpp"
#include "neap/ops/linalg/linear.hpp"
#include "neap/ops/linalg/linear_rules.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/precision.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::GeluLinearAttrs;

Tensor gelu_of(const Tensor& x, const GeluLinearAttrs& attrs) {
  return gelu(x, attrs.by_tanh ? GeluForm::kTanh : GeluForm::kExact);
}

Tensor slope_of(Tensor g, const Tensor& x, const GeluLinearAttrs& attrs) {
  return attrs.by_tanh ? gelu_tanh_grad(std::move(g), x)
                       : gelu_grad(std::move(g), x);
}

void vjp_gelu_linear(VjpContext& c) {
  const auto attrs = c.attrs<GeluLinearAttrs>();
  const UsePrecision same(attrs.precision);
  const Tensor& dy = c.cotangent();
  if (c.needs(0)) {
    c.set(0, slope_of(matmul(dy, c.input(1)), c.input(0), attrs));
  }
  if (c.needs(1)) {
    c.set(1, gain(c.take_sum(1), transpose(dy), gelu_of(c.input(0), attrs)));
  }
  if (c.inputs() > 2 && c.needs(2)) {
    c.set(2, sum(dy, {0}));
  }
}

void jvp_gelu_linear(JvpContext& c) {
  const auto attrs = c.attrs<GeluLinearAttrs>();
  const UsePrecision same(attrs.precision);
  Tensor d;
  if (c.tangent(0).defined()) {
    d = linear(slope_of(c.tangent(0), c.input(0), attrs), c.input(1));
  }
  if (c.tangent(1).defined()) {
    d = add_defined(std::move(d),
                    linear(gelu_of(c.input(0), attrs), c.tangent(1)));
  }
  if (c.inputs() > 2 && c.tangent(2).defined()) {
    d = add_defined(std::move(d), c.tangent(2));
  }
  c.set(0, expand(d, c.output().shape()));
}

template <class... Bias>
Tensor gelu_linear_of(const Operand& x, const Operand& w, GeluForm form,
                      const Bias&... bias) {
  tensor_of("gelu_linear", x);
  (check_half_weight("gelu_linear", "w", tensor_of("gelu_linear", w)), ...,
   tensor_of("gelu_linear", bias));
  const GeluLinearAttrs attrs{.by_tanh = form == GeluForm::kTanh,
                              .precision = current_precision()};
  return over_rows("gelu_linear", x, [&](const Operand& rows) {
    return graph::apply(kGeluLinear, {rows, w, bias...}, attrs);
  });
}

}  // namespace

const Op kGeluLinear{
    .name = "gelu_linear",
    .formula = "y = gelu(x) w^T + b",
    .infer = infer_linear,
    .kernel = &kernels::gelu_linear_kernels,
    .vjp = vjp_gelu_linear,
    .jvp = jvp_gelu_linear,
    .facts = {.vjp_reads = {{{.inputs = 0b011}, {.inputs = 0b001}}},
              .rows = rows_by_sample<0b1, 0b1>,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                const Shape& x = args.inputs[0].shape;
                return moving(args, outputs,
                              2 * outputs[0].shape.element_count() * x[1] +
                                  8 * x.element_count());
              }}};

}  // namespace ops

Tensor gelu_linear(const Operand& x, const Operand& w, GeluForm form) {
  return ops::gelu_linear_of(x, w, form);
}

Tensor gelu_linear(const Operand& x, const Operand& w, const Operand& bias,
                   GeluForm form) {
  return ops::gelu_linear_of(x, w, form, bias);
}

}  // namespace neap
