// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/concat.hpp"

#include "neap/kernels/shape/concat.hpp"
#include "neap/ops/shape/slice.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::AxisAttrs;
using kernels::SliceAttrs;

// The most inputs of one call; more are joined in groups first (a node counts
// in 16 bits).
constexpr std::size_t kMostInputs = 4096;

void infer_concat(const OpArgs& args, std::span<Spec> out) {
  const auto axis = static_cast<int>(args.attrs.as<AxisAttrs>().axis);
  check_same_dtype(args);
  const Spec& first = args.inputs[0];
  out[0].dtype = first.dtype;
  out[0].shape = first.shape;
  for (std::size_t i = 1; i < args.inputs.size(); ++i) {
    const Shape& shape = args.inputs[i].shape;
    bool fits = shape.rank() == first.shape.rank();
    for (int a = 0; fits && a < shape.rank(); ++a) {
      fits = a == axis || shape[a] == first.shape[a];
    }
    if (!fits) {
      raise<ShapeError>(
          "concat: tensor {} is {}, the first {}, expected equal "
          "extents but along axis {}",
          i, format_shape(shape), format_shape(first.shape), axis);
    }
    out[0].shape[axis] = base::checked_add(out[0].shape[axis], shape[axis]);
  }
}

Tensor apply_concat(std::span<const Tensor> tensors, int axis,
                    const CallSite& site) {
  memory::Vector<Operand> inputs;
  inputs.reserve(tensors.size());
  for (const Tensor& tensor : tensors) {
    inputs.emplace_back(tensor, site);
  }
  Tensor output;
  graph::dispatch(kConcat, inputs, AxisAttrs{axis}, site,
                  std::span(&output, 1));
  return output;
}

Tensor concat_of(std::span<const Tensor> tensors, int axis,
                 const CallSite& site) {
  if (tensors.size() <= kMostInputs) {
    return apply_concat(tensors, axis, site);
  }
  memory::Vector<Tensor> groups;
  while (!tensors.empty()) {
    const std::size_t count = std::min(tensors.size(), kMostInputs);
    groups.push_back(apply_concat(tensors.first(count), axis, site));
    tensors = tensors.subspan(count);
  }
  return concat_of(groups, axis, site);
}

void vjp_concat(VjpContext& c) {
  const Tensor& g = c.cotangent();
  const std::int64_t axis = c.attrs<AxisAttrs>().axis;
  SliceAttrs part{.axis = axis, .extent = g.shape()[static_cast<int>(axis)]};
  for (int i = 0; i < c.inputs(); ++i) {
    part.count = c.input_shape(i)[static_cast<int>(axis)];
    if (c.needs(i)) {
      c.set(i, slice_of(g, part));
    }
    part.start += part.count;
  }
}

void jvp_concat(JvpContext& c) {
  memory::Vector<Tensor> tangents;
  tangents.reserve(static_cast<std::size_t>(c.inputs()));
  for (int i = 0; i < c.inputs(); ++i) {
    const Spec x = c.input_spec(i);
    tangents.push_back(
        c.tangent(i).defined()
            ? c.tangent(i)
            : expand(constant(0.0, x.dtype, x.space, CallSite::here()),
                     x.shape));
  }
  c.set(0, concat_of(tangents, static_cast<int>(c.attrs<AxisAttrs>().axis),
                     CallSite::here()));
}

const Tensor& first_of(std::string_view op, std::span<const Tensor> tensors) {
  if (tensors.empty()) {
    raise<ValueError>("{}: no tensors, expected one or more", op);
  }
  return tensors[0];
}

}  // namespace

const Op kConcat{
    .name = "concat",
    .formula = "y = [x0, x1, ..] along one axis",
    .infer = infer_concat,
    .kernel = &kernels::concat_kernels,
    .vjp = vjp_concat,
    .jvp = jvp_concat,
    .facts = {.vjp_reads = {{{.shapes = ~0U},
                             {.shapes = ~0U},
                             {.shapes = ~0U},
                             {.shapes = ~0U}}},
              .rows = rows_beside_axis,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs, 0);
              }}};

}  // namespace ops

Tensor concat(std::span<const Tensor> tensors, std::int64_t axis,
              CallSite site) {
  const int along = base::normalize_axis(
      "concat", axis, ops::first_of("concat", tensors).rank());
  return tensors.size() == 1 ? tensors[0]
                             : ops::concat_of(tensors, along, site);
}

Tensor concat(std::initializer_list<Tensor> tensors, std::int64_t axis,
              CallSite site) {
  return concat(std::span(tensors.begin(), tensors.size()), axis, site);
}

// Without a view of each: parts of n0 positions of an axis, one after the
// other, are the positions of a new axis before it. Behind the last there is
// none.
Tensor stack(std::span<const Tensor> tensors, std::int64_t axis,
             CallSite site) {
  const Shape shape = ops::first_of("stack", tensors).shape();
  const int along = base::normalize_axis("stack", axis, shape.rank() + 1);
  for (const Tensor& tensor : tensors) {
    if (tensor.shape() != shape) {
      base::raise<ShapeError>("stack: shapes {} and {}, expected equal ones",
                              format_shape(shape),
                              format_shape(tensor.shape()));
    }
  }
  const ops::AtSite here(Operand(tensors[0], site));
  if (along == shape.rank()) {
    memory::Vector<Tensor> thin;
    thin.reserve(tensors.size());
    for (const Tensor& tensor : tensors) {
      thin.push_back(unsqueeze(tensor, along));
    }
    return concat(thin, along, site);
  }
  Shape to = shape;
  to.insert(along, static_cast<std::int64_t>(tensors.size()));
  return reshape(concat(tensors, along, site), to);
}

Tensor stack(std::initializer_list<Tensor> tensors, std::int64_t axis,
             CallSite site) {
  return stack(std::span(tensors.begin(), tensors.size()), axis, site);
}

}  // namespace neap
