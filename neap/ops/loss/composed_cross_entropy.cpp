// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/loss/composed_cross_entropy.hpp"

#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/cast.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/elementwise/where.hpp"
#include "neap/ops/indexing/gather.hpp"
#include "neap/ops/indexing/index.hpp"
#include "neap/ops/loss/reduced.hpp"
#include "neap/ops/norm/softmax.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {
namespace {

constexpr const char* kName = "cross_entropy";

// The part of a smoothed target that each class has.
double each_share(const Tensor& x, const CrossEntropyOptions& options) {
  return options.label_smoothing / static_cast<double>(x.shape()[1]);
}

// total / whole, 0 where the whole is: smoothing gives a total where no label
// has a weight.
Tensor share_of(const Tensor& total, const Tensor& whole) {
  const Tensor is_none = eq(whole, 0);
  return div(where(is_none, 0, total), where(is_none, 1, whole));
}

// The weights (N) of labels; 0 of those to be ignored.
struct Weights {
  Weights(const Tensor& labels, const CrossEntropyOptions& options)
      : known(where(ne(labels, options.ignore_index), labels, 0)),
        counted(cast(ne(labels, options.ignore_index), options.weight.dtype())),
        each(mul(select_checked(options.weight, 0, known), counted)) {}

  Tensor known;    // labels, 0 for those to be ignored
  Tensor counted;  // 1, or 0 for those to be ignored
  Tensor each;
};

Tensor reduced_by(const Tensor& weights, Tensor each,
                  const CrossEntropyOptions& options) {
  return options.reduction == Reduction::kMean
             ? share_of(sum(each), sum(weights))
             : reduced(std::move(each), options.reduction);
}

// With smoothing every class of a row has a weight.
Tensor smoothed_cross_entropy(const Tensor& x, const Tensor& labels,
                              const CrossEntropyOptions& options) {
  const std::int64_t samples = x.shape()[0];
  const double each_class = each_share(x, options);
  const Weights weights(labels, options);
  const Tensor logs = log_softmax(x, 1);
  const Tensor own =
      gather_checked(logs, 1, reshape(weights.known, {samples, 1}));
  const Tensor all = mul(sum(mul(logs, options.weight), {1}), weights.counted);
  const Tensor each = add(mul(mul(reshape(own, {samples}), weights.each),
                              1.0 - options.label_smoothing),
                          mul(all, each_class));
  return reduced_by(weights.each, neg(each), options);
}

}  // namespace

void check_weight(const char* name, const Tensor& weight, DType dtype,
                  std::int64_t classes) {
  if (weight.dtype() != dtype) {
    raise<DTypeError>("{}: the weight is {}, expected {}", name,
                      name_of(weight.dtype()), name_of(dtype));
  }
  if (weight.shape() != Shape{classes}) {
    raise<ShapeError>("{}: {} classes and a weight {}, expected {}", name,
                      classes, format_shape(weight.shape()),
                      format_shape(Shape{classes}));
  }
}

Tensor weighted_losses(const Tensor& each, const Tensor& labels,
                       const CrossEntropyOptions& options) {
  const Weights weights(labels, options);
  return reduced_by(weights.each, mul(each, weights.each), options);
}

// A smoothed loss is -(1 - s) w[y] log p[y] - s / C sum over c of w[c] log
// p[c], and log p[c] = log p[y] - (z[y] - z[c]).
Tensor smoothed_losses(const Tensor& each, const Tensor& apart,
                       const Tensor& labels,
                       const CrossEntropyOptions& options) {
  const Weights weights(labels, options);
  const double s = options.label_smoothing;
  const auto classes = static_cast<double>(options.weight.shape()[0]);
  const Tensor factor =
      add(mul(weights.each, 1.0 - s), mul(sum(options.weight), s / classes));
  return reduced_by(weights.each,
                    mul(add(mul(each, factor), apart), weights.counted),
                    options);
}

Tensor weighted_cross_entropy(const Tensor& x, const Tensor& labels,
                              const CrossEntropyOptions& options) {
  check_weight(kName, options.weight, x.dtype(), x.shape()[1]);
  if (options.label_smoothing != 0.0) {
    return smoothed_cross_entropy(x, labels, options);
  }
  const Tensor each = cross_entropy(
      x, labels,
      {.reduction = Reduction::kNone, .ignore_index = options.ignore_index});
  return weighted_losses(each, labels, options);
}

Tensor soft_cross_entropy(const Tensor& x, const Tensor& t,
                          const CrossEntropyOptions& options) {
  check_computes(kName, x.dtype());
  check_dtype("cross_entropy: the probabilities", t.dtype(), x.dtype());
  if (x.rank() != 2 || t.shape() != x.shape()) {
    raise<ShapeError>("{}: {} and probabilities {}, expected (N, C) for both",
                      kName, format_shape(x.shape()), format_shape(t.shape()));
  }
  const auto samples = static_cast<double>(
      std::max<std::int64_t>(x.shape()[0], 1));  // 0 of none
  const double each_class = each_share(x, options);
  if (options.weight.is_given()) {
    check_weight(kName, options.weight, x.dtype(), x.shape()[1]);
  }
  Tensor target = t;
  if (options.label_smoothing != 0.0) {
    target = add(mul(target, 1.0 - options.label_smoothing), each_class);
  }
  if (options.weight.is_given()) {
    target = mul(target, options.weight);
  }
  const Tensor each = neg(sum(mul(log_softmax(x, 1), target), {1}));
  return options.reduction == Reduction::kMean
             ? div(sum(each), samples)
             : reduced(each, options.reduction);
}

}  // namespace neap::ops
