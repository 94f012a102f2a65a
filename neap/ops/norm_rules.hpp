// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// What the rules of layer_norm and rms_norm share. For sources of ops only.
//
// A norm maps a row x to xhat = s (x - mean x), or s x for rms_norm, with
// s = (mean of squares + eps)^(-1/2). Its derivative is s P with
//
//   P v = v - mean v - xhat mean(v xhat)        (rms_norm: without mean v)
//
// which is symmetric. The derivative of a -> <a, s P b> by x is symmetric in
// all of a, b and the direction, as a third derivative is:
//
//   -s^2 (xhat mean(a P b) + P a mean(xhat b) + P b mean(xhat a))
#pragma once

#include "neap/kernels/layer_norm_grad.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {

enum class Norm { kLayer, kRms };

/// A norm at one x of rows along the last axis.
class NormAt {
 public:
  /// `stats` as the norm gave them for x.
  NormAt(Norm norm, Tensor x, const Tensor& stats, double eps)
      : norm_(norm), x_(std::move(x)), stats_(stats.detach()), eps_(eps) {}

  const Tensor& x() const noexcept { return x_; }
  Tensor xhat() const;
  /// s P v
  Tensor along(const Tensor& v) const;
  /// The derivative of <a, s P b> by x.
  Tensor curve(const Tensor& a, const Tensor& b) const;

 private:
  Tensor scale() const;  // s, (..., 1), as a function of x

  Norm norm_;
  Tensor x_;
  Tensor stats_;
  double eps_;
};

/// Shape rules of the forward and the backward op.
void infer_norm(const char* op, const OpArgs& args, std::int64_t stats,
                std::span<Spec> out);
void infer_norm_grad(const char* op, const OpArgs& args, std::int64_t stats,
                     std::span<Spec> out);

/// The forward rule of the forward op; w and b may be missing.
void jvp_norm(JvpContext& c, Norm norm);
/// The rules of the backward op.
void vjp_norm_grad(VjpContext& c, Norm norm);
void jvp_norm_grad(JvpContext& c, Norm norm);

/// The last axes of x as one, after checks; see layer_norm.
/// THROWS: ShapeError, ValueError.
Tensor norm_rows(const char* op, const Operand& x,
                 const Shape& normalized_shape, double eps);
/// weight or bias as one axis; undefined where it is.
Tensor norm_vector(const char* op, const Tensor& vector,
                   const Shape& normalized_shape);

}  // namespace neap::ops
