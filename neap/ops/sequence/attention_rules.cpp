// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sequence/attention_rules.hpp"

#include <limits>

#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/elementwise/dropout.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/elementwise/fill.hpp"
#include "neap/ops/elementwise/where.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/linalg/triangle.hpp"
#include "neap/ops/norm/causal_softmax.hpp"
#include "neap/ops/norm/softmax.hpp"
#include "neap/ops/reduction/extremes.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::ops {

RowUse rows_of_attention(const OpArgs& args, Specs outputs,
                         const RowAxes& axes) {
  std::size_t samples = axes.inputs.size();
  if (args.attrs.as<kernels::AttentionAttrs>().has_mask) {
    const std::size_t mask = --samples;
    const bool is_one = args.inputs[mask].shape[0] == 1;
    if (is_one ? axes.inputs[mask] != RowAxes::kWhole
               : !cuts(args, axes, mask, 0, args.inputs[0].shape[0])) {
      return RowUse::kUnknown;
    }
  }
  for (std::size_t i = 0; i < samples; ++i) {
    if (!cuts(args, axes, i, 0, args.inputs[0].shape[0])) {
      return RowUse::kUnknown;
    }
  }
  std::ranges::fill(axes.outputs.first(outputs.size()), 0);
  return RowUse::kEach;
}
namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

Tensor row_sum(const Tensor& x) {
  return sum(x, {-1}, true);
}

}  // namespace

Tensor times_transposed(const Tensor& x, const Tensor& y) {
  return matmul(x, transpose(y));
}

Tensor transposed_times(const Tensor& x, const Tensor& y) {
  return matmul(transpose(x), y);
}

// --- heads apart -----------------------------------------------------------

Tensor AttentionAt::rows(const Tensor& x) const {
  const Shape& s = x.shape();
  const std::int64_t groups = k_.shape()[1];
  const std::int64_t each = groups == 0 ? 1 : s[2] / groups;
  return permute(reshape(x, {s[0], s[1], groups, each, s[3]}), {0, 2, 3, 1, 4});
}

Tensor AttentionAt::keys(const Tensor& x) const {
  return unsqueeze(permute(x, {0, 2, 1, 3}), 2);
}

Tensor AttentionAt::from_rows(const Tensor& x) const {
  const Shape& s = x.shape();
  return reshape(permute(x, {0, 3, 1, 2, 4}), {s[0], s[3], s[1] * s[2], s[4]});
}

Tensor AttentionAt::from_keys(const Tensor& x) const {
  return permute(sum(x, {2}), {0, 2, 1, 3});
}

Tensor AttentionAt::mask_apart(const Tensor& mask) const {
  const Shape& s = mask.shape();
  return s[1] == 1 ? unsqueeze(mask, 2)
                   : reshape(mask, {s[0], k_.shape()[1], s[1] / k_.shape()[1],
                                    s[2], s[3]});
}

Tensor AttentionAt::from_mask(const Tensor& x) const {
  return reshape(sum_to(x, mask_apart(mask_).shape()), mask_.shape());
}

// --- weights ---------------------------------------------------------------

Tensor AttentionAt::hidden_from_causal(Tensor scores) const {
  const Shape& s = scores.shape();
  const Tensor seen =
      tril(filled({scores.dtype(), {s.back(2), s.back(1)}, scores.space()}, 1.0,
                  CallSite::here()));
  return where(eq(seen, 1.0), std::move(scores), kHidden);
}

Tensor AttentionAt::masked(Tensor scores) const {
  const Tensor mask = mask_apart(mask_);
  return mask.dtype() == boolean ? where(mask, std::move(scores), kHidden)
                                 : add(std::move(scores), mask);
}

const Tensor& AttentionAt::weights() {
  if (weights_.defined()) {
    return weights_;
  }
  Tensor scores = mul(times_transposed(q_, k_), attrs_.scale);
  if (!mask_.defined()) {
    weights_ = attrs_.is_causal ? causal_softmax(scores) : softmax(scores, -1);
    return weights_;
  }
  scores = masked(std::move(scores));
  if (attrs_.is_causal) {
    scores = hidden_from_causal(std::move(scores));
  }
  if (scores.element_count() == 0) {
    weights_ = scores;
    return weights_;
  }
  const Tensor largest = amax(scores.detach(), {-1}, true);
  const Tensor level = where(eq(largest, kHidden), 0.0, largest);
  const Tensor e = exp(sub(std::move(scores), level));
  const Tensor total = row_sum(e);
  weights_ = div(e, where(eq(total, 0.0), 1.0, total));
  return weights_;
}

Tensor AttentionAt::drop(const Tensor& x) const {
  return attrs_.dropout == 0.0
             ? x
             : graph::apply(kDropout, {x},
                            kernels::DropoutAttrs{attrs_.dropout, attrs_.key,
                                                  attrs_.first});
}

// --- derivatives -----------------------------------------------------------

Tensor AttentionAt::score_tangent(const Tensor& tq, const Tensor& tk,
                                  const Tensor& tmask) {
  Tensor t;
  if (tq.defined()) {
    t = times_transposed(rows(tq), k_);
  }
  if (tk.defined()) {
    t = add_defined(std::move(t), times_transposed(q_, keys(tk)));
  }
  if (t.defined()) {
    t = mul(std::move(t), attrs_.scale);
  }
  if (tmask.defined()) {
    t = t.defined() ? add(std::move(t), mask_apart(tmask))
                    : expand(mask_apart(tmask), weights().shape());
  }
  return t;
}

Tensor AttentionAt::derive(const Tensor& t) {
  const Tensor& w = weights();
  return mul(w, sub(t, row_sum(mul(w, t))));
}

}  // namespace neap::ops
