// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/rows.hpp"

#include <array>
#include <cstring>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/ops/shape/axes.hpp"

namespace neap::ops {
namespace {

bool has_rows(int axis) noexcept {
  return axis >= 0;
}

// All inputs are whole, or cut along a known axis.
bool are_plain(const RowAxes& axes) {
  return std::ranges::all_of(axes.inputs,
                             [](int axis) { return axis >= RowAxes::kWhole; });
}

const Shape& shape_of(const OpArgs& args, std::size_t i) {
  return args.inputs[i].shape;
}

// The one axis, counted from the end, along which operands that broadcast hold
// rows; 0: none, or not one.
int common_axis_from_end(const OpArgs& args, const RowAxes& axes) {
  int from_end = 0;
  for (std::size_t i = 0; i < axes.inputs.size(); ++i) {
    if (has_rows(axes.inputs[i])) {
      const int at = shape_of(args, i).rank() - axes.inputs[i];
      if (from_end != 0 && at != from_end) {
        return 0;
      }
      from_end = at;
    }
  }
  return from_end;
}

// Cuts an operand that broadcasts to an axis of `extent`, counted from the end;
// where it is repeated along it, it stays whole.
bool cuts_broadcast(const OpArgs& args, const RowAxes& axes, std::size_t i,
                    int from_end, std::int64_t extent) {
  const Shape& shape = shape_of(args, i);
  const int axis = shape.rank() - from_end;
  if (axis < 0 || shape[axis] == 1) {
    return axes.inputs[i] == RowAxes::kWhole;
  }
  return cuts(args, axes, i, axis, extent);
}

void set_all(std::span<int> axes, int axis) {
  std::ranges::fill(axes, axis);
}

int first_axis(const OpArgs& args) {
  std::int64_t axis = 0;
  std::memcpy(&axis, args.attrs.data(), sizeof(axis));
  return static_cast<int>(axis);
}

// Operands of one rank, cut along one axis that `is_free`.
template <class IsFree>
RowUse rows_along_one(const OpArgs& args, const RowAxes& axes,
                      const IsFree& is_free) {
  const auto found = std::ranges::find_if(axes.inputs, has_rows);
  if (!are_plain(axes) || found == axes.inputs.end() || !is_free(*found)) {
    return RowUse::kUnknown;
  }
  const int axis = *found;
  const auto first = static_cast<std::size_t>(found - axes.inputs.begin());
  const std::int64_t extent = shape_of(args, first)[axis];
  for (std::size_t i = 0; i < axes.inputs.size(); ++i) {
    if (!cuts(args, axes, i, axis, extent)) {
      return RowUse::kUnknown;
    }
  }
  set_all(axes.outputs, axis);
  return RowUse::kEach;
}

// --- products ----------------------------------------------------------------

// The product of inputs `at` and `at + 1`.
class Product {
 public:
  Product(const OpArgs& args, Specs outputs, const RowAxes& axes,
          std::size_t at)
      : args_(args), axes_(axes), at_(at), y_rank_(outputs[0].shape.rank()) {}

  RowUse use() {
    const int a = from_end(at_);
    const int b = from_end(at_ + 1);
    if (!are_plain(axes_) || (a == 0 && b == 0)) {
      return RowUse::kUnknown;
    }
    if (a == 1 || b == 2) {
      return summed();
    }
    if (a == 2 || b == 1) {
      return a != 0 && b != 0 ? RowUse::kUnknown : mapped(a + b);
    }
    return batched(std::max(a, b));
  }

 private:
  const Shape& shape(std::size_t i) const { return shape_of(args_, i); }
  // The axis with rows, counted from the end; 0: none.
  int from_end(std::size_t i) const {
    const int axis = axes_.inputs[i];
    return has_rows(axis) ? shape(i).rank() - axis : 0;
  }

  RowUse summed() {
    const int a_axis = shape(at_).rank() - 1;
    const int b_axis = shape(at_ + 1).rank() - 2;
    const std::int64_t extent = shape(at_)[a_axis];
    if (!cuts(args_, axes_, at_, a_axis, extent) ||
        !cuts(args_, axes_, at_ + 1, b_axis, extent)) {
      return RowUse::kUnknown;
    }
    axes_.outputs[0] = RowAxes::kSummed;
    return RowUse::kEach;
  }

  RowUse mapped(int from_end) {
    axes_.outputs[0] = y_rank_ - from_end;
    return RowUse::kEach;
  }

  RowUse batched(int from_end) {
    const std::size_t one = this->from_end(at_) == from_end ? at_ : at_ + 1;
    const std::int64_t extent = shape(one)[shape(one).rank() - from_end];
    for (const std::size_t i : {at_, at_ + 1}) {
      if (!cuts_broadcast(args_, axes_, i, from_end, extent)) {
        return RowUse::kUnknown;
      }
    }
    return mapped(from_end);
  }

  const OpArgs& args_;
  const RowAxes& axes_;
  std::size_t at_;
  int y_rank_;
};

}  // namespace

bool cuts(const OpArgs& args, const RowAxes& axes, std::size_t i, int axis,
          std::int64_t extent) {
  const Shape& shape = shape_of(args, i);
  if (axis >= shape.rank() || shape[axis] != extent ||
      (axes.inputs[i] != RowAxes::kWhole && axes.inputs[i] != axis)) {
    return false;
  }
  axes.inputs[i] = axis;
  return true;
}

RowUse rows_by_element(const OpArgs& args, Specs outputs, const RowAxes& axes) {
  const int from_end = common_axis_from_end(args, axes);
  if (!are_plain(axes) || from_end == 0) {
    return RowUse::kUnknown;
  }
  const int axis = outputs[0].shape.rank() - from_end;
  for (std::size_t i = 0; i < axes.inputs.size(); ++i) {
    if (!cuts_broadcast(args, axes, i, from_end, outputs[0].shape[axis])) {
      return RowUse::kUnknown;
    }
  }
  set_all(axes.outputs, axis);
  return RowUse::kEach;
}

RowUse rows_with_bits(const OpArgs& args, Specs outputs, const RowAxes& axes) {
  const RowUse use = rows_by_element(args, outputs.first(1), axes);
  axes.outputs[1] = RowAxes::kApart;
  return axes.outputs[0] == 0 ? use : RowUse::kUnknown;
}

RowUse rows_by_bits(const OpArgs& args, Specs outputs, const RowAxes& axes) {
  if (axes.inputs[1] != RowAxes::kApart ||
      !cuts(args, axes, 0, 0, outputs[0].shape[0])) {
    return RowUse::kUnknown;
  }
  axes.outputs[0] = 0;
  return RowUse::kEach;
}

RowUse rows_of_product(const OpArgs& args, Specs outputs, const RowAxes& axes) {
  return Product(args, outputs, axes, 0).use();
}

namespace {

// Rows of the sum that a product is added to are rows of the product.
RowUse rows_of_sum_alone(const OpArgs& args, const RowAxes& axes) {
  const int axis = axes.inputs[0];
  if (axis < 0) {
    return RowUse::kUnknown;
  }
  const Shape& sum = shape_of(args, 0);
  const int from_end = sum.rank() - axis;
  const auto cuts_one = [&](std::size_t i) {
    return cuts_broadcast(args, axes, i, from_end, sum[axis]);
  };
  const bool fits = from_end == 2   ? cuts_one(1)
                    : from_end == 1 ? cuts_one(2)
                                    : cuts_one(1) && cuts_one(2);
  axes.outputs[0] = axis;
  return fits ? RowUse::kEach : RowUse::kUnknown;
}

}  // namespace

RowUse rows_of_added_product(const OpArgs& args, Specs outputs,
                             const RowAxes& axes) {
  if (!are_plain(axes)) {
    return RowUse::kUnknown;
  }
  if (axes.inputs[1] == RowAxes::kWhole && axes.inputs[2] == RowAxes::kWhole) {
    return rows_of_sum_alone(args, axes);
  }
  const RowUse use = Product(args, outputs, axes, 1).use();
  if (use != RowUse::kEach) {
    return use;
  }
  const int axis = axes.outputs[0];
  if (axis == RowAxes::kSummed) {
    return axes.inputs[0] == RowAxes::kWhole ? RowUse::kOnto : RowUse::kUnknown;
  }
  return cuts(args, axes, 0, axis, outputs[0].shape[axis]) ? use
                                                           : RowUse::kUnknown;
}

RowUse rows_of_sum(const OpArgs& args, Specs outputs, const RowAxes& axes) {
  const int axis = axes.inputs[0];
  if (axis >= 0 && has_axis(args.attrs.as<kernels::ReduceAttrs>().axes, axis)) {
    return rows_summed(args, outputs, axes);
  }
  return rows_of_reduction(args, outputs, axes);
}

RowUse rows_of_reduction(const OpArgs& args, Specs /*outputs*/,
                         const RowAxes& axes) {
  const std::uint64_t reduced = args.attrs.as<kernels::ReduceAttrs>().axes;
  return rows_along_one(args, axes,
                        [&](int axis) { return !has_axis(reduced, axis); });
}

RowUse rows_summed(const OpArgs& /*args*/, Specs /*outputs*/,
                   const RowAxes& axes) {
  if (!has_rows(axes.inputs[0])) {
    return RowUse::kUnknown;
  }
  set_all(axes.outputs, RowAxes::kSummed);
  return RowUse::kEach;
}

RowUse rows_beside_axis(const OpArgs& args, Specs /*outputs*/,
                        const RowAxes& axes) {
  const int along = first_axis(args);
  return rows_along_one(args, axes, [&](int axis) { return axis != along; });
}

RowUse rows_beside_axes(const OpArgs& args, Specs outputs,
                        const RowAxes& axes) {
  return rows_of_reduction(args, outputs, axes);
}

RowUse rows_of_gather(const OpArgs& args, Specs outputs, const RowAxes& axes) {
  const int along = first_axis(args);
  if (axes.inputs[1] != along) {
    return rows_beside_axis(args, outputs, axes);
  }
  // Rows of positions: each may be of any element of x.
  if (axes.inputs[0] != RowAxes::kWhole) {
    return RowUse::kUnknown;
  }
  axes.outputs[0] = along;
  return RowUse::kEach;
}

RowUse rows_of_scatter(const OpArgs& args, Specs outputs, const RowAxes& axes) {
  return rows_beside_axis(args, outputs, axes);
}

RowUse rows_of_scatter_add(const OpArgs& args, Specs outputs,
                           const RowAxes& axes) {
  const int along = first_axis(args);
  const bool sums = axes.inputs[1] == along || axes.inputs[2] == along;
  if (!sums) {
    return rows_beside_axis(args, outputs, axes);
  }
  const std::int64_t extent = shape_of(args, 1)[along];
  if (axes.inputs[0] != RowAxes::kWhole ||
      !cuts(args, axes, 1, along, extent) ||
      !cuts(args, axes, 2, along, extent)) {
    return RowUse::kUnknown;
  }
  axes.outputs[0] = RowAxes::kSummed;
  return RowUse::kOnto;
}

RowUse rows_of_matrices(const OpArgs& args, Specs outputs,
                        const RowAxes& axes) {
  return common_axis_from_end(args, axes) > 2
             ? rows_by_element(args, outputs, axes)
             : RowUse::kUnknown;
}

RowUse rows_together(const OpArgs& /*args*/, Specs /*outputs*/,
                     const RowAxes& axes) {
  if (axes.inputs[0] != 0) {
    return RowUse::kUnknown;
  }
  set_all(axes.outputs, RowAxes::kWhole);
  axes.outputs[0] = 0;
  return RowUse::kTogether;
}

RowUse rows_of_samples(const OpArgs& args, Specs outputs, const RowAxes& axes,
                       std::uint32_t inputs_by_sample,
                       std::uint32_t outputs_by_sample) {
  const auto is_in = [](std::uint32_t mask, std::size_t i) {
    return (mask >> std::min<std::size_t>(i, 31) & 1U) != 0;
  };
  for (std::size_t i = 0; i < axes.inputs.size(); ++i) {
    const bool fits = is_in(inputs_by_sample, i)
                          ? cuts(args, axes, i, 0, shape_of(args, 0)[0])
                          : axes.inputs[i] == RowAxes::kWhole;
    if (!fits) {
      return RowUse::kUnknown;
    }
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    axes.outputs[i] = is_in(outputs_by_sample, i) ? 0 : RowAxes::kSummed;
  }
  return RowUse::kEach;
}

}  // namespace neap::ops
