// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/rms_norm.hpp"

#include <limits>

#include "neap/kernels/norm/layer_norm.hpp"
#include "neap/kernels/norm/layer_norm_grad.hpp"
#include "neap/ops/norm/norm_rules.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::NormGradAttrs;
using kernels::RowNormAttrs;

void vjp_rms_norm(VjpContext& c) {
  const NormGradAttrs wanted{.eps = c.attrs<RowNormAttrs>().eps,
                             .dx = c.needs(0),
                             .dw = c.inputs() > 1 && c.needs(1)};
  const bool weighted = c.inputs() > 1 && wanted.dx;
  std::array<Tensor, 2> d =
      rms_norm_grad(c.take_cotangent(), c.input(0), c.output(1).detach(),
                    weighted ? c.input(1) : Tensor(), wanted);
  for (int i = 0; i < c.inputs(); ++i) {
    if (c.needs(i)) {
      c.set(i, std::move(d[static_cast<std::size_t>(i)]));
    }
  }
}

double epsilon_of(DType dtype) noexcept {
  return dtype == f64 ? std::numeric_limits<double>::epsilon()
                      : double{std::numeric_limits<float>::epsilon()};
}

}  // namespace

// The second output is as that of layer_norm.
const Op kRmsNorm{
    .name = "rms_norm",
    .formula = "y = x / sqrt(mean x^2 + eps) w over the last axis",
    .outputs = 2,
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_norm(args, 1, out); },
    .kernel = &kernels::rms_norm_kernels,
    .vjp = vjp_rms_norm,
    .jvp = [](JvpContext& c) { jvp_norm(c, Norm::kRms); },
    .facts = {.vjp_reads = {{{.inputs = 0b11, .outputs = 0b10},
                             {.inputs = 0b01, .outputs = 0b10}}},
              .donates = 0b1,
              .rows = rows_before<1>,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              5 * outputs[0].shape.element_count());
              }}};

std::array<Tensor, 2> rms_norm_of(const Operand& x, const Tensor& weight,
                                  double eps) {
  const std::array<Operand, 2> inputs{x, weight};
  std::array<Tensor, 2> outputs;
  graph::dispatch(kRmsNorm, std::span(inputs).first(weight.is_given() ? 2 : 1),
                  RowNormAttrs{eps}, x.site(), outputs);
  return outputs;
}

}  // namespace ops

Tensor rms_norm(const Operand& x, const Shape& normalized_shape,
                const Tensor& weight, std::optional<double> eps) {
  constexpr const char* kName = "rms_norm";
  const ops::AtSite here(x);
  const Tensor w = ops::norm_vector(kName, weight, normalized_shape);
  const Tensor& value = ops::tensor_of(kName, x);
  const Shape shape = value.shape();
  const double some = eps.value_or(ops::epsilon_of(value.dtype()));
  return reshape(
      ops::rms_norm_of(ops::norm_rows(kName, x, normalized_shape, some), w,
                       some)[0],
      shape);
}

namespace ops {

// Its rules take the statistics for the function of x that they are.
const Op kRmsNormGrad{
    .name = "rms_norm_grad",
    .formula =
        "dx = s (g - xhat mean(g xhat)), g = dy w; dw = sum of dy xhat, "
        "for rms_norm",
    .outputs = 2,
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_norm_grad(args, 1, out); },
    .kernel = &kernels::rms_norm_grad_kernels,
    .vjp = [](VjpContext& c) { vjp_norm_grad(c, Norm::kRms); },
    .jvp = [](JvpContext& c) { jvp_norm_grad(c, Norm::kRms); },
    .facts = {.vjp_reads = {{{.inputs = 0b1110},
                             {.inputs = 0b1111},
                             {},
                             {.inputs = 0b0111}}},
              .donates = 0b11,
              .rows = rows_of_row_norm,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              12 * args.inputs[0].shape.element_count());
              }}};

std::array<Tensor, 2> rms_norm_grad(const Operand& g, const Operand& x,
                                    const Operand& stats, const Tensor& weight,
                                    const kernels::NormGradAttrs& wanted) {
  const std::array<Operand, 4> inputs{g, x, stats, weight};
  std::array<Tensor, 2> outputs;
  graph::dispatch(kRmsNormGrad,
                  std::span(inputs).first(weight.defined() ? 4 : 3), wanted,
                  g.site(), outputs);
  return outputs;
}

}  // namespace ops

}  // namespace neap
