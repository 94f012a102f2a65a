// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/linear_cross_entropy_grad.hpp"

#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/linalg/linear_cross_entropy.hpp"
#include "neap/ops/linalg/linear_cross_entropy_rules.hpp"
#include "neap/ops/linalg/linear_rules.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/loss/cross_entropy_rules.hpp"
#include "neap/ops/precision.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {
namespace {

using kernels::LinearCrossEntropyAttrs;

// Operands in order.
enum : std::uint8_t { kG, kX, kW, kBias, kLabels, kLogSum, kSums };

void check_shape(const OpArgs& args, std::size_t i, const char* what,
                 const Spec& expected) {
  const Spec& spec = args.inputs[i];
  check_dtype(args.name, spec.dtype, expected.dtype);
  if (spec.shape != expected.shape) {
    raise<ShapeError>("{}: {} {}, expected {}", args.name, what,
                      format_shape(spec.shape), format_shape(expected.shape));
  }
}

void infer_linear_cross_entropy_grad(const OpArgs& args, std::span<Spec> out) {
  const auto& wanted = args.attrs.as<LinearCrossEntropyAttrs>();
  const Spec& x = args.inputs[kX];
  const Spec& w = args.inputs[kW];
  const std::array<Spec, 4> head{x, w, args.inputs[kLabels],
                                 args.inputs[kBias]};
  std::array<Spec, 2> losses;
  infer_losses(
      {args.name, std::span(head).first(wanted.has_bias ? 4 : 3), args.attrs},
      losses);
  check_shape(args, kG, "g", losses[0]);
  check_shape(args, kLogSum, "log_sum", losses[1]);
  for (Spec& spec : out) {
    spec.dtype = x.dtype;
    spec.shape = {0};
  }
  if (wanted.dx) {
    out[0].shape = x.shape;
  }
  if (wanted.dw) {
    out[1].shape = w.shape;
  }
  if (wanted.db) {
    out[2].shape = {w.shape[0]};
  }
  std::size_t next = kSums;
  if (wanted.adds_dx) {
    check_shape(args, next++, "dx so far", out[0]);
  }
  if (wanted.adds_dw) {
    check_shape(args, next, "dw so far", out[1]);
  }
}

// The logits of a call, and their cotangents dz. A context is that of a rule,
// in either mode.
template <class Context>
class At {
 public:
  explicit At(Context& c)
      : c_(c),
        attrs_(c.template attrs<LinearCrossEntropyAttrs>()),
        z_(logits_of(c.input(kX), c.input(kW),
                     attrs_.has_bias ? c.input(kBias) : Tensor())) {}

  Tensor dz(const Tensor& g) const {
    return cross_entropy_grad(g, z_, c_.input(kLabels), c_.input(kLogSum),
                              attrs_.loss);
  }
  /// The derivative of dz in the direction d of z.
  Tensor curvature(const Tensor& d) const {
    return cross_entropy_curvature(c_.input(kG), z_, c_.input(kLabels), d,
                                   attrs_.loss);
  }

 private:
  Context& c_;
  LinearCrossEntropyAttrs attrs_;
  Tensor z_;
};

// a b, added to `sum`; nothing where one of them is.
Tensor gain_defined(Tensor sum, const Tensor& a, const Tensor& b) {
  return a.defined() && b.defined() ? gain(std::move(sum), a, b) : sum;
}

Tensor turned(const Tensor& matrix) {
  return matrix.defined() ? transpose(matrix) : matrix;
}

// With u the cotangents of dx, dw and db, t the logits' move along them, and q
// the derivative of dz in the direction t, what is derived is <dz, t>:
//   of g: <dz / g, t>          of x: q w + dz u_w
//   of b: sum of q over rows   of w: q^T x + dz^T u_x
void vjp_linear_cross_entropy_grad(VjpContext& c) {
  const auto attrs = c.attrs<LinearCrossEntropyAttrs>();
  int next = kSums;
  for (const auto& [adds, k] :
       {std::pair(attrs.adds_dx, 0), std::pair(attrs.adds_dw, 1)}) {
    if (adds && c.needs(next)) {
      c.set(next, c.cotangent(k));
    }
    next += adds ? 1 : 0;
  }
  const bool of_bias = attrs.has_bias && c.needs(kBias);
  if (!c.needs(kG) && !c.needs(kX) && !c.needs(kW) && !of_bias) {
    return;
  }
  const LogitsMove u{.x = attrs.dx ? c.cotangent(0) : Tensor(),
                     .w = attrs.dw ? c.cotangent(1) : Tensor(),
                     .bias = attrs.db ? c.cotangent(2) : Tensor()};
  const UsePrecision same(attrs.precision);
  const Tensor t = moved_logits(c.input(kX), c.input(kW), u);
  if (!t.defined()) {
    return;
  }
  const At at(c);
  if (c.needs(kG)) {
    const Tensor one = ones_of_losses(c.input(kLogSum), attrs.loss);
    c.set(kG, along_losses(mul(at.dz(one), t), attrs.loss));
  }
  if (!c.needs(kX) && !c.needs(kW) && !of_bias) {
    return;
  }
  const Tensor q = at.curvature(t);
  const bool reads_dz =
      (c.needs(kX) && u.w.defined()) || (c.needs(kW) && u.x.defined());
  const Tensor dz = reads_dz ? at.dz(c.input(kG)) : Tensor();
  if (c.needs(kX)) {
    c.set(kX, gain_defined(matmul(q, c.input(kW)), dz, u.w));
  }
  if (c.needs(kW)) {
    c.set(kW, gain_defined(matmul(transpose(q), c.input(kX)), turned(dz), u.x));
  }
  if (of_bias) {
    c.set(kBias, sum(q, {0}));
  }
}

// With t of each operand, and tdz = dz along t of g and of the logits:
//   tdx = tdz w + dz tw    tdw = tdz^T x + dz^T tx    tdb = sum of tdz
void jvp_linear_cross_entropy_grad(JvpContext& c) {
  const auto attrs = c.attrs<LinearCrossEntropyAttrs>();
  const LogitsMove t{.x = c.tangent(kX),
                     .w = c.tangent(kW),
                     .bias = attrs.has_bias ? c.tangent(kBias) : Tensor()};
  const UsePrecision same(attrs.precision);
  const bool moves = t.x.defined() || t.w.defined() || t.bias.defined();
  Tensor dz;
  Tensor tdz;
  if (moves || c.tangent(kG).defined()) {
    const At at(c);
    if (c.tangent(kG).defined()) {
      tdz = at.dz(c.tangent(kG));
    }
    if (moves) {
      tdz =
          add_defined(std::move(tdz),
                      at.curvature(moved_logits(c.input(kX), c.input(kW), t)));
    }
    if ((attrs.dx && t.w.defined()) || (attrs.dw && t.x.defined())) {
      dz = at.dz(c.input(kG));
    }
  }
  int next = kSums;
  Tensor sum_of_dx = attrs.adds_dx ? c.tangent(next++) : Tensor();
  Tensor sum_of_dw = attrs.adds_dw ? c.tangent(next) : Tensor();
  const auto input = [&](int i) {
    return tdz.defined() ? c.input(i) : Tensor();
  };
  if (attrs.dx) {
    c.set(0, gain_defined(gain_defined(std::move(sum_of_dx), tdz, input(kW)),
                          dz, t.w));
  }
  if (attrs.dw) {
    c.set(1, gain_defined(
                 gain_defined(std::move(sum_of_dw), turned(tdz), input(kX)),
                 turned(dz), t.x));
  }
  if (attrs.db && tdz.defined()) {
    c.set(2, sum(tdz, {0}));
  }
}

// The cotangent of a sum is that of each of its rows. Sums so far are whole.
RowUse rows_of_grads(const OpArgs& args, Specs /*outputs*/,
                     const RowAxes& axes) {
  const auto& attrs = args.attrs.as<LinearCrossEntropyAttrs>();
  const std::int64_t rows = args.inputs[kX].shape[0];
  const bool has_rows_of_g = attrs.loss.reduction == Reduction::kNone;
  if (attrs.loss.reduction == Reduction::kMean || attrs.adds_dx ||
      attrs.adds_dw || axes.inputs[kW] != RowAxes::kWhole ||
      (attrs.has_bias && axes.inputs[kBias] != RowAxes::kWhole)) {
    return RowUse::kUnknown;
  }
  for (const std::size_t i : {kX, kLabels, kLogSum}) {
    if (!cuts(args, axes, i, 0, rows)) {
      return RowUse::kUnknown;
    }
  }
  const bool fits = has_rows_of_g ? cuts(args, axes, kG, 0, rows)
                                  : axes.inputs[kG] == RowAxes::kWhole;
  if (!fits || (!attrs.has_bias && !cuts(args, axes, kBias, 0, rows))) {
    return RowUse::kUnknown;
  }
  axes.outputs[0] = 0;
  axes.outputs[1] = RowAxes::kSummed;
  axes.outputs[2] = RowAxes::kSummed;
  return RowUse::kEach;
}

Cost cost_of_grads(const OpArgs& args, std::span<const Spec> outputs) {
  const auto& wanted = args.attrs.as<LinearCrossEntropyAttrs>();
  const Shape& x = args.inputs[kX].shape;
  const std::int64_t logits = x[0] * args.inputs[kW].shape[0];
  const int products = 1 + (wanted.dx ? 1 : 0) + (wanted.dw ? 1 : 0);
  return moving(args, outputs, logits * (2 * x[1] * products + 4));
}

}  // namespace

// Its rules take log_sum for the function of x, w and b that it is.
const Op kLinearCrossEntropyGrad{
    .name = "linear_cross_entropy_grad",
    .formula =
        "dx = dz w, dw = dz^T x, db = sum of dz over rows, dz = g "
        "(softmax(z) - target) / N, z = x w^T + b computed again",
    .outputs = 3,
    .infer = infer_linear_cross_entropy_grad,
    .kernel = &kernels::linear_cross_entropy_grad_kernels,
    .vjp = vjp_linear_cross_entropy_grad,
    .jvp = jvp_linear_cross_entropy_grad,
    .facts = {.vjp_reads = {{{.inputs = 0b111110},
                             {.inputs = 0b111111},
                             {.inputs = 0b111111},
                             {.inputs = 0b011111}}},
              .rows = rows_of_grads,
              .cost = cost_of_grads}};

std::array<Tensor, 3> linear_cross_entropy_grad(
    const TensorOperand& g, const LinearCrossEntropyKept& of,
    const LinearCrossEntropyAttrs& wanted, const LinearCrossEntropySums& sums) {
  LinearCrossEntropyAttrs attrs = wanted;
  attrs.has_bias = of.bias.defined();
  attrs.adds_dx = sums.dx.defined();
  attrs.adds_dw = sums.dw.defined();
  std::array<Operand, 8> inputs{
      g,         of.x,       of.weight, attrs.has_bias ? of.bias : of.log_sum,
      of.labels, of.log_sum, sums.dx,   sums.dw};
  std::size_t count = kSums;
  if (attrs.adds_dx) {
    inputs[count++] = sums.dx;
  }
  if (attrs.adds_dw) {
    inputs[count++] = sums.dw;
  }
  std::array<Tensor, 3> outputs;
  graph::dispatch(kLinearCrossEntropyGrad, std::span(inputs).first(count),
                  attrs, g.site(), outputs);
  return outputs;
}

}  // namespace neap::ops
