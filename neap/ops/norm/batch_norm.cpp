// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/batch_norm.hpp"

#include "neap/kernels/norm/channel_norm.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/norm/channel_norm_rules.hpp"
#include "neap/ops/norm/running_stats.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap {
namespace ops {

// The second output, mean and variance by channel, goes to the running values,
// and is a residual. No derivative flows through it; the gradient's own rules
// take it for the function of x that it is.
const Op kBatchNorm{
    .name = "batch_norm",
    .formula =
        "y = (x - mean) / sqrt(var + eps) w + b by channel, over the batch",
    .outputs = 2,
    .infer = infer_channel_norm,
    .kernel = &kernels::batch_norm_kernels,
    .vjp = vjp_channel_norm,
    .jvp = jvp_channel_norm,
    .facts = {.vjp_reads = {{{.inputs = 0b011, .outputs = 0b10},
                             {.inputs = 0b001, .outputs = 0b10},
                             {.shapes = 0b100}}},
              .donates = 0b1,
              .rows = rows_together,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              8 * outputs[0].shape.element_count());
              }}};

namespace {

constexpr const char* kName = "batch_norm";

void check_options(const BatchNormOptions& options) {
  const double momentum = options.momentum.value_or(0.0);
  if (!(momentum >= 0.0 && momentum <= 1.0)) {
    raise<ValueError>("{}: momentum is {}, expected 0 to 1", kName, momentum);
  }
}

// By the running statistics: y = x scale + shift.
Tensor normalise(const Tensor& x, const RunningStats& running,
                 const Tensor& weight, const Tensor& bias, double eps) {
  Tensor scale = rsqrt(add(running.var, eps));
  if (weight.is_given()) {
    scale = mul(std::move(scale), weight);
  }
  const Tensor shifted = mul(running.mean, scale);
  const Tensor shift = bias.is_given() ? sub(bias, shifted) : neg(shifted);
  return add(mul(x, by_channel(scale)), by_channel(shift));
}

Tensor train(const Operand& x, const Tensor& planes,
             const RunningStats& running, const Tensor& weight,
             const Tensor& bias, const BatchNormOptions& options) {
  const Shape shape = x.tensor().shape();
  const std::int64_t count = planes.size(0) * planes.size(2);
  if (count == 1) {
    raise<ValueError>("{}: x {} has one element a channel, training needs more",
                      kName, format_shape(shape));
  }
  std::array<Tensor, 2> made =
      channel_norm_of({planes, x.site()}, weight, bias, options.eps, 0);
  Tensor y = reshape(std::move(made[0]), shape);
  if (running.mean.is_given() && count != 0) {
    move_running_stats(
        running, made[1],
        {.momentum = options.momentum.value_or(-1.0), .count = count},
        x.site());
  }
  return y;
}

}  // namespace
}  // namespace ops

Tensor batch_norm(const Operand& x, const Tensor& running_mean,
                  const Tensor& running_var, const Tensor& weight,
                  const Tensor& bias, const BatchNormOptions& options) {
  const ops::AtSite here(x);
  ops::check_options(options);
  const Tensor planes = ops::channel_planes(ops::kName, x, options.eps);
  const Shape shape = x.tensor().shape();
  const ops::RunningStats running{running_mean, running_var,
                                  options.num_batches_tracked};
  if (running_mean.is_given() != running_var.is_given()) {
    base::raise<ValueError>("{}: one of running_mean and running_var is there",
                            ops::kName);
  }
  if (running_mean.is_given()) {
    ops::check_running_stats(ops::kName, running, shape[1], planes);
  }
  if (!options.training) {
    if (!running_mean.is_given()) {
      base::raise<ValueError>(
          "{}: without training, running_mean and running_var are needed",
          ops::kName);
    }
    return reshape(ops::normalise(planes, running, weight, bias, options.eps),
                   shape);
  }
  if (!options.momentum && running_mean.is_given() &&
      !options.num_batches_tracked.is_given()) {
    base::raise<ValueError>(
        "{}: a mean over all batches needs num_batches_tracked", ops::kName);
  }
  return ops::train(x, planes, running, weight, bias, options);
}

namespace ops {

// Its rules take the statistics for the function of x that they are.
const Op kBatchNormGrad{
    .name = "batch_norm_grad",
    .formula =
        "dx = s (g - mean g - xhat mean(g xhat)), g = dy w; dw = sum of "
        "dy xhat, db = sum of dy; mean over a channel of the batch",
    .outputs = 3,
    .infer = infer_channel_norm_grad,
    .kernel = &kernels::batch_norm_grad_kernels,
    .vjp = vjp_channel_norm_grad,
    .jvp = jvp_channel_norm_grad,
    .facts = {
        .vjp_reads =
            {{{.inputs = 0b1110}, {.inputs = 0b1111}, {}, {.inputs = 0b0111}}},
        .donates = 0b11,
        .rows = rows_together,
        .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
          return moving(args, outputs,
                        12 * args.inputs[0].shape.element_count());
        }}};

}  // namespace ops

}  // namespace neap
