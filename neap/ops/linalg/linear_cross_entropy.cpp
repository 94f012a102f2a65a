// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/linear_cross_entropy.hpp"

#include "neap/kernels/linalg/linear_cross_entropy.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/cast.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/elementwise/where.hpp"
#include "neap/ops/indexing/index.hpp"
#include "neap/ops/indexing/labels.hpp"
#include "neap/ops/linalg/linear_cross_entropy_grad.hpp"
#include "neap/ops/linalg/linear_cross_entropy_rules.hpp"
#include "neap/ops/linalg/linear_rules.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/loss/composed_cross_entropy.hpp"
#include "neap/ops/precision.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::LinearCrossEntropyAttrs;

constexpr const char* kName = "linear_cross_entropy";
constexpr const char* kInstead =
    "use cross_entropy(linear(x, w, bias), labels, options), of rows";

void vjp_linear_cross_entropy(VjpContext& c) {
  auto wanted = c.attrs<LinearCrossEntropyAttrs>();
  wanted.dx = c.needs(0);
  wanted.dw = c.needs(1);
  wanted.db = wanted.has_bias && c.needs(3);
  if (!wanted.dx && !wanted.dw && !wanted.db) {
    return;
  }
  const LinearCrossEntropyKept of{
      .x = c.input(0),
      .weight = c.input(1),
      .bias = wanted.has_bias ? c.input(3) : Tensor(),
      .labels = c.input(2),
      .log_sum = c.output(1).detach()};
  LinearCrossEntropySums sums;
  if (wanted.dx) {
    sums.dx = c.take_sum(0);
  }
  if (wanted.dw) {
    sums.dw = c.take_sum(1);
  }
  std::array<Tensor, 3> d =
      linear_cross_entropy_grad(c.take_cotangent(), of, wanted, sums);
  if (wanted.dx) {
    c.set(0, std::move(d[0]));
  }
  if (wanted.dw) {
    c.set(1, std::move(d[1]));
  }
  if (wanted.db) {
    c.set(3, std::move(d[2]));
  }
}

// By whole logits, as cross_entropy and linear do.
void jvp_linear_cross_entropy(JvpContext& c) {
  const auto& attrs = c.attrs<LinearCrossEntropyAttrs>();
  const LogitsMove move{.x = c.tangent(0),
                        .w = c.tangent(1),
                        .bias = attrs.has_bias ? c.tangent(3) : Tensor()};
  if (!move.x.defined() && !move.w.defined() && !move.bias.defined()) {
    return;
  }
  const UsePrecision same(attrs.precision);
  const Tensor& log_sum = c.output(1);
  const Tensor logits =
      logits_of(c.input(0), c.input(1), attrs.has_bias ? c.input(3) : Tensor());
  const Tensor slope =
      cross_entropy_grad(ones_of_losses(log_sum, attrs.loss), logits,
                         c.input(2), log_sum, attrs.loss);
  c.set(0, along_losses(mul(slope, moved_logits(c.input(0), c.input(1), move)),
                        attrs.loss));
}

// A reduced loss is one of all rows at once.
RowUse rows_of_losses(const OpArgs& args, Specs outputs, const RowAxes& axes) {
  return args.attrs.as<LinearCrossEntropyAttrs>().loss.reduction ==
                 Reduction::kNone
             ? rows_by_sample<0b101, 0b11>(args, outputs, axes)
             : RowUse::kUnknown;
}

Cost cost_of_losses(const OpArgs& args, std::span<const Spec> outputs) {
  const Shape& x = args.inputs[0].shape;
  const std::int64_t logits = x[0] * args.inputs[1].shape[0];
  return moving(args, outputs, logits * (2 * x[1] + 4));
}

void check_options(const CrossEntropyOptions& options) {
  if (!(options.label_smoothing >= 0.0 && options.label_smoothing <= 1.0)) {
    raise<ValueError>("{}: label_smoothing is {}, expected 0 to 1", kName,
                      options.label_smoothing);
  }
}

// The extents that x (..., in) and its labels share.
Shape places_of(const Tensor& x, const Tensor& labels) {
  const Shape& shape = x.shape();
  if (is_floating(labels.dtype())) {
    raise<DTypeError>("{}: labels are {}, expected i64; for probabilities {}",
                      kName, name_of(labels.dtype()), kInstead);
  }
  if (shape.rank() < 2) {
    raise<ShapeError>("{}: x {}, expected (..., in) with a row or more", kName,
                      format_shape(shape));
  }
  const Shape places(
      shape.span().first(static_cast<std::size_t>(shape.rank() - 1)));
  if (labels.shape() != places) {
    raise<ShapeError>("{}: labels {} for x {}, expected {}", kName,
                      format_shape(labels.shape()), format_shape(shape),
                      format_shape(places));
  }
  return places;
}

Tensor losses_of_rows(const Operand& x, const Operand& w, const Tensor& bias,
                      const Operand& labels,
                      const CrossEntropyOptions& options) {
  const LinearCrossEntropyAttrs attrs{
      .loss = {.label_smoothing = options.label_smoothing,
               .ignore_index = options.ignore_index,
               .reduction = options.reduction},
      .has_bias = bias.is_given(),
      .precision = current_precision()};
  const std::array<Operand, 4> inputs{x, w, labels, Operand(bias, x.site())};
  std::array<Tensor, 2> outputs;
  graph::dispatch(kLinearCrossEntropy,
                  std::span(inputs).first(attrs.has_bias ? 4 : 3), attrs,
                  x.site(), outputs);
  return std::move(outputs[0]);
}

// The sum over classes c of share[c] (z[label] - z[c]) for each row's logits
// z = x w^T + b, without them: it is linear in x, so the weighted sum of w's
// rows stands for all of them. 0 is the label of rows to be ignored.
Tensor apart_from_labels(const Tensor& x, const Tensor& w, const Tensor& bias,
                         const Tensor& labels, const Tensor& share) {
  const Tensor total = sum(share);
  const Tensor own = cast(select_checked(w, 0, labels), x.dtype());
  const Tensor all =
      matmul(reshape(share, {1, share.shape()[0]}), w);  // (1, in)
  Tensor apart = sum(mul(x, sub(mul(own, total), all)), {1});
  if (!bias.is_given()) {
    return apart;
  }
  return add(apart, sub(mul(select_checked(bias, 0, labels), total),
                        sum(mul(share, bias))));
}

// Without smoothing the bits are those of cross_entropy, which weighs its
// losses in the same way.
Tensor weighted_losses_of_rows(const Operand& x, const Operand& w,
                               const Tensor& bias, const Tensor& labels,
                               const CrossEntropyOptions& options) {
  const AtSite here(x);
  const Tensor& matrix = w.tensor();
  if (matrix.rank() == 2) {  // else the shape rule refuses it
    check_weight(kName, options.weight, x.tensor().dtype(), matrix.shape()[0]);
  }
  const Tensor each = losses_of_rows(
      x, w, bias, labels,
      {.reduction = Reduction::kNone, .ignore_index = options.ignore_index});
  if (options.label_smoothing == 0.0) {
    return weighted_losses(each, labels, options);
  }
  const auto classes = static_cast<double>(matrix.shape()[0]);
  const Tensor known = where(ne(labels, options.ignore_index), labels, 0);
  return smoothed_losses(
      each,
      apart_from_labels(x.tensor(), matrix, bias, known,
                        mul(options.weight, options.label_smoothing / classes)),
      labels, options);
}

}  // namespace

// The second output is a residual alone, never given to the user: the
// logarithm of each row's sum of e^z, (N). No derivative flows through it.
const Op kLinearCrossEntropy{
    .name = kName,
    .formula =
        "y = mean over rows of (log sum e^z - z[label]), z = x w^T + b "
        "of a block of rows at a time",
    .outputs = 2,
    .infer = infer_losses,
    .kernel = &kernels::linear_cross_entropy_kernels,
    .vjp = vjp_linear_cross_entropy,
    .jvp = jvp_linear_cross_entropy,
    .facts = {.vjp_reads = {{{.inputs = 0b1111, .outputs = 0b10},
                             {.inputs = 0b1111, .outputs = 0b10},
                             {},
                             {.inputs = 0b1111, .outputs = 0b10}}},
              .rows = rows_of_losses,
              .cost = cost_of_losses}};

}  // namespace ops

Tensor linear_cross_entropy(const Operand& x, const Operand& w,
                            const Tensor& bias, const Operand& labels,
                            const CrossEntropyOptions& options) {
  const Tensor& features = ops::tensor_of(ops::kName, x);
  const Tensor& matrix = ops::tensor_of(ops::kName, w);
  const Tensor& truth = ops::tensor_of(ops::kName, labels);
  ops::check_options(options);
  ops::check_half_weight(ops::kName, "w", matrix);
  const Shape places = ops::places_of(features, truth);
  if (matrix.rank() == 2) {  // else the shape rule refuses it
    ops::check_labels(ops::kName, truth, matrix.shape()[0],
                      options.ignore_index);
  }
  const auto losses = [&](const Operand& rows, const Operand& of) {
    return options.weight.is_given()
               ? ops::weighted_losses_of_rows(rows, w, bias, of.tensor(),
                                              options)
               : ops::losses_of_rows(rows, w, bias, of, options);
  };
  if (features.rank() == 2) {
    return losses(x, labels);
  }
  const ops::AtSite here(x);
  const Tensor each =
      losses(ops::as_rows(x), reshape(labels, {places.element_count()}));
  return options.reduction == Reduction::kNone ? reshape(each, places) : each;
}

}  // namespace neap
