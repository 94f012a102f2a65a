// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The rules that all norms share. For sources of ops only.
//
// A norm maps a cell x (a row; a channel of the batch; a sample's group of
// channels) to xhat = s (x - mean x), or s x for rms_norm, with
// s = (mean of squares + eps)^(-1/2). Its derivative is s P with
//
//   P v = v - mean v - xhat mean(v xhat)        (rms_norm: without mean v)
//
// which is symmetric. The derivative of a -> <a, s P b> by x is symmetric in
// all of a, b and the direction, as a third derivative is:
//
//   -s^2 (xhat mean(a P b) + P a mean(xhat b) + P b mean(xhat a))
//
// A norm `At` one x says what the cells are and how a weight or bias w lies:
//
//   const Tensor& x()        double eps()
//   bool is_centred()        the mean is taken off; there may be a bias
//   Tensor xhat()
//   Tensor along(v)          s P v
//   Tensor cell_mean(v)      of each cell, to broadcast against x
//   static Tensor spread(w)  to broadcast against x
//   static Tensor sum(v)     over all that shares an element of w
#pragma once

#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {

/// v w, where an undefined w is 1.
template <class At>
Tensor weighted(const Tensor& v, const Tensor& w) {
  return w.defined() ? mul(v, At::spread(w)) : v;
}

/// The derivative of <a, s P b> by x.
template <class At>
Tensor norm_curve(const At& at, const Tensor& a, const Tensor& b) {
  const Tensor hat = at.xhat();
  const Tensor along_a = at.along(a);
  const Tensor along_b = at.along(b);
  Tensor sum = mul(hat, at.cell_mean(mul(a, along_b)));
  sum = add(std::move(sum), mul(along_a, at.cell_mean(mul(hat, b))));
  sum = add(std::move(sum), mul(along_b, at.cell_mean(mul(hat, a))));
  const Tensor from =
      at.is_centred() ? sub(at.x(), at.cell_mean(at.x())) : at.x();
  const Tensor scale =
      reciprocal(sqrt(add(at.cell_mean(square(from)), at.eps())));
  return neg(mul(std::move(sum), scale));
}

/// The forward rule of a norm; `make_at` gives the norm when it is asked for,
/// which reads x. w and b may be missing.
template <class MakeAt>
void jvp_norm_by(JvpContext& c, const MakeAt& make_at) {
  using At = decltype(make_at());
  Tensor d;
  if (c.tangent(0).defined()) {
    d = weighted<At>(make_at().along(c.tangent(0)),
                     c.inputs() > 1 ? c.input(1) : Tensor());
  }
  if (c.inputs() > 1 && c.tangent(1).defined()) {
    d = add_defined(std::move(d), weighted<At>(make_at().xhat(), c.tangent(1)));
  }
  if (c.inputs() > 2 && c.tangent(2).defined()) {
    d = add_defined(std::move(d), At::spread(c.tangent(2)));
  }
  c.set(0, expand(d, c.output().shape()));
}

/// The reverse rule of a norm's backward op, of dy, x, statistics and w. With u
/// the cotangents of dx, dw and db, and g = dy w:
///   of dy: w s P u_dx + xhat u_dw + u_db
///   of x:  curve(u_dx, g) + s P (dy u_dw)
///   of w:  the sum of dy s P u_dx
template <class At>
void vjp_norm_grad_by(VjpContext& c, const At& at) {
  const bool has_w = c.inputs() > 3;
  const bool reads_w = has_w && (c.needs(0) || c.needs(1));
  const Tensor w = reads_w ? c.input(3) : Tensor();
  const Tensor& u = c.cotangent(0);
  const Tensor& u_w = c.cotangent(1);
  const Tensor u_b = at.is_centred() ? c.cotangent(2) : Tensor();
  const Tensor along_u = u.defined() ? at.along(u) : Tensor();
  if (c.needs(0)) {
    Tensor d = u.defined() ? weighted<At>(along_u, w) : Tensor();
    if (u_w.defined()) {
      d = add_defined(std::move(d), weighted<At>(at.xhat(), u_w));
    }
    if (u_b.defined()) {
      d = add_defined(std::move(d), At::spread(u_b));
    }
    c.set(0, d.defined() ? expand(d, at.x().shape()) : d);
  }
  if (c.needs(1)) {
    const Tensor dy = c.input(0);
    Tensor d = u.defined() ? norm_curve(at, u, weighted<At>(dy, w)) : Tensor();
    if (u_w.defined()) {
      d = add_defined(std::move(d), at.along(weighted<At>(dy, u_w)));
    }
    c.set(1, std::move(d));
  }
  if (has_w && c.needs(3) && u.defined()) {
    c.set(3, At::sum(mul(c.input(0), along_u)));
  }
}

/// The forward rule of the same op. With t the tangents of dy, x and w:
///   of dx: s P (w t_dy + t_w dy) + curve(g, t_x)
///   of dw: the sum of t_dy xhat + dy s P t_x
///   of db: the sum of t_dy
/// `wanted`: which of these the op gives.
template <class At, class Wanted>
void jvp_norm_grad_by(JvpContext& c, const At& at, const Wanted& wanted) {
  const Tensor& t = c.tangent(0);
  const Tensor& t_x = c.tangent(1);
  const Tensor t_w = c.inputs() > 3 ? c.tangent(3) : Tensor();
  const bool reads_w = c.inputs() > 3 && (t.defined() || t_x.defined());
  const bool reads_dy = t_x.defined() || t_w.defined();
  const Tensor w = reads_w ? c.input(3) : Tensor();
  const Tensor dy = reads_dy ? c.input(0) : Tensor();
  if (wanted.dx) {
    Tensor g = t.defined() ? weighted<At>(t, w) : Tensor();
    if (t_w.defined()) {
      g = add_defined(std::move(g), weighted<At>(dy, t_w));
    }
    Tensor d = g.defined() ? at.along(g) : Tensor();
    if (t_x.defined()) {
      d = add_defined(std::move(d), norm_curve(at, weighted<At>(dy, w), t_x));
    }
    c.set(0, std::move(d));
  }
  if (wanted.dw) {
    Tensor d = t.defined() ? mul(t, at.xhat()) : Tensor();
    if (t_x.defined()) {
      d = add_defined(std::move(d), mul(dy, at.along(t_x)));
    }
    c.set(1, d.defined() ? At::sum(d) : d);
  }
  if (wanted.db && t.defined()) {
    c.set(2, At::sum(t));
  }
}

}  // namespace neap::ops
