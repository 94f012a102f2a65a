// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The labelled samples of a classification, as cross_entropy sees them.
#pragma once

#include <limits>

#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/loss/loss_attrs.hpp"

namespace neap::kernels {

class Samples {
 public:
  /// labels (N) i64, of `classes` classes.
  Samples(const Strided& labels, std::int64_t classes,
          const CrossEntropyAttrs& attrs) noexcept
      : labels_(labels), classes_(classes), attrs_(attrs) {}

  std::int64_t size() const noexcept { return labels_.shape[0]; }
  std::int64_t label(std::int64_t i) const noexcept {
    return labels_.as<std::int64_t>()[i * labels_.strides[0]];
  }
  bool is_ignored(std::int64_t i) const noexcept {
    return label(i) == attrs_.ignore_index;
  }
  bool is_known(std::int64_t i) const noexcept {
    return label(i) >= 0 && label(i) < classes_;
  }
  /// How many are not ignored.
  std::int64_t counted() const noexcept {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < size(); ++i) {
      count += is_ignored(i) ? 0 : 1;
    }
    return count;
  }

  /// Weight of the label's own class, and of every class besides.
  double own_share() const noexcept { return 1.0 - attrs_.label_smoothing; }
  double each_share() const noexcept {
    return attrs_.label_smoothing / static_cast<double>(classes_);
  }
  LossReduction reduction() const noexcept { return attrs_.reduction; }

 private:
  const Strided& labels_;
  std::int64_t classes_;
  const CrossEntropyAttrs& attrs_;
};

/// Factor of the derivative of sample i's loss, for a cotangent `g` of the
/// reduced loss. NaN for an invalid label.
template <class T>
class SampleFactors {
 public:
  SampleFactors(const Samples& samples, const Strided& g) noexcept
      : samples_(samples), g_(g) {
    if (samples.reduction() == LossReduction::kMean) {
      common_ = *g.as<T>() / static_cast<T>(samples.counted());
    } else if (samples.reduction() == LossReduction::kSum) {
      common_ = *g.as<T>();
    }
  }
  T operator()(std::int64_t i) const noexcept {
    if (samples_.is_ignored(i)) {
      return T(0);
    }
    if (!samples_.is_known(i)) {
      return std::numeric_limits<T>::quiet_NaN();
    }
    return samples_.reduction() == LossReduction::kNone
               ? g_.as<T>()[i * g_.strides[0]]
               : common_;
  }

 private:
  const Samples& samples_;
  const Strided& g_;
  T common_{};
};

}  // namespace neap::kernels
