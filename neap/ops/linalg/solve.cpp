// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/solve.hpp"

#include "neap/kernels/linalg/solve.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/linalg/matrices.hpp"
#include "neap/ops/shape/squeeze.hpp"
#include "neap/ops/shape/transpose.hpp"

namespace neap {
namespace ops {
namespace {

// With db = a^-T dx: da = -db x^T.
void vjp_solve(VjpContext& c) {
  const Tensor db = solve_unchecked(transpose(c.input(0)), c.take_cotangent());
  if (c.needs(0)) {
    const Tensor da = matmul(db, transpose(c.output()));
    c.set(0, neg(sum_to(da, c.input_shape(0))));
  }
  if (c.needs(1)) {
    c.set(1, sum_to(db, c.input_shape(1)));
  }
}

// dx = a^-1 (db - da x)
void jvp_solve(JvpContext& c) {
  Tensor right = c.tangent(1);
  if (c.tangent(0).defined()) {
    const Tensor moved = matmul(c.tangent(0), c.output());
    right = right.defined() ? sub(right, moved) : neg(moved);
  }
  c.set(0, solve_unchecked(c.input(0), right));
}

bool is_vectors(const Shape& a, const Shape& b) {
  Shape rows = a;
  if (a.rank() > 0) {
    rows.erase(a.rank() - 1);
  }
  return b.rank() == 1 || b == rows;
}

}  // namespace

// The rules: Giles, "An extended collection of matrix derivative results for
// forward and reverse mode algorithmic differentiation", 2008. The backward
// factors a^T anew rather than keep the factors.
const Op kSolve{
    .name = "solve",
    .formula = "x = a^-1 b; db = a^-T dx, da = -db x^T",
    .infer = infer_solve,
    .kernel = &kernels::solve_kernels,
    .vjp = vjp_solve,
    .jvp = jvp_solve,
    .facts = {.vjp_reads = {{{.inputs = 0b01, .outputs = 0b1},
                             {.inputs = 0b01, .shapes = 0b10}}},
              .sample_axis = SampleAxis::kMixed,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                const std::int64_t n = outputs[0].shape.back(2);
                return moving(args, outputs,
                              args.inputs[0].shape.element_count() * n * 2 / 3 +
                                  outputs[0].shape.element_count() * n * 2);
              }}};

Tensor solve_unchecked(const Operand& a, const Operand& b) {
  return graph::apply(kSolve, {a, b});
}

}  // namespace ops

Tensor solve(const Operand& a, const Operand& b) {
  const ops::AtSite here(a);
  const Shape& a_shape = ops::tensor_of("solve", a).shape();
  if (ops::is_vectors(a_shape, ops::tensor_of("solve", b).shape())) {
    return squeeze(solve(a, unsqueeze(b, -1)), -1);
  }
  Tensor x = ops::solve_unchecked(a, b);
  ops::check_factored("solve", x, "is singular, or not a number");
  return x;
}

}  // namespace neap
