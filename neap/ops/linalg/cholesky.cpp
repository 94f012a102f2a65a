// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/cholesky.hpp"

#include "neap/kernels/linalg/cholesky.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/linalg/matrices.hpp"
#include "neap/ops/linalg/solve.hpp"
#include "neap/ops/linalg/triangle.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap {
namespace ops {
namespace {

// The lower triangle with half of the diagonal.
Tensor half_lower(const Tensor& x) {
  return mul(add(tril(x), tril(x, -1)), 0.5);
}

Tensor symmetric_part(const Tensor& x) {
  return mul(add(x, transpose(x)), 0.5);
}

// da = sym(L^-T half_lower(L^T dL) L^-1)
void vjp_cholesky(VjpContext& c) {
  const Tensor l = c.output();
  const TriangleOptions back{.transpose = true};
  const Tensor inner = half_lower(matmul(transpose(l), tril(c.cotangent())));
  const Tensor left = triangular_solve(l, inner, back);
  c.set(0, symmetric_part(triangular_solve(l, transpose(left), back)));
}

// dL = L half_lower(L^-1 sym(da) L^-T)
void jvp_cholesky(JvpContext& c) {
  const Tensor& l = c.output();
  const Tensor left = triangular_solve(l, symmetric_part(c.tangent()));
  const Tensor both = triangular_solve(l, transpose(left));
  c.set(0, matmul(l, half_lower(both)));
}

}  // namespace

// The rules: Murray, "Differentiation of the Cholesky decomposition", arXiv
// 1602.07527.
const Op kCholesky{
    .name = "cholesky",
    .formula =
        "L L^T = (a + a^T) / 2; da = sym(L^-T P(L^T dL) L^-1), P the "
        "lower triangle with half of the diagonal",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          check_square("cholesky", args.inputs[0]);
          infer_floating(args, out);
        },
    .kernel = &kernels::cholesky_kernels,
    .vjp = vjp_cholesky,
    .jvp = jvp_cholesky,
    .facts = {.vjp_reads = {{{.outputs = 0b1}}},
              .donates = 0b1,
              .rows = rows_before<2>,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              outputs[0].shape.element_count() *
                                  outputs[0].shape.back(1) / 3);
              }}};

}  // namespace ops

Tensor cholesky(const TensorOperand& a) {
  ops::tensor_of("cholesky", a);
  Tensor l = graph::apply(ops::kCholesky, {a});
  ops::check_factored("cholesky", l, "is not positive definite");
  return l;
}

}  // namespace neap
