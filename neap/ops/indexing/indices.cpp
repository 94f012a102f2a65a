// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/indices.hpp"

#include "neap/graph/trace.hpp"
#include "neap/kernels/engine/attrs.hpp"
#include "neap/ops/shape/slice.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/element.hpp"

namespace neap::ops {
namespace {

void check_index_dtype(std::string_view op, DType dtype) {
  if (dtype != i32 && dtype != i64) {
    raise<DTypeError>("{}: the index is {}, expected i32 or i64", op,
                      name_of(dtype));
  }
}

// Whether every index is in [-behind, ahead), and whether one is negative.
struct Seen {
  bool fits = true;
  bool has_negative = false;
};

template <class Index>
Seen look(const tensor::Strided& view, std::int64_t behind,
          std::int64_t ahead) {
  const auto* at = view.as<Index>();
  // The highest bits tell: a vector unit has no comparison of 64 bits that is
  // as cheap.
  const auto low = static_cast<std::uint64_t>(behind);
  const auto high = static_cast<std::uint64_t>(ahead) - 1;
  std::uint64_t outside = 0;
  std::uint64_t negative = 0;
  const auto one = [&](std::int64_t offset) {
    const auto index =
        static_cast<std::uint64_t>(static_cast<std::int64_t>(at[offset]));
    outside |= (index + low) | (high - index);
    negative |= index;
  };
  const std::int64_t count = view.shape.element_count();
  if (view.strides == base::row_major_strides(view.shape)) {
    for (std::int64_t i = 0; i < count; ++i) {
      one(i);
    }
  } else {
    tensor::for_each_offset(view.shape, view.strides, one);
  }
  return {outside >> 63U == 0, negative >> 63U != 0};
}

// The message for the first index that does not fit.
template <class Index>
[[noreturn]] void refuse(const char* op, const tensor::Strided& view, int axis,
                         std::int64_t behind, std::int64_t ahead) {
  std::int64_t place = 0;
  std::int64_t bad = 0;
  bool is_found = false;
  tensor::for_each_offset(view.shape, view.strides, [&](std::int64_t offset) {
    const auto index = static_cast<std::int64_t>(view.as<Index>()[offset]);
    if (!is_found && (index < -behind || index >= ahead)) {
      is_found = true;
      bad = index;
    }
    place += is_found ? 0 : 1;
  });
  Shape at = view.shape;
  for (int a = at.rank() - 1; a >= 0; --a) {
    at[a] = place % view.shape[a];
    place /= view.shape[a];
  }
  raise<ValueError>("{}: index {} at {}, axis {} has {} elements", op, bad,
                    format_shape(at), axis, ahead);
}

struct IndexRange {
  std::int64_t axis = 0;
  std::int64_t behind = 0;  // indices below zero that are taken
  std::int64_t ahead = 0;   // the axis' extent
};

Seen look_at(const char* op, tensor::Strided view, const IndexRange& range) {
  for (int a = 0; a < view.shape.rank(); ++a) {
    view.shape[a] = view.strides[a] == 0 ? 1 : view.shape[a];
  }
  const auto axis = static_cast<int>(range.axis);
  const bool is_narrow = view.dtype == i32;
  const Seen seen = is_narrow
                        ? look<std::int32_t>(view, range.behind, range.ahead)
                        : look<std::int64_t>(view, range.behind, range.ahead);
  if (!seen.fits) {
    is_narrow ? refuse<std::int32_t>(op, view, axis, range.behind, range.ahead)
              : refuse<std::int64_t>(op, view, axis, range.behind, range.ahead);
  }
  return seen;
}

void look_at_indices(const char* op, std::span<const tensor::Strided> values,
                     const Attrs& attrs) {
  look_at(op, values[0], attrs.as<IndexRange>());
}

}  // namespace

bool check_indices(const char* op, const Tensor& index, int axis,
                   std::int64_t extent, Negative negative) {
  check_index_dtype(op, index.dtype());
  if (index.space() != memory::kHost) {
    return true;
  }
  if (index.element_count() == 0) {
    return false;
  }
  const IndexRange range{axis, negative == Negative::kFromEnd ? extent : 0,
                         extent};
  if (graph::trace() == nullptr && index.array()->storage()->fetch_elements()) {
    return look_at(op, index.array()->strided(), range).has_negative;
  }
  graph::run_check({.op = op,
                    .look = look_at_indices,
                    .values = std::span(&index, 1),
                    .attrs = range,
                    .site = memory::thread_context().site});
  return true;
}

// The index is read along every line of `shape`: with gaps between its elements
// that would cost more than to close them once.
Tensor spread_index(const Tensor& index, const Shape& shape, int axis) {
  Shape thin = Shape::filled(shape.rank(), 1);
  thin[axis] = shape[axis];
  return expand(reshape(contiguous(index), thin), shape);
}

void check_index_shape(std::string_view op, const Spec& x, const Spec& index,
                       int axis) {
  check_index_dtype(op, index.dtype);
  bool fits = x.shape.rank() == index.shape.rank();
  for (int a = 0; fits && a < x.shape.rank(); ++a) {
    fits = a == axis || index.shape[a] <= x.shape[a];
  }
  if (!fits) {
    raise<ShapeError>(
        "{}: an index {} of {} along axis {}, expected as many axes and no "
        "longer ones but for that",
        op, format_shape(index.shape), format_shape(x.shape), axis);
  }
}

void infer_scatter(const OpArgs& args, std::span<Spec> out) {
  const Spec& x = args.inputs[0];
  const Spec& index = args.inputs[1];
  const Spec& src = args.inputs[2];
  check_index_shape(args.name, x, index,
                    static_cast<int>(args.attrs.as<kernels::AxisAttrs>().axis));
  check_dtype(args.name, src.dtype, x.dtype);
  if (src.shape != index.shape) {
    raise<ShapeError>("{}: an index {} for a source {}, expected equal shapes",
                      args.name, format_shape(index.shape),
                      format_shape(src.shape));
  }
  out[0].dtype = x.dtype;
  out[0].shape = x.shape;
}

int check_scatter(const char* op, const Tensor& x, std::int64_t axis,
                  const Tensor& index, const Tensor& src) {
  const int along = base::normalize_axis(op, axis, x.rank());
  check_index_shape(op, x.spec(), index.spec(), along);
  check_dtype(op, src.dtype(), x.dtype());
  bool fits = src.rank() == index.rank();
  for (int a = 0; fits && a < src.rank(); ++a) {
    fits = index.shape()[a] <= src.shape()[a];
  }
  if (!fits) {
    raise<ShapeError>("{}: an index {} does not fit in a source {}", op,
                      format_shape(index.shape()), format_shape(src.shape()));
  }
  check_indices(op, index, along, x.shape()[along]);
  return along;
}

Tensor cut_to(const Operand& src, const Shape& shape) {
  Tensor cut = src.tensor();
  for (int a = 0; a < shape.rank(); ++a) {
    if (cut.shape()[a] != shape[a]) {
      cut = slice(cut, a, 0, shape[a]);
    }
  }
  return cut;
}

}  // namespace neap::ops
