// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/solve.hpp"

#include "neap/kernels/linalg/solve.hpp"
#include "neap/kernels/linalg/triangular_solve.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/linalg/matrices.hpp"
#include "neap/ops/linalg/triangle.hpp"
#include "neap/ops/shape/views.hpp"

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
              .rows = rows_of_matrices,
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
  const Shape& b_shape = ops::tensor_of("solve", b).shape();
  const bool is_vectors = ops::is_vectors(a_shape, b_shape);
  Tensor x = is_vectors ? ops::solve_unchecked(a, unsqueeze(b, -1))
                        : ops::solve_unchecked(a, b);
  ops::check_factored("solve", x, "is singular, or not a number");
  return is_vectors ? squeeze(x, -1) : x;
}

namespace ops {
namespace {

using kernels::TriangleAttrs;

Tensor solve_by(const Operand& a, const Operand& b,
                const TriangleAttrs& attrs) {
  return graph::apply(kTriangularSolve, {a, b}, attrs);
}

// The part of a matrix that is A, but for a diagonal of ones.
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
              .rows = rows_of_matrices,
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

namespace ops {

// The rules: Giles, "An extended collection of matrix derivative results for
// forward and reverse mode algorithmic differentiation", 2008.
const Op kInverse{
    .name = "inverse",
    .formula = "y = a^-1; da = -y^T dy y^T",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          check_square("inverse", args.inputs[0]);
          infer_floating(args, out);
        },
    .kernel = &kernels::inverse_kernels,
    .vjp =
        [](VjpContext& c) {
          const Tensor y = transpose(c.output());
          c.set(0, neg(matmul(matmul(y, c.cotangent()), y)));
        },
    .jvp =
        [](JvpContext& c) {
          const Tensor& y = c.output();
          c.set(0, neg(matmul(matmul(y, c.tangent()), y)));
        },
    .facts = {.vjp_reads = {{{.outputs = 0b1}}},
              .donates = 0b1,
              .rows = rows_of_matrices,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              2 * outputs[0].shape.element_count() *
                                  outputs[0].shape.back(1));
              }}};

Tensor inverse_unchecked(const Operand& a) {
  return graph::apply(kInverse, {a});
}

}  // namespace ops

Tensor inverse(const TensorOperand& a) {
  ops::tensor_of("inverse", a);
  Tensor y = ops::inverse_unchecked(a);
  ops::check_factored("inverse", y, "is singular, or not a number");
  return y;
}

}  // namespace neap
