// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by the rules of batch_norm and group_norm, whose cells are a channel
// of the batch, or a sample's group of channels (norm_derivatives.hpp); x is
// (n, c, s). For sources of ops only.
#pragma once

#include "neap/kernels/norm/channel_norm_grad.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {

/// Shape rules of the forward and the backward op.
void infer_channel_norm(const OpArgs& args, std::span<Spec> out);
void infer_channel_norm_grad(const OpArgs& args, std::span<Spec> out);

/// The rules of the forward op, and of the backward op.
void vjp_channel_norm(VjpContext& c);
void jvp_channel_norm(JvpContext& c);
void vjp_channel_norm_grad(VjpContext& c);
void jvp_channel_norm_grad(JvpContext& c);

/// The op for these attributes; w, and then b, may be undefined.
std::array<Tensor, 2> channel_norm_of(const Operand& x, const Tensor& weight,
                                      const Tensor& bias, double eps,
                                      std::int64_t groups);
std::array<Tensor, 3> channel_norm_grad(
    const Operand& g, const Operand& x, const Operand& stats,
    const Tensor& weight, const kernels::ChannelNormGradAttrs& wanted);

/// (n, c, ...) as (n, c, s), after checks. THROWS: ShapeError, ValueError.
Tensor channel_planes(std::string_view op, const Operand& x, double eps);
/// A view of a vector (c) that broadcasts against (n, c, s).
Tensor by_channel(const Tensor& vector);

}  // namespace neap::ops
