// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/reshape.hpp"

#include "neap/ops/shape/copy.hpp"
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
                  .facts = {.vjp_reads = {{{.shapes = 0b1}}},
                            .sample_axis = SampleAxis::kMixed}};

}  // namespace ops

Tensor reshape(const Operand& x, const Shape& shape) {
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

}  // namespace neap
