// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// batch_norm and group_norm as plain loops, for their tables.
#pragma once

#include <cmath>
#include <vector>

#include "neap/ops/norm/channel_norm_rules.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {

inline constexpr double kNormEps = 1e-3;

/// x of (n, c, ...), seen element by element.
class Cells {
 public:
  /// `groups` of 0: over the batch; -1: one a channel.
  Cells(const HostArray& x, std::int64_t groups)
      : x_(x.values),
        channels_(x.shape[1]),
        groups_(groups == -1 ? channels_ : groups) {
    for (int axis = 2; axis < x.shape.rank(); ++axis) {
      length_ *= x.shape[axis];
    }
    const std::int64_t cells = groups_ == 0 ? channels_ : x.shape[0] * groups_;
    mean_.resize(static_cast<std::size_t>(cells));
    var_.resize(static_cast<std::size_t>(cells));
    if (cells == 0 || x_.empty()) {
      return;
    }
    count_ = static_cast<double>(x_.size()) / static_cast<double>(cells);
    for (std::size_t i = 0; i < x_.size(); ++i) {
      mean_[cell(i)] += x_[i] / count_;
    }
    for (std::size_t i = 0; i < x_.size(); ++i) {
      const double from = x_[i] - mean_[cell(i)];
      var_[cell(i)] += from * from / count_;
    }
  }

  std::size_t channel(std::size_t i) const {
    return static_cast<std::size_t>(static_cast<std::int64_t>(i) / length_ %
                                    channels_);
  }
  std::size_t cell(std::size_t i) const {
    const std::int64_t n = static_cast<std::int64_t>(i) / length_ / channels_;
    const auto c = static_cast<std::int64_t>(channel(i));
    return static_cast<std::size_t>(
        groups_ == 0 ? c : n * groups_ + c * groups_ / channels_);
  }
  double scale(std::size_t i, double eps) const {
    return 1.0 / std::sqrt(var_[cell(i)] + eps);
  }
  double xhat(std::size_t i, double eps) const {
    return (x_[i] - mean_[cell(i)]) * scale(i, eps);
  }
  double count() const { return count_; }
  std::size_t cells() const { return mean_.size(); }

 private:
  std::vector<double> x_;
  std::int64_t channels_;
  std::int64_t groups_;
  std::int64_t length_ = 1;
  double count_ = 1.0;
  std::vector<double> mean_;
  std::vector<double> var_;
};

/// The reference for inputs x, and perhaps w and b.
inline Reference channel_normed(std::int64_t groups, double eps = 1e-5) {
  return [groups, eps](std::span<const HostArray> x) {
    const Cells cells(x[0], groups);
    std::vector<double> y(x[0].values.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t c = cells.channel(i);
      y[i] = cells.xhat(i, eps) * (x.size() > 1 ? x[1].values[c] : 1.0) +
             (x.size() > 2 ? x[2].values[c] : 0.0);
    }
    return y;
  };
}

/// The reference for inputs dy, x and perhaps w: dx, dw or db.
inline Reference channel_norm_grads(std::int64_t groups, std::size_t which) {
  return [groups, which](std::span<const HostArray> in) {
    const std::vector<double>& dy = in[0].values;
    const Cells cells(in[1], groups);
    const auto g = [&](std::size_t i) {
      return dy[i] * (in.size() > 2 ? in[2].values[cells.channel(i)] : 1.0);
    };
    std::vector<double> mean(cells.cells());
    std::vector<double> along(cells.cells());
    const auto channels = static_cast<std::size_t>(in[1].shape[1]);
    std::vector<double> dw(channels);
    std::vector<double> db(channels);
    for (std::size_t i = 0; i < dy.size(); ++i) {
      const double xhat = cells.xhat(i, kNormEps);
      mean[cells.cell(i)] += g(i) / cells.count();
      along[cells.cell(i)] += g(i) * xhat / cells.count();
      dw[cells.channel(i)] += dy[i] * xhat;
      db[cells.channel(i)] += dy[i];
    }
    std::vector<double> dx(dy.size());
    for (std::size_t i = 0; i < dx.size(); ++i) {
      dx[i] = cells.scale(i, kNormEps) *
              (g(i) - mean[cells.cell(i)] -
               cells.xhat(i, kNormEps) * along[cells.cell(i)]);
    }
    return which == 0 ? dx : which == 1 ? dw : db;
  };
}

/// The derivative op, of dy, x and perhaps w.
inline OpFunction channel_norm_rule(std::int64_t groups, std::size_t which) {
  return [groups, which](Inputs x) {
    const kernels::ChannelNormGradAttrs wanted{.eps = kNormEps,
                                               .groups = groups,
                                               .dx = which == 0,
                                               .dw = which == 1,
                                               .db = which == 2};
    const Tensor stats =
        ops::channel_norm_of(x[1], {}, {}, kNormEps, groups)[1].detach();
    return ops::channel_norm_grad(
        x[0], x[1], stats, x.size() > 2 ? x[2] : Tensor(), wanted)[which];
  };
}

inline OpTable channel_norm_grad_table(std::string name, const graph::Op& op,
                                       std::int64_t groups) {
  const auto row = [&](std::string what, std::size_t which,
                       std::vector<InputSpec> inputs) {
    return OpRow{.name = std::move(what),
                 .fn = channel_norm_rule(groups, which),
                 .inputs = std::move(inputs),
                 .reference = channel_norm_grads(groups, which)};
  };
  OpTable table{.name = std::move(name), .op = &op};
  table.rows = {
      row("dx, weight", 0,
          {uniform({3, 4, 5}, -1, 1), uniform({3, 4, 5}, -2, 2),
           uniform({4}, 0, 2)}),
      row("dx", 0, {uniform({4, 2, 3}, -1, 1), uniform({4, 2, 3}, -2, 2)}),
      row("dw", 1, {uniform({4, 2, 3}, -1, 1), uniform({4, 2, 3}, -2, 2)}),
      row("db", 2,
          {uniform({4, 2, 3}, -1, 1), uniform({4, 2, 3}, -2, 2).constant()})};
  table.rows[0].zero_size = {{{0, 4, 5}, {0, 4, 5}, {4}},
                             {{2, 4, 0}, {2, 4, 0}, {4}}};
  table.rows[2].zero_size = {{{0, 4, 5}, {0, 4, 5}}};
  table.errors = {
      {.name = "statistics",
       .fn =
           [groups](Inputs x) {
             return ops::channel_norm_grad(x[0], x[1], x[2], {},
                                           {.groups = groups, .dx = true})[0];
           },
       .inputs = {uniform({2, 4, 3}, 0, 1), uniform({2, 4, 3}, 0, 1),
                  uniform({2, 3}, 0, 1).as(f64)},
       .error = typeid(ShapeError)}};
  return table;
}

}  // namespace neap::testing
