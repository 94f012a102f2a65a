// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// linear_cross_entropy and its gradients in double precision, as plainly as
// possible. For the tests of both.
#pragma once

#include <cmath>
#include <vector>

#include "neap/ops/loss/cross_entropy.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {

class PlainLinearCrossEntropy {
 public:
  /// x (N, D) in any shape, w (V, D), labels (N), bias (V) or nullptr. Labels
  /// of -100 are to be ignored. `weights` (V) of classes, or nullptr.
  PlainLinearCrossEntropy(const HostArray& x, const HostArray& w,
                          const HostArray& labels, const HostArray* bias,
                          const CrossEntropyOptions& options,
                          const HostArray* weights = nullptr)
      : x_(x),
        w_(w),
        labels_(labels),
        options_(options),
        weights_(weights),
        rows_(labels.values.size()),
        width_(static_cast<std::size_t>(w.shape[1])),
        classes_(static_cast<std::size_t>(w.shape[0])) {
    for (std::size_t n = 0; n < rows_; ++n) {
      for (std::size_t c = 0; c < classes_; ++c) {
        double z = bias != nullptr ? bias->values[c] : 0.0;
        for (std::size_t d = 0; d < width_; ++d) {
          z += x.values[n * width_ + d] * w.values[c * width_ + d];
        }
        z_.push_back(z);
      }
    }
  }

  /// One number, or one a row.
  std::vector<double> losses() const {
    std::vector<double> each;
    double total = 0.0;
    for (std::size_t n = 0; n < rows_; ++n) {
      double loss = 0.0;
      for (std::size_t c = 0; c < classes_ && counts(n); ++c) {
        loss += target(n, c) * (log_sum(n) - z_[n * classes_ + c]);
      }
      each.push_back(loss);
      total += loss;
    }
    return options_.reduction == Reduction::kNone
               ? each
               : std::vector<double>{total / divisor()};
  }

  struct Gradients {
    std::vector<double> dx;
    std::vector<double> dw;
    std::vector<double> db;
  };
  /// For cotangents of the losses, one or one a row.
  Gradients gradients(const std::vector<double>& g) const {
    Gradients out{std::vector<double>(rows_ * width_),
                  std::vector<double>(classes_ * width_),
                  std::vector<double>(classes_)};
    for (std::size_t n = 0; n < rows_; ++n) {
      for (std::size_t c = 0; c < classes_ && counts(n); ++c) {
        const double p = std::exp(z_[n * classes_ + c] - log_sum(n));
        const double dz = (p - target(n, c)) *
                          g[options_.reduction == Reduction::kNone ? n : 0] /
                          divisor();
        out.db[c] += dz;
        for (std::size_t d = 0; d < width_; ++d) {
          out.dx[n * width_ + d] += dz * w_.values[c * width_ + d];
          out.dw[c * width_ + d] += dz * x_.values[n * width_ + d];
        }
      }
    }
    return out;
  }

 private:
  bool counts(std::size_t n) const { return labels_.values[n] != -100.0; }

  double divisor() const {
    double counted = 0.0;
    for (std::size_t n = 0; n < rows_; ++n) {
      counted += counts(n) ? weight(labels_.values[n]) : 0.0;
    }
    const bool is_mean = options_.reduction == Reduction::kMean;
    return is_mean && counted != 0.0 ? counted : 1.0;
  }

  double log_sum(std::size_t n) const {
    double sum = 0.0;
    for (std::size_t c = 0; c < classes_; ++c) {
      sum += std::exp(z_[n * classes_ + c]);
    }
    return std::log(sum);
  }

  double target(std::size_t n, std::size_t c) const {
    const bool is_label = static_cast<double>(c) == labels_.values[n];
    return weight(static_cast<double>(c)) *
           ((is_label ? 1.0 - options_.label_smoothing : 0.0) +
            options_.label_smoothing / static_cast<double>(classes_));
  }

  double weight(double c) const {
    return weights_ == nullptr ? 1.0
                               : weights_->values[static_cast<std::size_t>(c)];
  }

  const HostArray& x_;
  const HostArray& w_;
  const HostArray& labels_;
  CrossEntropyOptions options_;
  const HostArray* weights_;
  std::size_t rows_;
  std::size_t width_;
  std::size_t classes_;
  std::vector<double> z_;
};

}  // namespace neap::testing
