// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv/avg_pool2d.hpp"

#include "neap/kernels/conv/avg_pool2d.hpp"
#include "neap/kernels/conv/pool.hpp"
#include "neap/ops/conv/pool.hpp"
#include "neap/ops/reduction/sum.hpp"

namespace neap {
namespace ops {

// Linear; the transpose of avg_pool2d_grad.
const Op kAvgPool2d{
    .name = "avg_pool2d",
    .formula = "y = mean of x over each window",
    .infer = infer_pool,
    .kernel = &kernels::avg_pool2d_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, avg_pool2d_grad(c.take_cotangent(), c.attrs<PoolAttrs>()));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, average_images(c.tangent(), c.attrs<PoolAttrs>()));
        },
    .facts = {.rows = rows_by_sample<0b11, 0b11>,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                const auto& attrs = args.attrs.as<PoolAttrs>();
                return moving(args, outputs,
                              outputs[0].shape.element_count() *
                                  (attrs.h.width() * attrs.w.width() + 1));
              }}};

Tensor average_images(const Operand& x, const PoolAttrs& attrs) {
  return graph::apply(kAvgPool2d, {x}, attrs);
}

namespace {

template <int kAxes>
PoolAxis axis_of(std::string_view op, const Tensor& images,
                 const AvgPoolOptions<kAxes>& options, int i) {
  return pool_axis(op, images.shape()[4 - kAxes + i],
                   {.kernel = options.kernel[i],
                    .stride = stride_of(options, i),
                    .padding = options.padding[i],
                    .ceil_mode = options.ceil_mode});
}

template <int kAxes>
Tensor average(std::string_view op, const Operand& x,
               const AvgPoolOptions<kAxes>& options) {
  const AtSite here(x);
  const Tensor images = images_of(op, x, kAxes);
  if (options.divisor_override.value_or(1) == 0) {
    raise<ValueError>("{}: divisor_override is 0", op);
  }
  PoolAttrs attrs{.divisor = options.divisor_override.value_or(0),
                  .counts_padding = options.count_include_pad};
  if constexpr (kAxes == 2) {
    attrs.h = axis_of(op, images, options, 0);
  }
  attrs.w = axis_of(op, images, options, kAxes - 1);
  return as_axes_of(average_images({images, x.site()}, attrs), x.tensor(),
                    kAxes);
}

}  // namespace
}  // namespace ops

Tensor avg_pool2d(const TensorOperand& x, const AvgPoolOptions<2>& options) {
  return ops::average("avg_pool2d", x, options);
}

Tensor avg_pool1d(const TensorOperand& x, const AvgPoolOptions<1>& options) {
  return ops::average("avg_pool1d", x, options);
}

Tensor adaptive_avg_pool2d(const TensorOperand& x,
                           const PerAxis<2>& output_size) {
  constexpr const char* kName = "adaptive_avg_pool2d";
  const ops::AtSite here(x);
  const Tensor images = ops::images_of(kName, x, 2);
  const auto axis = [&](int i) {
    return ops::adaptive_axis(kName, images.shape()[i + 2], output_size[i]);
  };
  if (axis(0).out == 1 && axis(1).out == 1) {
    ops::check_computes(kName, images.dtype());
    return ops::as_axes_of(mean({images, x.site()}, {2, 3}, true), x.tensor(),
                           2);
  }
  return ops::as_axes_of(
      ops::average_images({images, x.site()}, {.h = axis(0), .w = axis(1)}),
      x.tensor(), 2);
}

Tensor adaptive_avg_pool1d(const TensorOperand& x, std::int64_t output_size) {
  constexpr const char* kName = "adaptive_avg_pool1d";
  const ops::AtSite here(x);
  const Tensor images = ops::images_of(kName, x, 1);
  const ops::PoolAxis axis =
      ops::adaptive_axis(kName, images.shape()[3], output_size);
  return ops::as_axes_of(ops::average_images({images, x.site()}, {.w = axis}),
                         x.tensor(), 1);
}

namespace ops {

const Op kAvgPool2dGrad{
    .name = "avg_pool2d_grad",
    .formula = "dx = sum of g / n over the windows of n elements that hold x",
    .infer = infer_pool_grad,
    .kernel = &kernels::avg_pool2d_grad_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, average_images(c.take_cotangent(), c.attrs<PoolAttrs>()));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, avg_pool2d_grad(c.tangent(), c.attrs<PoolAttrs>()));
        },
    .facts = {.rows = rows_by_sample<0b11, 0b11>}};

Tensor avg_pool2d_grad(const Operand& g, const PoolAttrs& attrs) {
  return graph::apply(kAvgPool2dGrad, {g}, attrs);
}

}  // namespace ops

}  // namespace neap
