// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/group_norm.hpp"

#include "neap/kernels/norm/channel_norm.hpp"
#include "neap/ops/norm/channel_norm_rules.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap {
namespace ops {

// The second output is a residual alone, never given to the user. No derivative
// flows through it; the gradient's own rules take it for the function of x that
// it is.
const Op kGroupNorm{
    .name = "group_norm",
    .formula =
        "y = (x - mean) / sqrt(var + eps) w + b by channel, over a sample's "
        "channels of a group",
    .outputs = 2,
    .infer = infer_channel_norm,
    .kernel = &kernels::group_norm_kernels,
    .vjp = vjp_channel_norm,
    .jvp = jvp_channel_norm,
    .facts = {.vjp_reads = {{{.inputs = 0b011, .outputs = 0b10},
                             {.inputs = 0b001, .outputs = 0b10},
                             {.shapes = 0b100}}},
              .donates = 0b1,
              .rows = rows_by_sample<0b1, 0b11>,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              8 * outputs[0].shape.element_count());
              }}};

namespace {

Tensor norm_by(std::string_view op, const Operand& x, std::int64_t groups,
               const Tensor& weight, const Tensor& bias, double eps) {
  const Tensor planes = channel_planes(op, x, eps);
  if (groups < 1 || planes.size(1) % groups != 0) {
    raise<ValueError>("{}: {} channels in {} groups", op, planes.size(1),
                      groups);
  }
  Tensor y = channel_norm_of({planes, x.site()}, weight, bias, eps, groups)[0];
  return reshape(std::move(y), x.tensor().shape());
}

}  // namespace
}  // namespace ops

Tensor group_norm(const Operand& x, std::int64_t groups, const Tensor& weight,
                  const Tensor& bias, double eps) {
  const ops::AtSite here(x);
  return ops::norm_by("group_norm", x, groups, weight, bias, eps);
}

Tensor instance_norm(const Operand& x, const Tensor& weight, const Tensor& bias,
                     double eps) {
  constexpr const char* kName = "instance_norm";
  const ops::AtSite here(x);
  const Tensor& tensor = ops::tensor_of(kName, x);
  const Shape& shape = tensor.shape();
  if (shape.rank() < 3) {
    base::raise<ShapeError>("{}: x {}, expected rank 3 or more", kName,
                            format_shape(shape));
  }
  if (shape[1] == 0) {
    base::raise<ShapeError>("{}: x {} has no channels", kName,
                            format_shape(shape));
  }
  if (tensor.element_count() != 0 &&
      tensor.element_count() == shape[0] * shape[1]) {
    base::raise<ValueError>("{}: x {} has one element a channel", kName,
                            format_shape(shape));
  }
  return ops::norm_by(kName, x, shape[1], weight, bias, eps);
}

namespace ops {

// Its rules take the statistics for the function of x that they are.
const Op kGroupNormGrad{
    .name = "group_norm_grad",
    .formula =
        "dx = s (g - mean g - xhat mean(g xhat)), g = dy w; dw = sum of "
        "dy xhat, db = sum of dy; mean over a sample's channels of a group",
    .outputs = 3,
    .infer = infer_channel_norm_grad,
    .kernel = &kernels::group_norm_grad_kernels,
    .vjp = vjp_channel_norm_grad,
    .jvp = jvp_channel_norm_grad,
    .facts = {
        .vjp_reads =
            {{{.inputs = 0b1110}, {.inputs = 0b1111}, {}, {.inputs = 0b0111}}},
        .donates = 0b11,
        .rows = rows_by_sample<0b111, 0b1>,
        .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
          return moving(args, outputs,
                        12 * args.inputs[0].shape.element_count());
        }}};

}  // namespace ops

}  // namespace neap
