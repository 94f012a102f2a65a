// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/channel_norm_rules.hpp"

#include "neap/kernels/norm/channel_norm.hpp"
#include "neap/ops/norm/batch_norm.hpp"
#include "neap/ops/norm/group_norm.hpp"
#include "neap/ops/norm/norm_derivatives.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::ops {

using kernels::ChannelNormAttrs;
using kernels::ChannelNormGradAttrs;

namespace {

// The sum over all but the channels.
Tensor to_channels(const Tensor& v) {
  const std::int64_t c = v.size(1);
  return reshape(sum_to(v, {c, 1}), {c});
}

// A norm at one x. `groups` of 0: batch_norm.
class ChannelNormAt {
 public:
  // `stats` as the norm gave them for x.
  ChannelNormAt(Tensor x, const Tensor& stats, double eps, std::int64_t groups)
      : x_(std::move(x)), stats_(stats.detach()), eps_(eps), groups_(groups) {}

  const Tensor& x() const noexcept { return x_; }
  double eps() const noexcept { return eps_; }
  static bool is_centred() noexcept { return true; }
  Tensor xhat() const { return channel_norm_of(x_, {}, {}, eps_, groups_)[0]; }
  Tensor along(const Tensor& v) const {
    return channel_norm_grad(v, x_, stats_, {},
                             {.eps = eps_, .groups = groups_, .dx = true})[0];
  }
  Tensor cell_mean(const Tensor& v) const {
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
  static Tensor spread(const Tensor& w) { return by_channel(w); }
  static Tensor sum(const Tensor& v) { return to_channels(v); }

 private:
  Tensor x_;
  Tensor stats_;
  double eps_;
  std::int64_t groups_;
};

void check_channels(std::string_view op, const Spec& vector, const Spec& x) {
  if (vector.shape != Shape{x.shape[1]}) {
    raise<ShapeError>("{}: weight or bias {} for x {}, expected [{}]", op,
                      format_shape(vector.shape), format_shape(x.shape),
                      x.shape[1]);
  }
}

Shape stats_shape(std::string_view op, const Shape& x, std::int64_t groups) {
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

void infer_channel_norm(const OpArgs& args, std::span<Spec> out) {
  infer_floating(args, out);
  const Spec& x = args.inputs[0];
  out[1].dtype = f64;
  out[1].shape =
      stats_shape(args.name, x.shape, args.attrs.as<ChannelNormAttrs>().groups);
  for (const Spec& vector : args.inputs.subspan(1)) {
    check_channels(args.name, vector, x);
  }
}

void infer_channel_norm_grad(const OpArgs& args, std::span<Spec> out) {
  const auto& wanted = args.attrs.as<ChannelNormGradAttrs>();
  infer_gradient({args.name, args.inputs.first(2), args.attrs}, out);
  const Spec x = args.inputs[1];
  const Shape stats = stats_shape(args.name, x.shape, wanted.groups);
  if (args.inputs[2].shape != stats) {
    raise<ShapeError>("{}: statistics {} for x {}, expected {}", args.name,
                      format_shape(args.inputs[2].shape), format_shape(x.shape),
                      format_shape(stats));
  }
  check_dtype(args.name, args.inputs[2].dtype, f64);
  if (args.inputs.size() > 3) {
    check_channels(args.name, args.inputs[3], x);
    check_dtype(args.name, args.inputs[3].dtype, x.dtype);
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
  jvp_norm_by(c, [&] {
    return ChannelNormAt(c.input(0), c.output(1), attrs.eps, attrs.groups);
  });
}

void vjp_channel_norm_grad(VjpContext& c) {
  const auto attrs = c.attrs<ChannelNormGradAttrs>();
  vjp_norm_grad_by(
      c, ChannelNormAt(c.input(1), c.input(2), attrs.eps, attrs.groups));
}

void jvp_channel_norm_grad(JvpContext& c) {
  const auto wanted = c.attrs<ChannelNormGradAttrs>();
  jvp_norm_grad_by(
      c, ChannelNormAt(c.input(1), c.input(2), wanted.eps, wanted.groups),
      wanted);
}

std::array<Tensor, 2> channel_norm_of(const Operand& x, const Tensor& weight,
                                      const Tensor& bias, double eps,
                                      std::int64_t groups) {
  const std::array<Operand, 3> inputs{x, weight, bias};
  const bool is_shifted = bias.is_given();
  const std::size_t count = !weight.is_given() ? 1 : is_shifted ? 3 : 2;
  std::array<Tensor, 2> outputs;
  graph::dispatch(groups == 0 ? kBatchNorm : kGroupNorm,
                  std::span(inputs).first(count), ChannelNormAttrs{eps, groups},
                  x.site(), outputs);
  if (is_shifted && !weight.is_given()) {
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

Tensor channel_planes(std::string_view op, const Operand& x, double eps) {
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
