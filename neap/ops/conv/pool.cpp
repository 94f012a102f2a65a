// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv/pool.hpp"

#include "neap/kernels/conv/pool.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::ops {
namespace {

// A bound of padding and of chosen output sizes: kernels have scratch for
// windows and codes of two axes.
constexpr std::int64_t kMost = std::int64_t{1} << 28U;

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

// A dilated window that begins in the padding may jump over a short axis.
void check_windows(std::string_view op, const PoolAxis& axis) {
  for (std::int64_t o = 0; o < axis.out; ++o) {
    const kernels::Window window = kernels::window_of(axis, o);
    if (window.begin >= window.end) {
      raise<ShapeError>("{}: window {} over {} elements has none of them", op,
                        o, axis.in);
    }
    if (window.skipped == 0) {
      return;  // nor has any that follows
    }
  }
}

void check_images(std::string_view op, const Spec& x, std::int64_t h,
                  std::int64_t w) {
  check_computes(op, x.dtype);
  if (x.shape.rank() != 4 || x.shape[2] != h || x.shape[3] != w) {
    raise<ShapeError>("{}: {}, expected (n, c, {}, {})", op,
                      format_shape(x.shape), h, w);
  }
}

}  // namespace

PoolAxis pool_axis(std::string_view op, std::int64_t in,
                   const WindowOptions& options) {
  const auto& [kernel, given_stride, padding, dilation, ceil_mode] = options;
  if (kernel < 1 || given_stride < 1 || dilation < 1) {
    raise<ValueError>(
        "{}: kernel {}, stride {}, dilation {}, expected 1 or "
        "more of each",
        op, kernel, given_stride, dilation);
  }
  if (padding < 0 || padding > kernel / 2) {
    raise<ValueError>("{}: padding {}, expected 0 to half of the kernel, {}",
                      op, padding, kernel);
  }
  if (padding > kMost) {
    raise<ValueError>("{}: padding {}, expected at most {}", op, padding,
                      kMost);
  }
  const std::int64_t span =
      base::checked_add(base::checked_mul(kernel - 1, dilation), 1);
  const std::int64_t padded = base::checked_add(in, 2 * padding);
  base::checked_add(padded, padded);  // what is computed below stays smaller
  // Beyond it there is one window, however long the stride.
  const std::int64_t stride =
      std::min(given_stride, std::max<std::int64_t>(padded, 1));
  const std::int64_t rest = padded - span;
  std::int64_t out = floor_div(rest + (ceil_mode ? stride - 1 : 0), stride) + 1;
  if (ceil_mode && (out - 1) * stride >= in + padding) {
    --out;
  }
  if (in < 1 || out < 1) {
    raise<ShapeError>("{}: {} elements, padded by {}, have no window of {}", op,
                      in, padding, span);
  }
  const PoolAxis axis{in, out, kernel, stride, padding, dilation};
  check_windows(op, axis);
  return axis;
}

// Windows of one size side by side are regular ones.
PoolAxis adaptive_axis(std::string_view op, std::int64_t in, std::int64_t out) {
  out = out == -1 ? in : out;
  if (out < 1) {
    raise<ValueError>("{}: output size {}, expected 1 or more", op, out);
  }
  if (out > kMost) {
    raise<ValueError>("{}: output size {}, expected at most {}", op, out,
                      kMost);
  }
  if (in < 1) {
    raise<ShapeError>("{}: an axis of x has no elements", op);
  }
  base::checked_mul(in, base::checked_add(out, 1));
  if (in % out == 0) {
    return {in, out, in / out, in / out, 0, 1};
  }
  return {in, out, 0, 1, 0, 1};
}

Tensor images_of(std::string_view op, const Operand& x, int spatial_axes) {
  const Tensor& tensor = tensor_of(op, x);
  const Shape& shape = tensor.shape();
  const int rank = shape.rank();
  if (rank != spatial_axes + 1 && rank != spatial_axes + 2) {
    raise<ShapeError>("{}: {}, expected rank {} or {}", op, format_shape(shape),
                      spatial_axes + 1, spatial_axes + 2);
  }
  if (rank == 4) {
    return tensor;
  }
  const std::int64_t n = rank == spatial_axes + 2 ? shape[0] : 1;
  return reshape(x, {n, shape[rank - spatial_axes - 1],
                     spatial_axes == 2 ? shape[rank - 2] : 1, shape[rank - 1]});
}

Tensor as_axes_of(Tensor y, const Tensor& x, int spatial_axes) {
  if (x.rank() == 4) {
    return y;
  }
  const std::int64_t n = y.size(0);
  const std::int64_t c = y.size(1);
  const std::int64_t h = y.size(2);
  const std::int64_t w = y.size(3);
  if (spatial_axes == 2) {
    return reshape(std::move(y), {c, h, w});
  }
  return x.rank() == 3 ? reshape(std::move(y), {n, c, w})
                       : reshape(std::move(y), {c, w});
}

void infer_pool(const OpArgs& args, std::span<Spec> out) {
  const auto& attrs = args.attrs.as<PoolAttrs>();
  const Spec& x = args.inputs[0];
  check_images(args.name, x, attrs.h.in, attrs.w.in);
  out[0].dtype = x.dtype;
  out[0].shape = {x.shape[0], x.shape[1], attrs.h.out, attrs.w.out};
}

void infer_pool_grad(const OpArgs& args, std::span<Spec> out) {
  const auto& attrs = args.attrs.as<PoolAttrs>();
  const Spec& g = args.inputs[0];
  check_images(args.name, g, attrs.h.out, attrs.w.out);
  out[0].dtype = g.dtype;
  out[0].shape = {g.shape[0], g.shape[1], attrs.h.in, attrs.w.in};
}

void check_codes(std::string_view op, const OpArgs& args) {
  const auto& attrs = args.attrs.as<PoolAttrs>();
  const Shape& images = args.inputs[0].shape;
  const Spec& codes = args.inputs[1];
  check_dtype(op, codes.dtype, u8);
  const Shape expected{
      images[0],
      base::checked_mul(images[1], kernels::plane_code_bytes(attrs))};
  if (codes.shape != expected) {
    raise<ShapeError>("{}: codes {} for {}, expected {}", op,
                      format_shape(codes.shape), format_shape(images),
                      format_shape(expected));
  }
}

}  // namespace neap::ops
