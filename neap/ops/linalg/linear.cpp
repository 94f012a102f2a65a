// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/linear.hpp"

#include "neap/kernels/linalg/linear.hpp"
#include "neap/ops/linalg/linear_rules.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/precision.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

void vjp_linear(VjpContext& c) {
  const UsePrecision same(c.attrs<kernels::ProductAttrs>().precision);
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
  const UsePrecision same(c.attrs<kernels::ProductAttrs>().precision);
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

template <class... Bias>
Tensor linear_of(const Operand& x, const Operand& w, const Bias&... bias) {
  tensor_of("linear", x);
  (check_half_weight("linear", "w", tensor_of("linear", w)), ...,
   tensor_of("linear", bias));
  return over_rows("linear", x, [&](const Operand& rows) {
    return graph::apply(kLinear, {rows, w, bias...}, product_attrs());
  });
}

}  // namespace

const Op kLinear{
    .name = "linear",
    .formula =
        "y = x w^T + b; dx = dy w, dw = dy^T x, db = sum of dy over rows",
    .infer = infer_linear,
    .kernel = &kernels::linear_kernels,
    .vjp = vjp_linear,
    .jvp = jvp_linear,
    .facts = {.vjp_reads = {{{.inputs = 0b010}, {.inputs = 0b001}}},
              .rows = rows_by_sample<0b1, 0b1>,
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
