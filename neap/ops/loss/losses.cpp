// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/loss/losses.hpp"

#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/elementwise/extremes.hpp"
#include "neap/ops/elementwise/where.hpp"
#include "neap/ops/indexing/gather.hpp"
#include "neap/ops/indexing/labels.hpp"
#include "neap/ops/loss/reduced.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace {

// With c the difference cut to [-delta, delta]: c (d - c / 2).
Tensor huber(const Operand& prediction, const Operand& target, double delta) {
  const Tensor d = sub(prediction, target);
  const Tensor c = clip(d, -delta, delta);
  return mul(c, sub(d, mul(c, 0.5)));
}

}  // namespace

Tensor nll_loss(const Operand& log_probabilities, const Operand& labels,
                Reduction reduction) {
  const ops::AtSite here(log_probabilities);
  const Tensor& x = ops::tensor_of("nll_loss", log_probabilities);
  const Tensor& truth = ops::tensor_of("nll_loss", labels);
  ops::check_classification("nll_loss", x.spec(), truth.spec());
  ops::check_labels("nll_loss", truth, x.shape()[1]);
  const std::int64_t samples = x.shape()[0];
  const Tensor picked = ops::gather_checked(x, 1, reshape(truth, {samples, 1}));
  Tensor losses = neg(reshape(picked, {samples}));
  if (reduction == Reduction::kMean) {
    const auto count = std::max<std::int64_t>(samples, 1);
    return div(sum(std::move(losses)), static_cast<double>(count));
  }
  return ops::reduced(std::move(losses), reduction);
}

Tensor mse_loss(const Operand& prediction, const Operand& target,
                Reduction reduction) {
  const ops::AtSite here(prediction);
  return ops::reduced(square(sub(prediction, target)), reduction);
}

Tensor l1_loss(const Operand& prediction, const Operand& target,
               Reduction reduction) {
  const ops::AtSite here(prediction);
  return ops::reduced(abs(sub(prediction, target)), reduction);
}

Tensor huber_loss(const Operand& prediction, const Operand& target,
                  Reduction reduction, double delta) {
  const ops::AtSite here(prediction);
  if (!(delta > 0.0)) {
    base::raise<ValueError>("huber_loss: delta is {}, expected delta > 0",
                            delta);
  }
  return ops::reduced(huber(prediction, target, delta), reduction);
}

Tensor smooth_l1_loss(const Operand& prediction, const Operand& target,
                      Reduction reduction, double beta) {
  const ops::AtSite here(prediction);
  if (!(beta >= 0.0)) {
    base::raise<ValueError>("smooth_l1_loss: beta is {}, expected beta >= 0",
                            beta);
  }
  if (beta == 0.0) {
    return l1_loss(prediction, target, reduction);
  }
  return ops::reduced(div(huber(prediction, target, beta), beta), reduction);
}

Tensor kl_div(const Operand& log_probabilities, const Operand& target,
              Reduction reduction, bool log_target) {
  const ops::AtSite here(log_probabilities);
  const Tensor& x = ops::tensor_of("kl_div", log_probabilities);
  const Tensor& t = ops::tensor_of("kl_div", target);
  if (log_target) {
    return ops::reduced(mul(exp(t), sub(t, x)), reduction);
  }
  const Tensor is_positive = gt(t, 0);
  const Tensor log_t = log(where(is_positive, t, 1));
  return ops::reduced(where(is_positive, mul(t, sub(log_t, x)), 0), reduction);
}

}  // namespace neap
