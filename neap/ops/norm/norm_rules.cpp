// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/norm_rules.hpp"

#include "neap/kernels/norm/layer_norm.hpp"
#include "neap/kernels/norm/layer_norm_grad.hpp"
#include "neap/ops/norm/layer_norm.hpp"
#include "neap/ops/norm/norm_derivatives.hpp"
#include "neap/ops/norm/rms_norm.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::ops {
namespace {

using kernels::NormGradAttrs;

// A norm of rows along the last axis, at one x.
class NormAt {
 public:
  // `stats` as the norm gave them for x.
  NormAt(Norm norm, Tensor x, const Tensor& stats, double eps)
      : norm_(norm), x_(std::move(x)), stats_(stats.detach()), eps_(eps) {}

  const Tensor& x() const noexcept { return x_; }
  double eps() const noexcept { return eps_; }
  bool is_centred() const noexcept { return norm_ == Norm::kLayer; }
  Tensor xhat() const {
    return norm_ == Norm::kLayer ? layer_norm_of(x_, {}, {}, eps_)[0]
                                 : rms_norm_of(x_, {}, eps_)[0];
  }
  Tensor along(const Tensor& v) const {
    const NormGradAttrs wanted{.eps = eps_, .dx = true};
    return norm_ == Norm::kLayer ? layer_norm_grad(v, x_, stats_, {}, wanted)[0]
                                 : rms_norm_grad(v, x_, stats_, {}, wanted)[0];
  }
  static Tensor cell_mean(const Tensor& v) { return mean(v, {-1}, true); }
  static const Tensor& spread(const Tensor& w) { return w; }
  static Tensor sum(const Tensor& v) { return sum_to(v, {v.shape().back()}); }

 private:
  Norm norm_;
  Tensor x_;
  Tensor stats_;
  double eps_;
};

Shape with_last(Shape shape, std::int64_t extent) {
  shape[shape.rank() - 1] = extent;
  return shape;
}

void check_vector(std::string_view op, const Spec& vector, const Spec& x) {
  if (vector.shape != Shape{x.shape.back()}) {
    raise<ShapeError>("{}: weight or bias {} for rows {}, expected [{}]", op,
                      format_shape(vector.shape), format_shape(x.shape),
                      x.shape.back());
  }
}

}  // namespace

void infer_norm(const OpArgs& args, std::int64_t stats, std::span<Spec> out) {
  infer_floating(args, out);
  const Spec& x = args.inputs[0];
  if (x.shape.rank() == 0) {
    raise<ShapeError>("{}: rank 0, expected rows", args.name);
  }
  for (const Spec& vector : args.inputs.subspan(1)) {
    check_vector(args.name, vector, x);
  }
  out[1].dtype = f64;
  out[1].shape = with_last(x.shape, stats);
}

void infer_norm_grad(const OpArgs& args, std::int64_t stats,
                     std::span<Spec> out) {
  const auto& wanted = args.attrs.as<NormGradAttrs>();
  infer_gradient({args.name, args.inputs.first(2), args.attrs}, out);
  const Spec x = args.inputs[1];
  if (x.shape.rank() == 0 ||
      args.inputs[2].shape != with_last(x.shape, stats)) {
    raise<ShapeError>("{}: rows {} and statistics {}, expected {} a row",
                      args.name, format_shape(x.shape),
                      format_shape(args.inputs[2].shape), stats);
  }
  check_dtype(args.name, args.inputs[2].dtype, f64);
  if (args.inputs.size() > 3) {
    check_vector(args.name, args.inputs[3], x);
    check_dtype(args.name, args.inputs[3].dtype, x.dtype);
  }
  out[0].shape = wanted.dx ? x.shape : Shape{0};
  for (std::size_t k = 1; k < out.size(); ++k) {
    const bool is_wanted = k == 1 ? wanted.dw : wanted.db;
    out[k].dtype = x.dtype;
    out[k].shape = {is_wanted ? x.shape.back() : 0};
  }
}

RowUse rows_of_row_norm(const OpArgs& args, Specs /*outputs*/,
                        const RowAxes& axes) {
  const auto* const found =
      std::find_if(axes.inputs.data(), axes.inputs.data() + 3,
                   [](int axis) { return axis >= 0; });
  const auto i = static_cast<std::size_t>(found - axes.inputs.data());
  if (i == 3 || *found >= args.inputs[0].shape.rank() - 1 ||
      (axes.inputs.size() > 3 && axes.inputs[3] != RowAxes::kWhole)) {
    return RowUse::kUnknown;
  }
  const int axis = *found;
  const std::int64_t extent = args.inputs[i].shape[axis];
  for (std::size_t k = 0; k < 3; ++k) {
    if (!cuts(args, axes, k, axis, extent)) {
      return RowUse::kUnknown;
    }
  }
  axes.outputs[0] = axis;
  std::ranges::fill(axes.outputs.subspan(1), RowAxes::kSummed);
  return RowUse::kEach;
}

void jvp_norm(JvpContext& c, Norm norm) {
  jvp_norm_by(c, [&] {
    return NormAt(norm, c.input(0), c.output(1),
                  c.attrs<kernels::RowNormAttrs>().eps);
  });
}

void vjp_norm_grad(VjpContext& c, Norm norm) {
  vjp_norm_grad_by(
      c, NormAt(norm, c.input(1), c.input(2), c.attrs<NormGradAttrs>().eps));
}

void jvp_norm_grad(JvpContext& c, Norm norm) {
  const auto wanted = c.attrs<NormGradAttrs>();
  jvp_norm_grad_by(c, NormAt(norm, c.input(1), c.input(2), wanted.eps), wanted);
}

Tensor norm_rows(std::string_view op, const Operand& x,
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

Tensor norm_vector(std::string_view op, const Tensor& vector,
                   const Shape& normalized_shape) {
  if (!vector.is_given()) {
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
