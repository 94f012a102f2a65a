// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/layer_norm.hpp"

#include "neap/kernels/norm/layer_norm.hpp"
#include "neap/kernels/norm/layer_norm_grad.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/norm/norm_rules.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::NormGradAttrs;
using kernels::RowNormAttrs;

void vjp_layer_norm(VjpContext& c) {
  const NormGradAttrs wanted{.eps = c.attrs<RowNormAttrs>().eps,
                             .dx = c.needs(0),
                             .dw = c.inputs() > 1 && c.needs(1),
                             .db = c.inputs() > 2 && c.needs(2)};
  if (!wanted.dx && !wanted.dw) {
    c.set(2, sum_to(c.take_cotangent(), c.input_shape(2)));
    return;
  }
  const bool weighted = c.inputs() > 1 && wanted.dx;
  std::array<Tensor, 3> d =
      layer_norm_grad(c.take_cotangent(), c.input(0), c.output(1).detach(),
                      weighted ? c.input(1) : Tensor(), wanted);
  for (int i = 0; i < c.inputs(); ++i) {
    if (c.needs(i)) {
      c.set(i, std::move(d[static_cast<std::size_t>(i)]));
    }
  }
}

}  // namespace

// The second output is a residual alone, never given to the user. No derivative
// flows through it; the gradient's own rules take it for the function of x that
// it is.
const Op kLayerNorm{
    .name = "layer_norm",
    .formula = "y = (x - mean) / sqrt(var + eps) w + b over the last axis",
    .outputs = 2,
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_norm(args, 2, out); },
    .kernel = &kernels::layer_norm_kernels,
    .vjp = vjp_layer_norm,
    .jvp = [](JvpContext& c) { jvp_norm(c, Norm::kLayer); },
    .facts = {.vjp_reads = {{{.inputs = 0b011, .outputs = 0b10},
                             {.inputs = 0b001, .outputs = 0b10},
                             {.shapes = 0b100}}},
              .donates = 0b1,
              .rows = rows_before<1>,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              8 * outputs[0].shape.element_count());
              }}};

std::array<Tensor, 2> layer_norm_of(const Operand& x, const Tensor& weight,
                                    const Tensor& bias, double eps) {
  const std::array<Operand, 3> inputs{x, weight, bias};
  const std::size_t count = !weight.is_given() ? 1 : !bias.is_given() ? 2 : 3;
  std::array<Tensor, 2> outputs;
  graph::dispatch(kLayerNorm, std::span(inputs).first(count), RowNormAttrs{eps},
                  x.site(), outputs);
  return outputs;
}

}  // namespace ops

Tensor layer_norm(const Operand& x, const Shape& normalized_shape,
                  const Tensor& weight, const Tensor& bias, double eps) {
  constexpr const char* kName = "layer_norm";
  const ops::AtSite here(x);
  const Tensor b = ops::norm_vector(kName, bias, normalized_shape);
  const Tensor w = ops::norm_vector(kName, weight, normalized_shape);
  const Shape shape = ops::tensor_of(kName, x).shape();
  Tensor y = ops::layer_norm_of(ops::norm_rows(kName, x, normalized_shape, eps),
                                w, b, eps)[0];
  if (b.is_given() && !w.is_given()) {
    y = add(std::move(y), b);
  }
  return reshape(std::move(y), shape);
}

namespace ops {

// Its rules take the statistics for the function of x that they are.
const Op kLayerNormGrad{
    .name = "layer_norm_grad",
    .formula =
        "dx = s (g - mean g - xhat mean(g xhat)), g = dy w; dw = sum of "
        "dy xhat, db = sum of dy, for layer_norm",
    .outputs = 3,
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_norm_grad(args, 2, out); },
    .kernel = &kernels::layer_norm_grad_kernels,
    .vjp = [](VjpContext& c) { vjp_norm_grad(c, Norm::kLayer); },
    .jvp = [](JvpContext& c) { jvp_norm_grad(c, Norm::kLayer); },
    .facts = {.vjp_reads = {{{.inputs = 0b1110},
                             {.inputs = 0b1111},
                             {},
                             {.inputs = 0b0111}}},
              .donates = 0b11,
              .rows = rows_of_row_norm,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              16 * args.inputs[0].shape.element_count());
              }}};

std::array<Tensor, 3> layer_norm_grad(const Operand& g, const Operand& x,
                                      const Operand& stats,
                                      const Tensor& weight,
                                      const kernels::NormGradAttrs& wanted) {
  const std::array<Operand, 4> inputs{g, x, stats, weight};
  std::array<Tensor, 3> outputs;
  graph::dispatch(kLayerNormGrad,
                  std::span(inputs).first(weight.defined() ? 4 : 3), wanted,
                  g.site(), outputs);
  return outputs;
}

}  // namespace ops

}  // namespace neap
