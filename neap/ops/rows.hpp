// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rules of families of ops for the rows of a batch (graph/rows.hpp). For
// sources of ops only.
#pragma once

#include <algorithm>

#include "neap/graph/op.hpp"

namespace neap::ops {

using graph::OpArgs;
using graph::RowAxes;
using graph::RowUse;
using graph::Spec;
using Specs = std::span<const Spec>;

/// Elementwise ops, whose operands broadcast.
RowUse rows_by_element(const OpArgs& args, Specs outputs, const RowAxes& axes);

/// The same, where output 1 holds a bit an element; and the op that reads them
/// as input 1.
RowUse rows_with_bits(const OpArgs& args, Specs outputs, const RowAxes& axes);
RowUse rows_by_bits(const OpArgs& args, Specs outputs, const RowAxes& axes);

/// Products of matrices, with a batch of them in front; and those that are
/// added to input 0.
RowUse rows_of_product(const OpArgs& args, Specs outputs, const RowAxes& axes);
RowUse rows_of_added_product(const OpArgs& args, Specs outputs,
                             const RowAxes& axes);

/// Sums over some axes, and reductions that are no sums.
RowUse rows_of_sum(const OpArgs& args, Specs outputs, const RowAxes& axes);
RowUse rows_of_reduction(const OpArgs& args, Specs outputs,
                         const RowAxes& axes);
/// A sum over all axes.
RowUse rows_summed(const OpArgs& args, Specs outputs, const RowAxes& axes);

/// Matrices, with a batch of them in front that broadcasts.
RowUse rows_of_matrices(const OpArgs& args, Specs outputs, const RowAxes& axes);

/// Ops along kernels::AxisAttrs::axis, or that of other attributes that begin
/// with an axis, of operands of one shape but along it.
RowUse rows_beside_axis(const OpArgs& args, Specs outputs, const RowAxes& axes);

/// Ops along the axes of a kernels::ReduceAttrs.
RowUse rows_beside_axes(const OpArgs& args, Specs outputs, const RowAxes& axes);

/// gather, and scatters into input 0.
RowUse rows_of_gather(const OpArgs& args, Specs outputs, const RowAxes& axes);
RowUse rows_of_scatter(const OpArgs& args, Specs outputs, const RowAxes& axes);
RowUse rows_of_scatter_add(const OpArgs& args, Specs outputs,
                           const RowAxes& axes);

/// Input 0 and all outputs have the same leading axes, and rows lie along one
/// of those in front of the last `Inner`; other inputs are read whole.
template <int Inner>
RowUse rows_before(const OpArgs& args, Specs outputs, const RowAxes& axes) {
  const int axis = axes.inputs[0];
  const int rank = args.inputs[0].shape.rank();
  if (axis < 0 || axis >= rank - Inner ||
      !std::ranges::all_of(axes.inputs.subspan(1),
                           [](int i) { return i == RowAxes::kWhole; })) {
    return RowUse::kUnknown;
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    axes.outputs[i] = axis;
  }
  return RowUse::kEach;
}

/// Axis 0 holds samples: of the inputs and outputs of these masks. Other inputs
/// are read whole, other outputs are sums over samples.
RowUse rows_of_samples(const OpArgs& args, Specs outputs, const RowAxes& axes,
                       std::uint32_t inputs_by_sample,
                       std::uint32_t outputs_by_sample);
template <std::uint32_t Inputs, std::uint32_t Outputs>
RowUse rows_by_sample(const OpArgs& args, Specs outputs, const RowAxes& axes) {
  return rows_of_samples(args, outputs, axes, Inputs, Outputs);
}

/// Axis 0 of input 0 and output 0 holds samples that depend on one another.
RowUse rows_together(const OpArgs& args, Specs outputs, const RowAxes& axes);

/// Cuts input `i` along an axis, if it is not cut yet. RETURNS: false where it
/// is cut along another axis, or has another extent.
bool cuts(const OpArgs& args, const RowAxes& axes, std::size_t i, int axis,
          std::int64_t extent);

}  // namespace neap::ops
