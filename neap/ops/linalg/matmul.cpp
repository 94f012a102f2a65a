// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/matmul.hpp"

#include "neap/kernels/gemm/matmul.hpp"
#include "neap/ops/precision.hpp"
#include "neap/ops/shape/squeeze.hpp"
#include "neap/ops/shape/transpose.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

void infer_matmul(const OpArgs& args, std::span<Spec> out) {
  infer_floating({args.name, args.inputs, args.attrs}, out);
  const Shape& a = args.inputs[0].shape;
  const Shape& b = args.inputs[1].shape;
  if (a.rank() < 2 || b.rank() < 2 || a.back(1) != b.back(2)) {
    raise<ShapeError>("matmul: {} times {}, the inner extents must be equal",
                      format_shape(a), format_shape(b));
  }
  const auto leading = [](const Shape& shape) {
    return Shape(
        shape.span().first(static_cast<std::size_t>(shape.rank() - 2)));
  };
  out[0].shape = base::broadcast("matmul", leading(a), leading(b));
  out[0].shape.push_back(a.back(2));
  out[0].shape.push_back(b.back(1));
}

}  // namespace

const Op kMatmul{
    .name = "matmul",
    .formula = "c = a b over the last two axes; da = dc b^T, db = a^T dc",
    .infer = infer_matmul,
    .kernel = &kernels::matmul_kernels,
    .vjp =
        [](VjpContext& c) {
          const UsePrecision same(c.attrs<kernels::ProductAttrs>().precision);
          if (c.needs(0)) {
            c.set(0, sum_to(matmul(c.cotangent(), transpose(c.input(1))),
                            c.input_shape(0)));
          }
          if (c.needs(1)) {
            c.set(1, sum_to(matmul(transpose(c.input(0)), c.cotangent()),
                            c.input_shape(1)));
          }
        },
    .jvp =
        [](JvpContext& c) {
          const UsePrecision same(c.attrs<kernels::ProductAttrs>().precision);
          Tensor d;
          if (c.tangent(0).defined()) {
            d = matmul(c.tangent(0), c.input(1));
          }
          if (c.tangent(1).defined()) {
            d = add_defined(std::move(d), matmul(c.input(0), c.tangent(1)));
          }
          c.set(0, std::move(d));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b10, .shapes = 0b01},
                             {.inputs = 0b01, .shapes = 0b10}}},
              .sample_axis = SampleAxis::kMixed,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              2 * outputs[0].shape.element_count() *
                                  args.inputs[0].shape.back(1));
              }}};

}  // namespace ops

Tensor matmul(const Operand& a, const Operand& b) {
  const int a_rank = ops::tensor_of("matmul", a).rank();
  const int b_rank = ops::tensor_of("matmul", b).rank();
  if (a_rank > 1 && b_rank > 1) {
    return graph::apply(ops::kMatmul, {a, b}, ops::product_attrs());
  }
  if (a_rank == 0 || b_rank == 0) {
    base::raise<ShapeError>("matmul: an operand of rank 0, expected 1 or more");
  }
  const ops::AtSite here(a);
  Tensor c = matmul(a_rank == 1 ? unsqueeze(a, 0) : a.tensor(),
                    b_rank == 1 ? unsqueeze(b, 1) : b.tensor());
  if (b_rank == 1) {
    c = squeeze(c, -1);
  }
  return a_rank == 1 ? squeeze(c, b_rank == 1 ? -1 : -2) : c;
}

}  // namespace neap
