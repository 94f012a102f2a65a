// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/matmul.hpp"

#include "neap/kernels/gemm/matmul.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/linalg/linear_rules.hpp"
#include "neap/ops/precision.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

void infer_matmul(const OpArgs& args, std::span<Spec> out) {
  infer_weighted({args.name, args.inputs, args.attrs}, out, 1, {"a", "b"});
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
              .rows = rows_of_product,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              2 * outputs[0].shape.element_count() *
                                  args.inputs[0].shape.back(1));
              }}};

}  // namespace ops

Tensor matmul(const Operand& a, const Operand& b) {
  const int a_rank = ops::tensor_of("matmul", a).rank();
  const int b_rank = ops::tensor_of("matmul", b).rank();
  ops::check_half_weight("matmul", "b", b.tensor());
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

namespace ops {
namespace {

void infer_matmul_add(const OpArgs& args, std::span<Spec> out) {
  infer_weighted(args, out, 2, {"c", "a", "b"});
  Spec product;
  kMatmul.infer({kMatmul.name, args.inputs.subspan(1), args.attrs},
                {&product, 1});
  if (product.shape != out[0].shape) {
    raise<ShapeError>("matmul_add: {} and a product {}, expected one shape",
                      format_shape(out[0].shape), format_shape(product.shape));
  }
}

void vjp_matmul_add(VjpContext& c) {
  const UsePrecision same(c.attrs<kernels::ProductAttrs>().precision);
  if (c.needs(1)) {
    c.set(1, sum_to(matmul(c.cotangent(), transpose(c.input(2))),
                    c.input_shape(1)));
  }
  if (c.needs(2)) {
    c.set(2, sum_to(matmul(transpose(c.input(1)), c.cotangent()),
                    c.input_shape(2)));
  }
  if (c.needs(0)) {
    c.set(0, c.take_cotangent());
  }
}

void jvp_matmul_add(JvpContext& c) {
  const UsePrecision same(c.attrs<kernels::ProductAttrs>().precision);
  Tensor d = c.tangent(0);
  const auto gain = [&d](const Tensor& a, const Tensor& b) {
    d = d.defined() ? matmul_add(std::move(d), a, b) : matmul(a, b);
  };
  if (c.tangent(1).defined()) {
    gain(c.tangent(1), c.input(2));
  }
  if (c.tangent(2).defined()) {
    gain(c.input(1), c.tangent(2));
  }
  c.set(0, std::move(d));
}

}  // namespace

const Op kMatmulAdd{
    .name = "matmul_add",
    .formula = "y = c + a b over the last two axes; da = dy b^T, db = a^T dy",
    .infer = infer_matmul_add,
    .kernel = &kernels::matmul_add_kernels,
    .vjp = vjp_matmul_add,
    .jvp = jvp_matmul_add,
    .facts = {.vjp_reads = {{{},
                             {.inputs = 0b100, .shapes = 0b010},
                             {.inputs = 0b010, .shapes = 0b100}}},
              .donates = 0b001,
              .rows = rows_of_added_product,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              2 * outputs[0].shape.element_count() *
                                  args.inputs[1].shape.back(1));
              }}};

Tensor matmul_add(const Operand& c, const Operand& a, const Operand& b) {
  check_half_weight("matmul_add", "b", tensor_of("matmul_add", b));
  return graph::apply(kMatmulAdd, {c, a, b}, product_attrs());
}

}  // namespace ops

Tensor dot(const Operand& a, const Operand& b) {
  const Shape& left = ops::tensor_of("dot", a).shape();
  const Shape& right = ops::tensor_of("dot", b).shape();
  if (left.rank() != 1 || left != right) {
    base::raise<ShapeError>(
        "dot: {} and {}, expected two vectors of one length",
        format_shape(left), format_shape(right));
  }
  return matmul(a, b);
}

Tensor outer(const Operand& a, const Operand& b) {
  const Shape& left = ops::tensor_of("outer", a).shape();
  const Shape& right = ops::tensor_of("outer", b).shape();
  if (left.rank() != 1 || right.rank() != 1) {
    base::raise<ShapeError>("outer: {} and {}, expected two vectors",
                            format_shape(left), format_shape(right));
  }
  const ops::AtSite here(a);
  return mul(unsqueeze(a, 1), b);
}

}  // namespace neap
