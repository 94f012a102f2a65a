// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm_rules.hpp"

#include "neap/kernels/layer_norm.hpp"
#include "neap/ops/add.hpp"
#include "neap/ops/expand.hpp"
#include "neap/ops/layer_norm.hpp"
#include "neap/ops/layer_norm_grad.hpp"
#include "neap/ops/mean.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/neg.hpp"
#include "neap/ops/reciprocal.hpp"
#include "neap/ops/reshape.hpp"
#include "neap/ops/rms_norm.hpp"
#include "neap/ops/rms_norm_grad.hpp"
#include "neap/ops/sqrt.hpp"
#include "neap/ops/square.hpp"
#include "neap/ops/sub.hpp"

namespace neap::ops {
namespace {

using kernels::NormGradAttrs;

Tensor row_mean(const Tensor& x) {
  return mean(x, {-1}, true);
}

// x y, where an undefined y is 1.
Tensor times(const Tensor& x, const Tensor& y) {
  return y.defined() ? mul(x, y) : x;
}

Shape with_last(Shape shape, std::int64_t extent) {
  shape[shape.rank() - 1] = extent;
  return shape;
}

void check_vector(const char* op, const Spec& vector, const Spec& x) {
  if (vector.shape != Shape{x.shape.back()}) {
    raise<ShapeError>("{}: weight or bias {} for rows {}, expected [{}]", op,
                      format_shape(vector.shape), format_shape(x.shape),
                      x.shape.back());
  }
}

}  // namespace

Tensor NormAt::xhat() const {
  return norm_ == Norm::kLayer ? layer_norm_of(x_, {}, {}, eps_)[0]
                               : rms_norm_of(x_, {}, eps_)[0];
}

Tensor NormAt::along(const Tensor& v) const {
  const NormGradAttrs wanted{.eps = eps_, .dx = true};
  return norm_ == Norm::kLayer ? layer_norm_grad(v, x_, stats_, {}, wanted)[0]
                               : rms_norm_grad(v, x_, stats_, {}, wanted)[0];
}

Tensor NormAt::scale() const {
  const Tensor from = norm_ == Norm::kLayer ? sub(x_, row_mean(x_)) : x_;
  return reciprocal(sqrt(add(row_mean(square(from)), eps_)));
}

Tensor NormAt::curve(const Tensor& a, const Tensor& b) const {
  const Tensor hat = xhat();
  const Tensor along_a = along(a);
  const Tensor along_b = along(b);
  Tensor sum = mul(hat, row_mean(mul(a, along_b)));
  sum = add(std::move(sum), mul(along_a, row_mean(mul(hat, b))));
  sum = add(std::move(sum), mul(along_b, row_mean(mul(hat, a))));
  return neg(mul(std::move(sum), scale()));
}

void infer_norm(const char* op, const OpArgs& args, std::int64_t stats,
                std::span<Spec> out) {
  infer_floating(op, args, out[0]);
  const Spec& x = args.inputs[0];
  if (x.shape.rank() == 0) {
    raise<ShapeError>("{}: rank 0, expected rows", op);
  }
  for (const Spec& vector : args.inputs.subspan(1)) {
    check_vector(op, vector, x);
  }
  out[1].dtype = f64;
  out[1].shape = with_last(x.shape, stats);
}

void infer_norm_grad(const char* op, const OpArgs& args, std::int64_t stats,
                     std::span<Spec> out) {
  const auto& wanted = args.attrs.as<NormGradAttrs>();
  infer_gradient(op, {args.inputs.first(2), args.attrs}, out[0]);
  const Spec x = args.inputs[1];
  if (x.shape.rank() == 0 ||
      args.inputs[2].shape != with_last(x.shape, stats)) {
    raise<ShapeError>("{}: rows {} and statistics {}, expected {} a row", op,
                      format_shape(x.shape), format_shape(args.inputs[2].shape),
                      stats);
  }
  check_dtype(op, args.inputs[2].dtype, f64);
  if (args.inputs.size() > 3) {
    check_vector(op, args.inputs[3], x);
    check_dtype(op, args.inputs[3].dtype, x.dtype);
  }
  out[0].shape = wanted.dx ? x.shape : Shape{0};
  for (std::size_t k = 1; k < out.size(); ++k) {
    const bool is_wanted = k == 1 ? wanted.dw : wanted.db;
    out[k].dtype = x.dtype;
    out[k].shape = {is_wanted ? x.shape.back() : 0};
  }
}

void jvp_norm(JvpContext& c, Norm norm) {
  const auto at = [&] {
    return NormAt(norm, c.input(0), c.output(1),
                  c.attrs<kernels::RowNormAttrs>().eps);
  };
  Tensor d;
  if (c.tangent(0).defined()) {
    d = times(at().along(c.tangent(0)), c.inputs() > 1 ? c.input(1) : Tensor());
  }
  if (c.inputs() > 1 && c.tangent(1).defined()) {
    d = add_defined(std::move(d), mul(at().xhat(), c.tangent(1)));
  }
  if (c.inputs() > 2) {
    d = add_defined(std::move(d), c.tangent(2));
  }
  c.set(0, expand(d, c.output().shape()));
}

// With u the cotangents of dx, dw and db, and g = dy w:
//   of dy: w s P u_dx + xhat u_dw + u_db
//   of x:  curve(u_dx, g) + s P (dy u_dw)
//   of w:  sum over rows of dy s P u_dx
void vjp_norm_grad(VjpContext& c, Norm norm) {
  const NormAt at(norm, c.input(1), c.input(2), c.attrs<NormGradAttrs>().eps);
  const bool weighted = c.inputs() > 3;
  const bool reads_w = weighted && (c.needs(0) || c.needs(1));
  const Tensor w = reads_w ? c.input(3) : Tensor();
  const Tensor& u = c.cotangent(0);
  const Tensor& u_w = c.cotangent(1);
  const Tensor u_b = norm == Norm::kLayer ? c.cotangent(2) : Tensor();
  const Shape& shape = at.x().shape();
  const Tensor along_u = u.defined() ? at.along(u) : Tensor();
  if (c.needs(0)) {
    Tensor d = u.defined() ? times(along_u, w) : Tensor();
    if (u_w.defined()) {
      d = add_defined(std::move(d), mul(at.xhat(), u_w));
    }
    d = add_defined(std::move(d), u_b);
    c.set(0, d.defined() ? expand(d, shape) : d);
  }
  if (c.needs(1)) {
    const Tensor dy = c.input(0);
    Tensor d = u.defined() ? at.curve(u, times(dy, w)) : Tensor();
    if (u_w.defined()) {
      d = add_defined(std::move(d), at.along(mul(dy, u_w)));
    }
    c.set(1, std::move(d));
  }
  if (weighted && c.needs(3) && u.defined()) {
    c.set(3, sum_to(mul(c.input(0), along_u), {shape.back()}));
  }
}

// With t the tangents of dy, x and w:
//   of dx: s P (w t_dy + t_w dy) + curve(g, t_x)
//   of dw: sum over rows of t_dy xhat + dy s P t_x
//   of db: sum over rows of t_dy
void jvp_norm_grad(JvpContext& c, Norm norm) {
  const auto wanted = c.attrs<NormGradAttrs>();
  const NormAt at(norm, c.input(1), c.input(2), wanted.eps);
  const Tensor& t = c.tangent(0);
  const Tensor& t_x = c.tangent(1);
  const Tensor t_w = c.inputs() > 3 ? c.tangent(3) : Tensor();
  const bool reads_w = c.inputs() > 3 && (t.defined() || t_x.defined());
  const bool reads_dy = t_x.defined() || t_w.defined();
  const Tensor w = reads_w ? c.input(3) : Tensor();
  const Tensor dy = reads_dy ? c.input(0) : Tensor();
  const Shape columns{at.x().shape().back()};
  if (wanted.dx) {
    Tensor g = t.defined() ? times(t, w) : Tensor();
    if (t_w.defined()) {
      g = add_defined(std::move(g), mul(dy, t_w));
    }
    Tensor d = g.defined() ? at.along(g) : Tensor();
    if (t_x.defined()) {
      d = add_defined(std::move(d), at.curve(times(dy, w), t_x));
    }
    c.set(0, std::move(d));
  }
  if (wanted.dw) {
    Tensor d = t.defined() ? mul(t, at.xhat()) : Tensor();
    if (t_x.defined()) {
      d = add_defined(std::move(d), mul(dy, at.along(t_x)));
    }
    c.set(1, d.defined() ? sum_to(d, columns) : d);
  }
  if (wanted.db && t.defined()) {
    c.set(2, sum_to(t, columns));
  }
}

Tensor norm_rows(const char* op, const Operand& x,
                 const Shape& normalized_shape, double eps) {
  if (!(eps >= 0.0)) {
    raise<ValueError>("{}: eps is {}, expected 0 or more", op, eps);
  }
  const Shape& shape = tensor_of(op, x).shape();
  const int kept = shape.rank() - normalized_shape.rank();
  if (normalized_shape.rank() == 0 || kept < 0 ||
      !std::equal(normalized_shape.begin(), normalized_shape.end(),
                  shape.begin() + kept)) {
    raise<ShapeError>("{}: x {} does not end in normalized_shape {}", op,
                      format_shape(shape), format_shape(normalized_shape));
  }
  Shape rows(shape.span().first(static_cast<std::size_t>(kept)));
  rows.push_back(normalized_shape.element_count());
  return reshape(x, rows);
}

Tensor norm_vector(const char* op, const Tensor& vector,
                   const Shape& normalized_shape) {
  if (!vector.defined()) {
    return vector;
  }
  if (vector.shape() != normalized_shape) {
    raise<ShapeError>("{}: weight or bias {}, expected normalized_shape {}", op,
                      format_shape(vector.shape()),
                      format_shape(normalized_shape));
  }
  return reshape(vector, {normalized_shape.element_count()});
}

}  // namespace neap::ops
