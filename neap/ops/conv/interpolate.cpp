// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv/interpolate.hpp"

#include <cmath>

#include "neap/kernels/conv/interpolate.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

using kernels::InterpolateAttrs;
using kernels::ResizeAxis;

// Linear; the transpose of interpolate_grad.
const Op kInterpolate{
    .name = "interpolate",
    .formula = "y = x at the places of another size's elements",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          const auto& attrs = args.attrs.as<InterpolateAttrs>();
          infer_resized(args, attrs.h.in, attrs.w.in, out);
          out[0].shape[2] = attrs.h.out;
          out[0].shape[3] = attrs.w.out;
        },
    .kernel = &kernels::interpolate_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, interpolate_grad(c.take_cotangent(),
                                    c.attrs<InterpolateAttrs>()));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, resize_images(c.tangent(), c.attrs<InterpolateAttrs>()));
        },
    .facts = {.rows = rows_by_sample<0b11, 0b11>,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                const bool is_linear =
                    args.attrs.as<InterpolateAttrs>().is_linear;
                return moving(
                    args, outputs,
                    outputs[0].shape.element_count() * (is_linear ? 6 : 0));
              }}};

void infer_resized(const OpArgs& args, std::int64_t h, std::int64_t w,
                   std::span<Spec> out) {
  const Spec& x = args.inputs[0];
  check_computes(args.name, x.dtype);
  if (x.shape.rank() != 4 || x.shape[2] != h || x.shape[3] != w) {
    raise<ShapeError>("{}: {}, expected (n, c, {}, {})", args.name,
                      format_shape(x.shape), h, w);
  }
  out[0].dtype = x.dtype;
  out[0].shape = x.shape;
}

Tensor resize_images(const Operand& x, const InterpolateAttrs& attrs) {
  return graph::apply(kInterpolate, {x}, attrs);
}

namespace {

constexpr const char* kName = "interpolate";

std::int64_t extent_of(std::int64_t in, std::int64_t size, double scale) {
  if (size != 0) {
    return size;
  }
  const double out = std::floor(static_cast<double>(in) * scale);
  return out >= 1.0 && out < 0x1p62 ? static_cast<std::int64_t>(out) : -1;
}

ResizeAxis resize_axis(std::int64_t in, const InterpolateOptions& options,
                       int axis) {
  const std::int64_t out = extent_of(in, options.size[axis], options.scale);
  if (in < 1 || out < 1) {
    raise<ShapeError>("{}: {} elements to {}, expected 1 or more of each",
                      kName, in, out);
  }
  if (options.align_corners) {
    return {in, out,
            out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1)
                    : 0.0};
  }
  return {in, out,
          options.scale > 0.0
              ? 1.0 / options.scale
              : static_cast<double>(in) / static_cast<double>(out)};
}

}  // namespace
}  // namespace ops

Tensor interpolate(const TensorOperand& x, const InterpolateOptions& options) {
  const ops::AtSite here(x);
  const bool has_size = options.size[0] != 0 || options.size[1] != 0;
  const bool has_scale = options.scale != 0.0;
  if (has_size == has_scale || (has_scale && !(options.scale > 0.0)) ||
      options.size[0] < 0 || options.size[1] < 0 ||
      (has_size && (options.size[0] == 0 || options.size[1] == 0))) {
    base::raise<ValueError>(
        "{}: size ({}, {}) and scale {}, expected one of them", ops::kName,
        options.size[0], options.size[1], options.scale);
  }
  const bool is_linear = options.mode == Interpolation::kBilinear;
  if (options.align_corners && !is_linear) {
    base::raise<ValueError>("{}: align_corners is an option of kBilinear",
                            ops::kName);
  }
  const Tensor& images = ops::tensor_of(ops::kName, x);
  if (images.rank() != 4) {
    base::raise<ShapeError>("{}: {}, expected (n, c, h, w)", ops::kName,
                            format_shape(images.shape()));
  }
  return ops::resize_images(x,
                            {.h = ops::resize_axis(images.size(2), options, 0),
                             .w = ops::resize_axis(images.size(3), options, 1),
                             .is_linear = is_linear,
                             .align_corners = options.align_corners});
}

namespace ops {

const Op kInterpolateGrad{
    .name = "interpolate_grad",
    .formula = "dx = what each element of x gave to the g of another size",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          const auto& attrs = args.attrs.as<InterpolateAttrs>();
          infer_resized(args, attrs.h.out, attrs.w.out, out);
          out[0].shape[2] = attrs.h.in;
          out[0].shape[3] = attrs.w.in;
        },
    .kernel = &kernels::interpolate_grad_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0,
                resize_images(c.take_cotangent(), c.attrs<InterpolateAttrs>()));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, interpolate_grad(c.tangent(), c.attrs<InterpolateAttrs>()));
        },
    .facts = {.rows = rows_by_sample<0b11, 0b11>}};

Tensor interpolate_grad(const Operand& g, const InterpolateAttrs& attrs) {
  return graph::apply(kInterpolateGrad, {g}, attrs);
}

}  // namespace ops

}  // namespace neap
