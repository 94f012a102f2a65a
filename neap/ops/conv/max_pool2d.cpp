// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv/max_pool2d.hpp"

#include "neap/kernels/conv/max_pool2d.hpp"
#include "neap/kernels/conv/max_pool2d_grad.hpp"
#include "neap/kernels/conv/pool.hpp"
#include "neap/ops/activation/relu.hpp"
#include "neap/ops/conv/pool.hpp"

namespace neap {
namespace ops {

// The second output is a residual alone, never given to the user.
const Op kMaxPool2d{
    .name = "max_pool2d",
    .formula = "y = max of x over each window, and which element it was",
    .outputs = 2,
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_pool(args, out);
          const auto& attrs = args.attrs.as<PoolAttrs>();
          const Shape& shape = out[0].shape;
          out[1].dtype = u8;
          out[1].shape = {0};
          if (attrs.keeps_codes) {
            out[1].shape = {
                shape[0],
                base::checked_mul(shape[1], kernels::plane_code_bytes(attrs))};
          }
        },
    .kernel = &kernels::max_pool2d_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, max_pool2d_grad(c.take_cotangent(), c.output(1),
                                   c.attrs<PoolAttrs>()));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, max_pool2d_take(c.tangent(), c.output(1),
                                   c.attrs<PoolAttrs>()));
        },
    .facts = {.vjp_reads = {{{.outputs = 0b10}}},
              .rows = rows_by_sample<0b11, 0b11>,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                const auto& attrs = args.attrs.as<PoolAttrs>();
                return moving(args, outputs,
                              outputs[0].shape.element_count() *
                                  attrs.h.width() * attrs.w.width());
              }}};

std::array<Tensor, 2> max_pool2d_of(const Operand& x, const PoolAttrs& attrs) {
  std::array<Tensor, 2> outputs;
  graph::dispatch(kMaxPool2d, std::span(&x, 1), attrs, x.site(), outputs);
  return outputs;
}

Tensor pool_images(const Tensor& x, PoolAttrs attrs, const CallSite& site) {
  attrs.keeps_codes = will_be_recorded(x) || x.array()->has_tangents();
  return max_pool2d_of({x, site}, attrs)[0];
}

namespace {

template <int kAxes>
WindowOptions window_at(const MaxPoolOptions<kAxes>& options, int axis) {
  return {.kernel = options.kernel[axis],
          .stride = stride_of(options, axis),
          .padding = options.padding[axis],
          .dilation = options.dilation[axis],
          .ceil_mode = options.ceil_mode};
}

}  // namespace
}  // namespace ops

Tensor max_pool2d(const TensorOperand& x, const MaxPoolOptions<2>& options) {
  constexpr const char* kName = "max_pool2d";
  const ops::AtSite here(x);
  const Tensor images = ops::images_of(kName, x, 2);
  const auto axis = [&](int i) {
    return ops::pool_axis(kName, images.shape()[i + 2],
                          ops::window_at(options, i));
  };
  return ops::as_axes_of(
      ops::pool_images(images, {.h = axis(0), .w = axis(1)}, x.site()),
      x.tensor(), 2);
}

Tensor max_pool1d(const TensorOperand& x, const MaxPoolOptions<1>& options) {
  constexpr const char* kName = "max_pool1d";
  const ops::AtSite here(x);
  const Tensor images = ops::images_of(kName, x, 1);
  const ops::PoolAxis axis =
      ops::pool_axis(kName, images.shape()[3], ops::window_at(options, 0));
  return ops::as_axes_of(ops::pool_images(images, {.w = axis}, x.site()),
                         x.tensor(), 1);
}

Tensor adaptive_max_pool2d(const TensorOperand& x,
                           const PerAxis<2>& output_size) {
  constexpr const char* kName = "adaptive_max_pool2d";
  const ops::AtSite here(x);
  const Tensor images = ops::images_of(kName, x, 2);
  const auto axis = [&](int i) {
    return ops::adaptive_axis(kName, images.shape()[i + 2], output_size[i]);
  };
  return ops::as_axes_of(
      ops::pool_images(images, {.h = axis(0), .w = axis(1)}, x.site()),
      x.tensor(), 2);
}

namespace ops {

// Linear in g; the transpose of max_pool2d_take.
const Op kMaxPool2dGrad{
    .name = "max_pool2d_grad",
    .formula = "dx = sum of g over the windows whose largest element x was",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_pool_grad(args, out);
          check_codes("max_pool2d_grad", args);
        },
    .kernel = &kernels::max_pool2d_grad_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, max_pool2d_take(c.take_cotangent(), c.input(1),
                                   c.attrs<PoolAttrs>()));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, max_pool2d_grad(c.tangent(0), c.input(1),
                                   c.attrs<PoolAttrs>()));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b10}, {}}},
              .rows = rows_by_sample<0b11, 0b11>}};

Tensor max_pool2d_grad(const Operand& g, const Operand& codes,
                       const PoolAttrs& attrs) {
  return graph::apply(kMaxPool2dGrad, {g, codes}, attrs);
}

// Linear in u; the transpose of max_pool2d_grad.
const Op kMaxPool2dTake{
    .name = "max_pool2d_take",
    .formula = "y = the elements of u that were the largest of their windows",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_pool(args, out);
          check_codes("max_pool2d_take", args);
        },
    .kernel = &kernels::max_pool2d_take_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, max_pool2d_grad(c.take_cotangent(), c.input(1),
                                   c.attrs<PoolAttrs>()));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, max_pool2d_take(c.tangent(0), c.input(1),
                                   c.attrs<PoolAttrs>()));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b10}, {}}},
              .rows = rows_by_sample<0b11, 0b11>}};

Tensor max_pool2d_take(const Operand& u, const Operand& codes,
                       const PoolAttrs& attrs) {
  return graph::apply(kMaxPool2dTake, {u, codes}, attrs);
}

}  // namespace ops

}  // namespace neap
