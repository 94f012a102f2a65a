// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by the rules of layer_norm and rms_norm, whose cells are rows
// (norm_derivatives.hpp). For sources of ops only.
#pragma once

#include "neap/kernels/norm/layer_norm_grad.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {

enum class Norm { kLayer, kRms };

/// Shape rules of the forward and the backward op.
void infer_norm(const OpArgs& args, std::int64_t stats, std::span<Spec> out);
void infer_norm_grad(const OpArgs& args, std::int64_t stats,
                     std::span<Spec> out);

/// The rows of the backward op lie along one of the leading axes.
RowUse rows_of_row_norm(const OpArgs& args, Specs outputs, const RowAxes& axes);

/// The forward rule of the forward op; w and b may be missing.
void jvp_norm(JvpContext& c, Norm norm);
/// The rules of the backward op.
void vjp_norm_grad(VjpContext& c, Norm norm);
void jvp_norm_grad(JvpContext& c, Norm norm);

/// The last axes of x as one, after checks; see layer_norm.
/// THROWS: ShapeError, ValueError.
Tensor norm_rows(std::string_view op, const Operand& x,
                 const Shape& normalized_shape, double eps);
/// weight or bias as one axis; undefined where it is.
Tensor norm_vector(std::string_view op, const Tensor& vector,
                   const Shape& normalized_shape);

}  // namespace neap::ops
