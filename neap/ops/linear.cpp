// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linear.hpp"

#include "neap/kernels/linear.hpp"
#include "neap/ops/expand.hpp"
#include "neap/ops/matmul.hpp"
#include "neap/ops/matmul_add.hpp"
#include "neap/ops/reshape.hpp"
#include "neap/ops/sum.hpp"
#include "neap/ops/support.hpp"
#include "neap/ops/transpose.hpp"

namespace neap {
namespace ops {
namespace {

void infer_linear(const OpArgs& args, Spec& out) {
  infer_floating("linear", args, out);
  const Shape& x = args.inputs[0].shape;
  const Shape& w = args.inputs[1].shape;
  if (x.rank() != 2 || w.rank() != 2 || x[1] != w[1]) {
    raise<ShapeError>("linear: x {} and w {}, expected (..., in) and (out, in)",
                      format_shape(x), format_shape(w));
  }
  if (args.inputs.size() > 2 && args.inputs[2].shape != Shape{w[0]}) {
    raise<ShapeError>("linear: bias {} for w {}, expected [{}]",
                      format_shape(args.inputs[2].shape), format_shape(w),
                      w[0]);
  }
  out.shape = {x[0], w[0]};
}

// a b, added to what other calls have given the input so far: a recurrent
// network uses its weights once a step.
Tensor gain(Tensor sum, const Tensor& a, const Tensor& b) {
  return sum.defined() ? matmul_add(std::move(sum), a, b) : matmul(a, b);
}

void vjp_linear(VjpContext& c) {
  const Tensor& dy = c.cotangent();
  if (c.needs(0)) {
    c.set(0, gain(c.take_sum(0), dy, c.input(1)));
  }
  if (c.needs(1)) {
    c.set(1, gain(c.take_sum(1), transpose(dy), c.input(0)));
  }
  if (c.inputs() > 2 && c.needs(2)) {
    c.set(2, sum(dy, {0}));
  }
}

void jvp_linear(JvpContext& c) {
  Tensor d;
  if (c.tangent(0).defined()) {
    d = linear(c.tangent(0), c.input(1));
  }
  if (c.tangent(1).defined()) {
    d = add_defined(std::move(d), linear(c.input(0), c.tangent(1)));
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
Tensor linear_of(const Operand& x, const Operand& w, const Bias&... bias) {
  const Tensor& value = tensor_of("linear", x);
  (tensor_of("linear", w), ..., tensor_of("linear", bias));
  if (value.rank() == 2) {
    return graph::apply(kLinear, {x, w, bias...});
  }
  if (value.rank() == 0) {
    raise<ShapeError>("linear: x has rank 0, expected (..., in)");
  }
  const AtSite here(x);
  const Tensor y = graph::apply(kLinear, {as_rows(x), w, bias...});
  Shape shape = value.shape();
  shape[shape.rank() - 1] = y.shape()[1];
  return reshape(y, shape);
}

}  // namespace

const Op kLinear{
    .name = "linear",
    .formula =
        "y = x w^T + b; dx = dy w, dw = dy^T x, db = sum of dy over rows",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_linear(args, out[0]); },
    .kernel = &kernels::linear_kernels,
    .vjp = vjp_linear,
    .jvp = jvp_linear,
    .facts = {.vjp_reads = {{{.inputs = 0b010}, {.inputs = 0b001}}},
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              2 * outputs[0].shape.element_count() *
                                  args.inputs[0].shape.back(1));
              }}};

}  // namespace ops

Tensor linear(const Operand& x, const Operand& w) {
  return ops::linear_of(x, w);
}

Tensor linear(const Operand& x, const Operand& w, const Operand& bias) {
  return ops::linear_of(x, w, bias);
}

}  // namespace neap
