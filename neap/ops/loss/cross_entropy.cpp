// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/loss/cross_entropy.hpp"

#include "neap/kernels/loss/cross_entropy.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/cast.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/elementwise/extremes.hpp"
#include "neap/ops/elementwise/fill.hpp"
#include "neap/ops/elementwise/where.hpp"
#include "neap/ops/indexing/embedding.hpp"
#include "neap/ops/indexing/labels.hpp"
#include "neap/ops/loss/composed_cross_entropy.hpp"
#include "neap/ops/loss/cross_entropy_rules.hpp"
#include "neap/ops/loss/reduction.hpp"
#include "neap/ops/norm/softmax.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::CrossEntropyAttrs;

bool is_reduced(const OpArgs& args) {
  return args.attrs.as<CrossEntropyAttrs>().reduction != Reduction::kNone;
}

void infer_cross_entropy(const OpArgs& args, std::span<Spec> out) {
  const Spec& logits = args.inputs[0];
  check_classification("cross_entropy", logits, args.inputs[1]);
  const Shape samples{logits.shape[0]};
  out[0].dtype = logits.dtype;
  out[0].shape = is_reduced(args) ? Shape() : samples;
  out[1].dtype = logits.dtype;
  out[1].shape = samples;
}

// A reduced loss is one of all rows at once (program/pass_row_losses.cpp cuts
// it up before).
RowUse rows_of_losses(const OpArgs& args, Specs outputs, const RowAxes& axes) {
  return is_reduced(args) ? RowUse::kUnknown
                          : rows_by_sample<0b11, 0b11>(args, outputs, axes);
}

// The cotangent of a sum is that of each of its rows.
RowUse rows_of_loss_grads(const OpArgs& args, Specs outputs,
                          const RowAxes& axes) {
  const auto reduction = args.attrs.as<CrossEntropyAttrs>().reduction;
  const std::int64_t rows = outputs[0].shape[0];
  for (std::size_t i = 1; i < 4; ++i) {
    if (!cuts(args, axes, i, 0, rows)) {
      return RowUse::kUnknown;
    }
  }
  const bool fits =
      reduction == Reduction::kNone
          ? cuts(args, axes, 0, 0, rows)
          : reduction == Reduction::kSum && axes.inputs[0] == RowAxes::kWhole;
  axes.outputs[0] = 0;
  return fits ? RowUse::kEach : RowUse::kUnknown;
}

void jvp_cross_entropy(JvpContext& c) {
  if (!c.tangent(0).defined()) {
    return;
  }
  const auto& attrs = c.attrs<CrossEntropyAttrs>();
  const Tensor one = filled(c.output().spec(), 1.0, CallSite::here());
  const Tensor each =
      mul(cross_entropy_grad(one, c.input(0), c.input(1), c.output(1), attrs),
          c.tangent(0));
  c.set(0, attrs.reduction == Reduction::kNone ? sum(each, {1}) : sum(each));
}

}  // namespace

// The second output is a residual alone, never given to the user: the
// logarithm of each row's sum of e^x, (N). No derivative flows through it; the
// gradient's own rule takes it for the function of the logits that it is.
const Op kCrossEntropy{
    .name = "cross_entropy",
    .formula = "y = mean over rows of (log sum e^x - x[label])",
    .outputs = 2,
    .infer = infer_cross_entropy,
    .kernel = &kernels::cross_entropy_kernels,
    .vjp =
        [](VjpContext& c) {
          if (c.needs(0)) {
            c.set(0, cross_entropy_grad(c.take_cotangent(), c.input(0),
                                        c.input(1), c.output(1).detach(),
                                        c.attrs<CrossEntropyAttrs>()));
          }
        },
    .jvp = jvp_cross_entropy,
    .facts = {.vjp_reads = {{{.inputs = 0b11, .outputs = 0b10}, {}}},
              .rows = rows_of_losses,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              4 * args.inputs[0].shape.element_count());
              }}};

namespace {

// Logits with further axes, taken as rows of classes.
Tensor cross_entropy_at_places(const Operand& logits, const Operand& labels,
                               const CrossEntropyOptions& options) {
  const Shape& shape = logits.tensor().shape();
  const Shape& places = labels.tensor().shape();
  const bool is_soft = is_floating(labels.tensor().dtype());
  Shape order{0};
  Shape expected{shape[0]};
  for (int axis = 2; axis < shape.rank(); ++axis) {
    order.push_back(axis);
    expected.push_back(shape[axis]);
  }
  order.push_back(1);
  if (places != (is_soft ? shape : expected)) {
    raise<ShapeError>("cross_entropy: {} and labels {}, expected {}",
                      format_shape(shape), format_shape(places),
                      format_shape(is_soft ? shape : expected));
  }
  const std::int64_t count = expected.element_count();
  const AtSite here(logits);
  const auto rows_of = [&](const Operand& x) {
    return reshape(permute(x, order), {count, shape[1]});
  };
  const Tensor truth = is_soft ? rows_of(labels) : reshape(labels, {count});
  const Tensor each = cross_entropy(rows_of(logits), truth, options);
  return options.reduction == Reduction::kNone ? reshape(each, expected) : each;
}

}  // namespace
}  // namespace ops

Tensor cross_entropy(const Operand& logits, const Operand& labels,
                     const CrossEntropyOptions& options) {
  const Tensor& x = ops::tensor_of("cross_entropy", logits);
  const Tensor& truth = ops::tensor_of("cross_entropy", labels);
  if (!(options.label_smoothing >= 0.0 && options.label_smoothing <= 1.0)) {
    base::raise<ValueError>(
        "cross_entropy: label_smoothing is {}, expected 0 to 1",
        options.label_smoothing);
  }
  if (x.rank() > 2) {
    return ops::cross_entropy_at_places(logits, labels, options);
  }
  if (is_floating(truth.dtype())) {
    const ops::AtSite here(logits);
    return ops::soft_cross_entropy(x, truth, options);
  }
  ops::check_classification("cross_entropy", x.spec(), truth.spec());
  ops::check_labels("cross_entropy", truth, x.shape()[1], options.ignore_index);
  if (options.weight.is_given()) {
    const ops::AtSite here(logits);
    return ops::weighted_cross_entropy(x, truth, options);
  }
  const ops::CrossEntropyAttrs attrs{.label_smoothing = options.label_smoothing,
                                     .ignore_index = options.ignore_index,
                                     .reduction = options.reduction};
  std::array<Tensor, 2> outputs;
  const std::array<Operand, 2> inputs{logits, labels};
  graph::dispatch(ops::kCrossEntropy, inputs, attrs, logits.site(), outputs);
  return std::move(outputs[0]);
}

namespace ops {
namespace {

void infer_cross_entropy_grad(const OpArgs& args, std::span<Spec> out) {
  const Spec& logits = args.inputs[1];
  check_classification("cross_entropy_grad", logits, args.inputs[2]);
  check_dtype("cross_entropy_grad", args.inputs[0].dtype, logits.dtype);
  check_dtype("cross_entropy_grad", args.inputs[3].dtype, logits.dtype);
  const Shape samples{logits.shape[0]};
  const Shape losses = is_reduced(args) ? Shape() : samples;
  if (args.inputs[0].shape != losses || args.inputs[3].shape != samples) {
    raise<ShapeError>(
        "cross_entropy_grad: g {} and log_sum {}, expected {} and {}",
        format_shape(args.inputs[0].shape), format_shape(args.inputs[3].shape),
        format_shape(losses), format_shape(samples));
  }
  out[0].dtype = logits.dtype;
  out[0].shape = logits.shape;
}

// The weights (N, 1) of the samples in the reduced loss.
Tensor weights(const Tensor& x, const Tensor& labels,
               const CrossEntropyAttrs& attrs) {
  Tensor counts = cast(ne(labels, attrs.ignore_index), x.dtype());
  if (attrs.reduction == Reduction::kMean) {
    counts = div(counts, maximum(sum(counts), 1));
  }
  return reshape(counts, {x.shape()[0], 1});
}

// softmax(x) less the target, in rows times their weights: dx for a g of 1.
Tensor slope(const Tensor& x, const Tensor& labels,
             const CrossEntropyAttrs& attrs) {
  const double each = attrs.label_smoothing / static_cast<double>(x.shape()[1]);
  const Tensor known = where(ne(labels, attrs.ignore_index), labels, 0);
  const Tensor own =
      mul(one_hot(known, x.shape()[1], x.dtype()), 1.0 - attrs.label_smoothing);
  return mul(sub(sub(softmax(x, 1), own), each), weights(x, labels, attrs));
}

// g beside rows: rank 0, or (N) as (N, 1).
Tensor as_rows(const Tensor& g) {
  return g.rank() == 0 ? g : reshape(g, {g.shape()[0], 1});
}

void vjp_cross_entropy_grad(VjpContext& c) {
  const Tensor& u = c.cotangent();
  const auto attrs = c.attrs<CrossEntropyAttrs>();
  if (c.needs(0)) {
    const Tensor each = mul(slope(c.input(1), c.input(2), attrs), u);
    c.set(0, attrs.reduction == Reduction::kNone ? sum(each, {1}) : sum(each));
  }
  if (c.needs(1)) {
    c.set(1, cross_entropy_curvature(c.input(0), c.input(1), c.input(2), u,
                                     attrs));
  }
}

void jvp_cross_entropy_grad(JvpContext& c) {
  const auto& attrs = c.attrs<CrossEntropyAttrs>();
  Tensor d;
  if (c.tangent(0).defined()) {
    d = mul(slope(c.input(1), c.input(2), attrs), as_rows(c.tangent(0)));
  }
  if (c.tangent(1).defined()) {
    d = add_defined(std::move(d),
                    cross_entropy_curvature(c.input(0), c.input(1), c.input(2),
                                            c.tangent(1), attrs));
  }
  c.set(0, std::move(d));
}

}  // namespace

// p * d - p * sum(p * d) in rows times their weights and g, p = softmax(x).
Tensor cross_entropy_curvature(const Tensor& g, const Tensor& x,
                               const Tensor& labels, const Tensor& d,
                               const CrossEntropyAttrs& attrs) {
  return mul(mul(softmax_grad(d, softmax(x, 1), 1), weights(x, labels, attrs)),
             as_rows(g));
}

// Its rules take log_sum for the function of the logits that it is.
const Op kCrossEntropyGrad{
    .name = "cross_entropy_grad",
    .formula = "dx = g (softmax(x) - target) / N",
    .infer = infer_cross_entropy_grad,
    .kernel = &kernels::cross_entropy_grad_kernels,
    .vjp = vjp_cross_entropy_grad,
    .jvp = jvp_cross_entropy_grad,
    .facts = {.vjp_reads = {{{.inputs = 0b0110}, {.inputs = 0b0111}, {}, {}}},
              .donates = 0b0010,
              .rows = rows_of_loss_grads,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              4 * outputs[0].shape.element_count());
              }}};

Tensor cross_entropy_grad(const Operand& g, const Operand& logits,
                          const Operand& labels, const Operand& log_sum,
                          const CrossEntropyAttrs& attrs) {
  return graph::apply(kCrossEntropyGrad, {g, logits, labels, log_sum}, attrs);
}

}  // namespace ops

}  // namespace neap
