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

void check_weight(const Tensor& weight, const Tensor& x) {
  check_dtype("cross_entropy: the weight", weight.dtype(), x.dtype());
  if (weight.shape() != Shape{x.shape()[1]}) {
    raise<ShapeError>("{}: logits {} and a weight {}, expected {}", kName,
                      format_shape(x.shape()), format_shape(weight.shape()),
                      format_shape(Shape{x.shape()[1]}));
  }
}

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

}  // namespace

Tensor weighted_cross_entropy(const Tensor& x, const Tensor& labels,
                              const CrossEntropyOptions& options) {
  const Tensor& weight = options.weight;
  check_weight(weight, x);
  const std::int64_t samples = x.shape()[0];
  const double each_class = each_share(x, options);
  const Tensor counts = ne(labels, options.ignore_index);
  const Tensor known = where(counts, labels, 0);
  const Tensor counted = cast(counts, x.dtype());
  const Tensor weights = mul(select_checked(weight, 0, known), counted);
  const Tensor logs = log_softmax(x, 1);
  const Tensor own = gather_checked(logs, 1, reshape(known, {samples, 1}));
  Tensor each = mul(reshape(own, {samples}), weights);
  if (options.label_smoothing != 0.0) {
    const Tensor all = mul(sum(mul(logs, weight), {1}), counted);
    each = add(mul(each, 1.0 - options.label_smoothing), mul(all, each_class));
  }
  each = neg(each);
  return options.reduction == Reduction::kMean
             ? share_of(sum(each), sum(weights))
             : reduced(std::move(each), options.reduction);
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
    check_weight(options.weight, x);
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
