// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/triangular_solve.hpp"

#include "neap/kernels/linalg/triangular_solve.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/linalg/matrices.hpp"
#include "neap/ops/linalg/triangle.hpp"
#include "neap/ops/shape/transpose.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::TriangleAttrs;

Tensor solve_by(const Operand& a, const Operand& b,
                const TriangleAttrs& attrs) {
  return graph::apply(kTriangularSolve, {a, b}, attrs);
}

// What of a matrix is A, but for a diagonal of ones.
Tensor triangle_of(const Tensor& a, const TriangleAttrs& attrs) {
  const int unit = attrs.unit ? 1 : 0;
  return attrs.upper ? triu(a, unit) : tril(a, -unit);
}

// With db = op(A)^-T dx: d(op A) = -db x^T, of which A's triangle counts.
void vjp_triangular_solve(VjpContext& c) {
  const auto attrs = c.attrs<TriangleAttrs>();
  TriangleAttrs other = attrs;
  other.transpose = !attrs.transpose;
  const Tensor db = solve_by(c.input(0), c.take_cotangent(), other);
  if (c.needs(0)) {
    const Tensor x = c.output();
    const Tensor da =
        attrs.transpose ? matmul(x, transpose(db)) : matmul(db, transpose(x));
    c.set(0, triangle_of(neg(sum_to(da, c.input_shape(0))), attrs));
  }
  if (c.needs(1)) {
    c.set(1, sum_to(db, c.input_shape(1)));
  }
}

// dx = op(A)^-1 (db - d(op A) x)
void jvp_triangular_solve(JvpContext& c) {
  const auto attrs = c.attrs<TriangleAttrs>();
  Tensor right = c.tangent(1);
  if (c.tangent(0).defined()) {
    const Tensor da = triangle_of(c.tangent(0), attrs);
    const Tensor moved =
        matmul(attrs.transpose ? transpose(da) : da, c.output());
    right = right.defined() ? sub(right, moved) : neg(moved);
  }
  c.set(0, solve_by(c.input(0), right, attrs));
}

}  // namespace

// The rules: Giles, "An extended collection of matrix derivative results for
// forward and reverse mode algorithmic differentiation", 2008.
const Op kTriangularSolve{
    .name = "triangular_solve",
    .formula = "x = A^-1 b, A a triangle of a; db = A^-T dx, dA = -db x^T",
    .infer = infer_solve,
    .kernel = &kernels::triangular_solve_kernels,
    .vjp = vjp_triangular_solve,
    .jvp = jvp_triangular_solve,
    .facts = {.vjp_reads = {{{.inputs = 0b01, .outputs = 0b1},
                             {.inputs = 0b01, .shapes = 0b10}}},
              .donates = 0b10,
              .sample_axis = SampleAxis::kMixed,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              outputs[0].shape.element_count() *
                                  outputs[0].shape.back(2));
              }}};

}  // namespace ops

Tensor triangular_solve(const Operand& a, const Operand& b,
                        const TriangleOptions& options) {
  ops::tensor_of("triangular_solve", a);
  ops::tensor_of("triangular_solve", b);
  return ops::solve_by(a, b,
                       {.upper = options.upper,
                        .transpose = options.transpose,
                        .unit = options.unit});
}

}  // namespace neap
