// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/channel_norm_rules.hpp"

#include "neap/kernels/channel_norm.hpp"
#include "neap/ops/add.hpp"
#include "neap/ops/batch_norm.hpp"
#include "neap/ops/batch_norm_grad.hpp"
#include "neap/ops/expand.hpp"
#include "neap/ops/group_norm.hpp"
#include "neap/ops/group_norm_grad.hpp"
#include "neap/ops/mean.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/neg.hpp"
#include "neap/ops/reciprocal.hpp"
#include "neap/ops/reshape.hpp"
#include "neap/ops/sqrt.hpp"
#include "neap/ops/square.hpp"
#include "neap/ops/sub.hpp"

namespace neap::ops {

using kernels::ChannelNormAttrs;
using kernels::ChannelNormGradAttrs;

namespace {

// x w, where an undefined w is 1.
Tensor times(const Tensor& x, const Tensor& w) {
  return w.defined() ? mul(x, by_channel(w)) : x;
}

// The sum over all but the channels.
Tensor to_channels(const Tensor& v) {
  const std::int64_t c = v.size(1);
  return reshape(sum_to(v, {c, 1}), {c});
}

void check_channels(const char* op, const Spec& vector, const Spec& x) {
  if (vector.shape != Shape{x.shape[1]}) {
    raise<ShapeError>("{}: weight or bias {} for x {}, expected [{}]", op,
                      format_shape(vector.shape), format_shape(x.shape),
                      x.shape[1]);
  }
}

Shape stats_shape(const char* op, const Shape& x, std::int64_t groups) {
  if (x.rank() != 3) {
    raise<ShapeError>("{}: x {}, expected (n, c, s)", op, format_shape(x));
  }
  if (groups == 0) {
    return {x[1], 2};
  }
  if (groups < 0 || x[1] % groups != 0) {
    raise<ValueError>("{}: {} channels in {} groups", op, x[1], groups);
  }
  return {x[0], groups, 2};
}

}  // namespace

Tensor by_channel(const Tensor& vector) {
  return reshape(vector, {vector.size(0), 1});
}

Tensor ChannelNormAt::cell_mean(const Tensor& v) const {
  if (groups_ == 0) {
    return mean(v, {0, 2}, true);
  }
  const std::int64_t n = v.size(0);
  const std::int64_t c = v.size(1);
  const std::int64_t each = c / groups_;
  const Tensor cells =
      mean(reshape(v, {n, groups_, each * v.size(2)}), {-1}, true);
  return reshape(expand(cells, {n, groups_, each}), {n, c, 1});
}

Tensor ChannelNormAt::xhat() const {
  return channel_norm_of(x_, {}, {}, eps_, groups_)[0];
}

Tensor ChannelNormAt::along(const Tensor& v) const {
  return channel_norm_grad(v, x_, stats_, {},
                           {.eps = eps_, .groups = groups_, .dx = true})[0];
}

Tensor ChannelNormAt::scale() const {
  const Tensor from = sub(x_, cell_mean(x_));
  return reciprocal(sqrt(add(cell_mean(square(from)), eps_)));
}

Tensor ChannelNormAt::curve(const Tensor& a, const Tensor& b) const {
  const Tensor hat = xhat();
  const Tensor along_a = along(a);
  const Tensor along_b = along(b);
  Tensor sum = mul(hat, cell_mean(mul(a, along_b)));
  sum = add(std::move(sum), mul(along_a, cell_mean(mul(hat, b))));
  sum = add(std::move(sum), mul(along_b, cell_mean(mul(hat, a))));
  return neg(mul(std::move(sum), scale()));
}

void infer_channel_norm(const char* op, const OpArgs& args,
                        std::span<Spec> out) {
  infer_floating(op, args, out[0]);
  const Spec& x = args.inputs[0];
  out[1].dtype = f64;
  out[1].shape =
      stats_shape(op, x.shape, args.attrs.as<ChannelNormAttrs>().groups);
  for (const Spec& vector : args.inputs.subspan(1)) {
    check_channels(op, vector, x);
  }
}

void infer_channel_norm_grad(const char* op, const OpArgs& args,
                             std::span<Spec> out) {
  const auto& wanted = args.attrs.as<ChannelNormGradAttrs>();
  infer_gradient(op, {args.inputs.first(2), args.attrs}, out[0]);
  const Spec x = args.inputs[1];
  const Shape stats = stats_shape(op, x.shape, wanted.groups);
  if (args.inputs[2].shape != stats) {
    raise<ShapeError>("{}: statistics {} for x {}, expected {}", op,
                      format_shape(args.inputs[2].shape), format_shape(x.shape),
                      format_shape(stats));
  }
  check_dtype(op, args.inputs[2].dtype, f64);
  if (args.inputs.size() > 3) {
    check_channels(op, args.inputs[3], x);
    check_dtype(op, args.inputs[3].dtype, x.dtype);
  }
  out[0].shape = wanted.dx ? x.shape : Shape{0};
  for (std::size_t k = 1; k < out.size(); ++k) {
    const bool is_wanted = k == 1 ? wanted.dw : wanted.db;
    out[k].dtype = x.dtype;
    out[k].shape = {is_wanted ? x.shape[1] : 0};
  }
}

void vjp_channel_norm(VjpContext& c) {
  const auto attrs = c.attrs<ChannelNormAttrs>();
  const ChannelNormGradAttrs wanted{.eps = attrs.eps,
                                    .groups = attrs.groups,
                                    .dx = c.needs(0),
                                    .dw = c.inputs() > 1 && c.needs(1),
                                    .db = c.inputs() > 2 && c.needs(2)};
  if (!wanted.dx && !wanted.dw) {
    c.set(2, to_channels(c.take_cotangent()));
    return;
  }
  const bool weighted = c.inputs() > 1 && wanted.dx;
  std::array<Tensor, 3> d =
      channel_norm_grad(c.take_cotangent(), c.input(0), c.output(1).detach(),
                        weighted ? c.input(1) : Tensor(), wanted);
  for (int i = 0; i < c.inputs(); ++i) {
    if (c.needs(i)) {
      c.set(i, std::move(d[static_cast<std::size_t>(i)]));
    }
  }
}

void jvp_channel_norm(JvpContext& c) {
  const auto& attrs = c.attrs<ChannelNormAttrs>();
  const auto at = [&] {
    return ChannelNormAt(c.input(0), c.output(1), attrs.eps, attrs.groups);
  };
  Tensor d;
  if (c.tangent(0).defined()) {
    d = times(at().along(c.tangent(0)), c.inputs() > 1 ? c.input(1) : Tensor());
  }
  if (c.inputs() > 1 && c.tangent(1).defined()) {
    d = add_defined(std::move(d), times(at().xhat(), c.tangent(1)));
  }
  if (c.inputs() > 2 && c.tangent(2).defined()) {
    d = add_defined(std::move(d), by_channel(c.tangent(2)));
  }
  c.set(0, expand(d, c.output().shape()));
}

// With u the cotangents of dx, dw and db, and g = dy w:
//   of dy: w s P u_dx + xhat u_dw + u_db
//   of x:  curve(u_dx, g) + s P (dy u_dw)
//   of w:  sum over samples and s of dy s P u_dx
void vjp_channel_norm_grad(VjpContext& c) {
  const auto attrs = c.attrs<ChannelNormGradAttrs>();
  const ChannelNormAt at(c.input(1), c.input(2), attrs.eps, attrs.groups);
  const bool weighted = c.inputs() > 3;
  const bool reads_w = weighted && (c.needs(0) || c.needs(1));
  const Tensor w = reads_w ? c.input(3) : Tensor();
  const Tensor& u = c.cotangent(0);
  const Tensor& u_w = c.cotangent(1);
  const Tensor& u_b = c.cotangent(2);
  const Tensor along_u = u.defined() ? at.along(u) : Tensor();
  if (c.needs(0)) {
    Tensor d = u.defined() ? times(along_u, w) : Tensor();
    if (u_w.defined()) {
      d = add_defined(std::move(d), times(at.xhat(), u_w));
    }
    if (u_b.defined()) {
      d = add_defined(std::move(d), by_channel(u_b));
    }
    c.set(0, d.defined() ? expand(d, at.x().shape()) : d);
  }
  if (c.needs(1)) {
    const Tensor dy = c.input(0);
    Tensor d = u.defined() ? at.curve(u, times(dy, w)) : Tensor();
    if (u_w.defined()) {
      d = add_defined(std::move(d), at.along(times(dy, u_w)));
    }
    c.set(1, std::move(d));
  }
  if (weighted && c.needs(3) && u.defined()) {
    c.set(3, to_channels(mul(c.input(0), along_u)));
  }
}

// With t the tangents of dy, x and w:
//   of dx: s P (w t_dy + t_w dy) + curve(g, t_x)
//   of dw: sum over samples and s of t_dy xhat + dy s P t_x
//   of db: sum over samples and s of t_dy
void jvp_channel_norm_grad(JvpContext& c) {
  const auto wanted = c.attrs<ChannelNormGradAttrs>();
  const ChannelNormAt at(c.input(1), c.input(2), wanted.eps, wanted.groups);
  const Tensor& t = c.tangent(0);
  const Tensor& t_x = c.tangent(1);
  const Tensor t_w = c.inputs() > 3 ? c.tangent(3) : Tensor();
  const bool reads_w = c.inputs() > 3 && (t.defined() || t_x.defined());
  const bool reads_dy = t_x.defined() || t_w.defined();
  const Tensor w = reads_w ? c.input(3) : Tensor();
  const Tensor dy = reads_dy ? c.input(0) : Tensor();
  if (wanted.dx) {
    Tensor g = t.defined() ? times(t, w) : Tensor();
    if (t_w.defined()) {
      g = add_defined(std::move(g), times(dy, t_w));
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
    c.set(1, d.defined() ? to_channels(d) : d);
  }
  if (wanted.db && t.defined()) {
    c.set(2, to_channels(t));
  }
}

std::array<Tensor, 2> channel_norm_of(const Operand& x, const Tensor& weight,
                                      const Tensor& bias, double eps,
                                      std::int64_t groups) {
  const std::array<Operand, 3> inputs{x, weight, bias};
  const std::size_t count = !weight.defined() ? 1 : !bias.defined() ? 2 : 3;
  std::array<Tensor, 2> outputs;
  graph::dispatch(groups == 0 ? kBatchNorm : kGroupNorm,
                  std::span(inputs).first(count), ChannelNormAttrs{eps, groups},
                  x.site(), outputs);
  if (bias.defined() && !weight.defined()) {
    outputs[0] = add(std::move(outputs[0]), by_channel(bias));
  }
  return outputs;
}

std::array<Tensor, 3> channel_norm_grad(const Operand& g, const Operand& x,
                                        const Operand& stats,
                                        const Tensor& weight,
                                        const ChannelNormGradAttrs& wanted) {
  const std::array<Operand, 4> inputs{g, x, stats, weight};
  std::array<Tensor, 3> outputs;
  graph::dispatch(wanted.groups == 0 ? kBatchNormGrad : kGroupNormGrad,
                  std::span(inputs).first(weight.defined() ? 4 : 3), wanted,
                  g.site(), outputs);
  return outputs;
}

Tensor channel_planes(const char* op, const Operand& x, double eps) {
  if (!(eps >= 0.0)) {
    raise<ValueError>("{}: eps is {}, expected 0 or more", op, eps);
  }
  const Tensor& tensor = tensor_of(op, x);
  const Shape& shape = tensor.shape();
  if (shape.rank() < 2) {
    raise<ShapeError>("{}: x {}, expected samples and channels", op,
                      format_shape(shape));
  }
  check_computes(op, tensor.dtype());
  std::int64_t s = 1;
  for (int axis = 2; axis < shape.rank(); ++axis) {
    s = base::checked_mul(s, shape[axis]);
  }
  return reshape(x, {shape[0], shape[1], s});
}

}  // namespace neap::ops
