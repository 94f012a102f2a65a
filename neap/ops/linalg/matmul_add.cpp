// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/matmul_add.hpp"

#include "neap/kernels/gemm/matmul.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/precision.hpp"
#include "neap/ops/shape/transpose.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {
namespace {

void infer_matmul_add(const OpArgs& args, std::span<Spec> out) {
  infer_floating(args, out);
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
              .sample_axis = SampleAxis::kMixed,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              2 * outputs[0].shape.element_count() *
                                  args.inputs[1].shape.back(1));
              }}};

Tensor matmul_add(const Operand& c, const Operand& a, const Operand& b) {
  return graph::apply(kMatmulAdd, {c, a, b}, product_attrs());
}

}  // namespace neap::ops
