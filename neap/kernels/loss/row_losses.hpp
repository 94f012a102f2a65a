// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The losses of rows, unrounded, and how they are reduced: in index order, in
// double. For the kernels of cross_entropy.
#pragma once

#include <limits>

#include "neap/kernels/loss/samples.hpp"

namespace neap::kernels {

/// The loss of each row of x (N, C), once its lse is there.
template <class T>
class RowLosses {
 public:
  /// `means`: of the rows, where labels are smoothed; else nullptr.
  RowLosses(const Strided& x, const Strided& lse, const Samples& samples,
            const double* means) noexcept
      : x_(x), lse_(lse), samples_(samples), means_(means) {}

  /// 0 for a sample to be ignored, NaN for an invalid label.
  double operator()(std::int64_t i) const noexcept {
    if (samples_.is_ignored(i)) {
      return 0.0;
    }
    if (!samples_.is_known(i)) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    const auto own = static_cast<double>(
        x_.as<T>()[i * x_.strides[0] + samples_.label(i) * x_.strides[1]]);
    const auto lse = static_cast<double>(element<T>(lse_, i));
    return lse - (means_ == nullptr
                      ? own
                      : samples_.own_share() * own +
                            (1.0 - samples_.own_share()) * means_[i]);
  }

 private:
  const Strided& x_;
  const Strided& lse_;
  const Samples& samples_;
  const double* means_;
};

/// Adds losses up. REQUIRES: they come in index order.
class LossSum {
 public:
  void add(double loss, bool is_ignored) noexcept {
    counted_ += is_ignored ? 0 : 1;
    total_ += loss;
  }
  /// Their sum, or the mean over those that count: 0 where none does.
  double reduced(LossReduction reduction) const noexcept {
    if (reduction != LossReduction::kMean) {
      return total_;
    }
    return counted_ == 0 ? 0.0 : total_ / static_cast<double>(counted_);
  }

 private:
  double total_ = 0.0;
  std::int64_t counted_ = 0;
};

}  // namespace neap::kernels
