// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/views.hpp"

#include "neap/kernels/engine/copy.hpp"
#include "neap/ops/shape/axes.hpp"
#include "neap/ops/shape/slice.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

// Puts the one -1 right.
Shape resolved(const Shape& from, const Shape& wanted) {
  Shape shape = wanted;
  int open = -1;
  std::int64_t known = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == -1 && open < 0) {
      open = axis;
    } else if (shape[axis] < 0) {
      raise<ShapeError>("reshape: {} has a negative extent, one -1 is allowed",
                        format_shape(wanted));
    } else {
      known = base::checked_mul(known, shape[axis]);
    }
  }
  if (open >= 0) {
    const std::int64_t count = from.element_count();
    if (known == 0 || count % known != 0) {
      raise<ShapeError>("reshape: no extent for -1 makes {} of {}",
                        format_shape(wanted), format_shape(from));
    }
    shape[open] = count / known;
  }
  return shape;
}

}  // namespace

const Op kReshape{.name = "reshape",
                  .formula = "y = x as another shape, in row-major order",
                  .infer =
                      [](const OpArgs& args, std::span<Spec> out) {
                        out[0].dtype = args.inputs[0].dtype;
                        out[0].shape = args.attrs.as<ShapeAttrs>().shape();
                      },
                  .view =
                      [](const Layout& x, const Attrs& attrs) {
                        return *tensor::reshaped(
                            x, attrs.as<ShapeAttrs>().shape());
                      },
                  .vjp =
                      [](VjpContext& c) {
                        c.set(0, reshape(c.take_cotangent(), c.input_shape(0)));
                      },
                  .jvp =
                      [](JvpContext& c) {
                        c.set(0, reshape(c.tangent(), c.output().shape()));
                      },
                  .facts = {.vjp_reads = {{{.shapes = 0b1}}}}};

}  // namespace ops

Tensor reshape(const TensorOperand& x, const Shape& shape) {
  const Tensor& from = ops::tensor_of("reshape", x);
  const Shape wanted = ops::resolved(from.shape(), shape);
  if (wanted == from.shape()) {
    return from;
  }
  const ops::AtSite here(x);
  const ops::ShapeAttrs attrs(wanted);
  if (tensor::reshaped(from.array()->layout(), wanted)) {
    return graph::apply(ops::kReshape, {x}, attrs);
  }
  return graph::apply(ops::kReshape, {copy(x)}, attrs);
}

Tensor unsqueeze(const TensorOperand& x, std::int64_t axis) {
  Shape shape = ops::tensor_of("unsqueeze", x).shape();
  shape.insert(base::normalize_axis("unsqueeze", axis, shape.rank() + 1), 1);
  return reshape(x, shape);
}

Tensor squeeze(const TensorOperand& x) {
  Shape shape;
  for (const std::int64_t extent : ops::tensor_of("squeeze", x).shape()) {
    if (extent != 1) {
      shape.push_back(extent);
    }
  }
  return reshape(x, shape);
}

Tensor squeeze(const TensorOperand& x, std::int64_t axis) {
  Shape shape = ops::tensor_of("squeeze", x).shape();
  const int along = base::normalize_axis("squeeze", axis, shape.rank());
  if (shape[along] != 1) {
    base::raise<ShapeError>("squeeze: axis {} of {} has not extent 1", axis,
                            format_shape(shape));
  }
  shape.erase(along);
  return reshape(x, shape);
}

Tensor flatten(const TensorOperand& x, std::int64_t first, std::int64_t last) {
  const Shape& from = ops::tensor_of("flatten", x).shape();
  if (from.rank() == 0) {
    return reshape(x, {1});
  }
  const int begin = base::normalize_axis("flatten", first, from.rank());
  const int end = base::normalize_axis("flatten", last, from.rank());
  if (begin > end) {
    base::raise<ShapeError>("flatten: axis {} comes after axis {}", first,
                            last);
  }
  Shape shape = from;
  for (int axis = end; axis > begin; --axis) {
    shape[axis - 1] = base::checked_mul(shape[axis - 1], shape[axis]);
    shape.erase(axis);
  }
  return reshape(x, shape);
}

namespace ops {

const Op kExpand{
    .name = "expand",
    .formula = "y = x, broadcast",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          const Spec& x = args.inputs[0];
          out[0].dtype = x.dtype;
          out[0].shape = tensor::expanded({x.dtype, x.shape, x.shape, 0},
                                          args.attrs.as<ShapeAttrs>().shape())
                             .shape;
        },
    .view =
        [](const Layout& x, const Attrs& attrs) {
          return tensor::expanded(x, attrs.as<ShapeAttrs>().shape());
        },
    .vjp =
        [](VjpContext& c) {
          c.set(0, sum_to(c.take_cotangent(), c.input_shape(0)));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, expand(c.tangent(), c.output().shape()));
        },
    .facts = {.vjp_reads = {{{.shapes = 0b1}}}}};

}  // namespace ops

Tensor expand(const TensorOperand& x, const Shape& shape) {
  const Tensor& from = ops::tensor_of("expand", x);
  return from.shape() == shape
             ? from
             : graph::apply(ops::kExpand, {x}, ops::ShapeAttrs(shape));
}

namespace ops {
namespace {

Shape inverse(const Shape& order) {
  Shape out = order;
  for (int axis = 0; axis < order.rank(); ++axis) {
    out[static_cast<int>(order[axis])] = axis;
  }
  return out;
}

}  // namespace

const Op kPermute{
    .name = "permute",
    .formula = "y = x with its axes in another order",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          const Spec& x = args.inputs[0];
          out[0].dtype = x.dtype;
          out[0].shape = tensor::permuted({x.dtype, x.shape, x.shape, 0},
                                          args.attrs.as<ShapeAttrs>().shape())
                             .shape;
        },
    .view =
        [](const Layout& x, const Attrs& attrs) {
          return tensor::permuted(x, attrs.as<ShapeAttrs>().shape());
        },
    .vjp =
        [](VjpContext& c) {
          c.set(0, permute(c.take_cotangent(),
                           inverse(c.attrs<ShapeAttrs>().shape())));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, permute(c.tangent(), c.attrs<ShapeAttrs>().shape()));
        },
    .facts = {}};

}  // namespace ops

Tensor permute(const TensorOperand& x, const Shape& order) {
  const int rank = ops::tensor_of("permute", x).rank();
  Shape axes = order;
  for (int i = 0; i < axes.rank(); ++i) {
    axes[i] = base::normalize_axis("permute", axes[i], rank);
  }
  return graph::apply(ops::kPermute, {x}, ops::ShapeAttrs(axes));
}

Tensor transpose(const TensorOperand& x, std::int64_t a, std::int64_t b) {
  const int rank = ops::tensor_of("transpose", x).rank();
  Shape order = Shape::filled(rank, 0);
  for (int axis = 0; axis < rank; ++axis) {
    order[axis] = axis;
  }
  std::swap(order[base::normalize_axis("transpose", a, rank)],
            order[base::normalize_axis("transpose", b, rank)]);
  return permute(x, order);
}

Tensor narrow(const TensorOperand& x, std::int64_t axis, std::int64_t start,
              std::int64_t length) {
  const Shape& shape = ops::tensor_of("narrow", x).shape();
  const int along = base::normalize_axis("narrow", axis, shape.rank());
  const std::int64_t first = start < 0 ? start + shape[along] : start;
  if (first < 0 || length < 0 || first > shape[along] - length) {
    base::raise<ShapeError>(
        "narrow: {} elements from {} do not fit axis {} of {}", length, start,
        axis, format_shape(shape));
  }
  return slice(x, along, first, first + length);
}

Tensor select(const TensorOperand& x, std::int64_t axis,
              std::int64_t position) {
  const ops::AtSite here(x);
  const Shape& shape = ops::tensor_of("select", x).shape();
  const int along = base::normalize_axis("select", axis, shape.rank());
  const std::int64_t at = position < 0 ? position + shape[along] : position;
  if (at < 0 || at >= shape[along]) {
    base::raise<ShapeError>(
        "select: position {} out of range for axis {} of {}", position, axis,
        format_shape(shape));
  }
  return ops::without_axes(slice(x, along, at, at + 1), ops::axis_bit(along));
}

Tensor contiguous(const TensorOperand& x) {
  const Tensor& value = ops::tensor_of("contiguous", x);
  return value.is_contiguous() ? value : copy(x);
}

namespace ops {

const Op kCopy{
    .name = "copy",
    .formula = "y = x",
    .infer = infer_same,
    .kernel = &kernels::copy_kernels,
    .vjp = [](VjpContext& c) { c.set(0, c.take_cotangent()); },
    .jvp = [](JvpContext& c) { c.set(0, copy(c.tangent())); },
    .facts = {.rows = rows_by_element,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs, 0);
              }}};

}  // namespace ops

Tensor copy(const TensorOperand& x) {
  return graph::apply(ops::kCopy, {x});
}

}  // namespace neap
