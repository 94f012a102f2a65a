// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// What the rules of batch_norm and group_norm share; x is (n, c, s). For
// sources of ops only. The mathematics is that of norm_rules.hpp, with a cell
// of x (a channel of the batch, or a sample's group of channels) for a row.
#pragma once

#include "neap/kernels/channel_norm_grad.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {

/// A norm at one x. `groups` of 0: batch_norm.
class ChannelNormAt {
 public:
  /// `stats` as the norm gave them for x.
  ChannelNormAt(Tensor x, const Tensor& stats, double eps, std::int64_t groups)
      : x_(std::move(x)), stats_(stats.detach()), eps_(eps), groups_(groups) {}

  const Tensor& x() const noexcept { return x_; }
  Tensor xhat() const;
  /// s P v
  Tensor along(const Tensor& v) const;
  /// The derivative of <a, s P b> by x.
  Tensor curve(const Tensor& a, const Tensor& b) const;

 private:
  Tensor scale() const;                     // s, as a function of x
  Tensor cell_mean(const Tensor& v) const;  // broadcasts to (n, c, s)

  Tensor x_;
  Tensor stats_;
  double eps_;
  std::int64_t groups_;
};

/// Shape rules of the forward and the backward op.
void infer_channel_norm(const char* op, const OpArgs& args,
                        std::span<Spec> out);
void infer_channel_norm_grad(const char* op, const OpArgs& args,
                             std::span<Spec> out);

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
Tensor channel_planes(const char* op, const Operand& x, double eps);
/// Of a vector (c), to broadcast against (n, c, s).
Tensor by_channel(const Tensor& vector);

}  // namespace neap::ops
