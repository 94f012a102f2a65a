// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/gelu_linear.hpp"

#include "neap/kernels/gelu_linear.hpp"
#include "neap/ops/expand.hpp"
#include "neap/ops/gelu_grad.hpp"
#include "neap/ops/linear.hpp"
#include "neap/ops/matmul.hpp"
#include "neap/ops/matmul_add.hpp"
#include "neap/ops/reshape.hpp"
#include "neap/ops/sum.hpp"
#include "neap/ops/support.hpp"
#include "neap/ops/transpose.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::GeluLinearAttrs;

void infer_gelu_linear(const OpArgs& args, Spec& out) {
  infer_floating("gelu_linear", args, out);
  const Shape& x = args.inputs[0].shape;
  const Shape& w = args.inputs[1].shape;
  if (x.rank() != 2 || w.rank() != 2 || x[1] != w[1]) {
    raise<ShapeError>(
        "gelu_linear: x {} and w {}, expected (..., in) and (out, in)",
        format_shape(x), format_shape(w));
  }
  if (args.inputs.size() > 2 && args.inputs[2].shape != Shape{w[0]}) {
    raise<ShapeError>("gelu_linear: bias {} for w {}, expected [{}]",
                      format_shape(args.inputs[2].shape), format_shape(w),
                      w[0]);
  }
  out.shape = {x[0], w[0]};
}

Tensor gelu_of(const Tensor& x, const GeluLinearAttrs& attrs) {
  return gelu(x, attrs.by_tanh ? GeluForm::kTanh : GeluForm::kExact);
}

Tensor slope_of(Tensor g, const Tensor& x, const GeluLinearAttrs& attrs) {
  return attrs.by_tanh ? gelu_tanh_grad(std::move(g), x)
                       : gelu_grad(std::move(g), x);
}

void vjp_gelu_linear(VjpContext& c) {
  const auto attrs = c.attrs<GeluLinearAttrs>();
  const Tensor& dy = c.cotangent();
  if (c.needs(0)) {
    c.set(0, slope_of(matmul(dy, c.input(1)), c.input(0), attrs));
  }
  if (c.needs(1)) {
    Tensor sum = c.take_sum(1);
    const Tensor u = gelu_of(c.input(0), attrs);
    c.set(1, sum.defined() ? matmul_add(std::move(sum), transpose(dy), u)
                           : matmul(transpose(dy), u));
  }
  if (c.inputs() > 2 && c.needs(2)) {
    c.set(2, sum(dy, {0}));
  }
}

void jvp_gelu_linear(JvpContext& c) {
  const auto attrs = c.attrs<GeluLinearAttrs>();
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

// x with its leading axes as one.
Tensor as_rows(const Operand& x) {
  const Shape& shape = x.tensor().shape();
  std::int64_t rows = 1;
  for (int axis = 0; axis + 1 < shape.rank(); ++axis) {
    rows = base::checked_mul(rows, shape[axis]);
  }
  return reshape(x, {rows, shape.back()});
}

template <class... Bias>
Tensor gelu_linear_of(const Operand& x, const Operand& w, GeluForm form,
                      const Bias&... bias) {
  const Tensor& value = tensor_of("gelu_linear", x);
  (tensor_of("gelu_linear", w), ..., tensor_of("gelu_linear", bias));
  const GeluLinearAttrs attrs{.by_tanh = form == GeluForm::kTanh};
  if (value.rank() == 2) {
    return graph::apply(kGeluLinear, {x, w, bias...}, attrs);
  }
  if (value.rank() == 0) {
    raise<ShapeError>("gelu_linear: x has rank 0, expected (..., in)");
  }
  const AtSite here(x);
  const Tensor y = graph::apply(kGeluLinear, {as_rows(x), w, bias...}, attrs);
  Shape shape = value.shape();
  shape[shape.rank() - 1] = y.shape()[1];
  return reshape(y, shape);
}

}  // namespace

const Op kGeluLinear{
    .name = "gelu_linear",
    .formula = "y = gelu(x) w^T + b",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_gelu_linear(args, out[0]); },
    .kernel = &kernels::gelu_linear_kernels,
    .vjp = vjp_gelu_linear,
    .jvp = jvp_gelu_linear,
    .facts = {.vjp_reads = {{{.inputs = 0b011}, {.inputs = 0b001}}},
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
