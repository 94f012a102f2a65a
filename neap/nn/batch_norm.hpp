// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// BatchNorm1d, BatchNorm2d: normalised by channel, with the statistics of the
// batch while training, and of all batches so far else.
#pragma once

#include <optional>

#include "neap/nn/layer.hpp"
#include "neap/ops/norm/batch_norm.hpp"

namespace neap::nn {

struct BatchNormConfig {
  double eps = 1e-5;
  /// The fraction by which the running values move towards those of a batch;
  /// nothing: they are the mean over all batches.
  std::optional<double> momentum = 0.1;
  bool affine = true;               // true: it has weight and bias
  bool track_running_stats = true;  // false: the batch's own, always
};

namespace detail {

/// THROWS: as BatchNorm's constructor.
NEAP_API void check_batch_norm(std::int64_t features,
                               const BatchNormConfig& config, DType dtype);
/// (features), counted under `category` from the first byte on.
NEAP_API Tensor channel_values(std::int64_t features, double value, DType dtype,
                               memory::Category category, const CallSite& site);
NEAP_API Tensor batch_counter(const CallSite& site);
NEAP_API void check_rank(const char* layer, const Tensor& x, int least,
                         int most);

}  // namespace detail

/// batch_norm with the parameters "weight" (ones at first) and "bias" (zeros),
/// and the buffers "running_mean" (zeros), "running_var" (ones) and
/// "num_batches_tracked" (i64, 0), which calls in training mode write. The
/// base of the layers below.
template <class Derived>
class BatchNorm : public Cloneable<Derived> {
 public:
  /// THROWS: ValueError unless features >= 1, eps >= 0 and momentum in [0, 1];
  /// DTypeError unless f32 or f64; OutOfMemory.
  explicit BatchNorm(std::int64_t features, const BatchNormConfig& config = {},
                     DType dtype = f32, CallSite site = CallSite::here())
      : config_(config) {
    using memory::Category;
    detail::check_batch_norm(features, config, dtype);
    const auto values = [&](double value, Category category) {
      return detail::channel_values(features, value, dtype, category, site);
    };
    if (config.affine) {
      weight_ = this->register_parameter(
          "weight", values(1.0, Category::kParameters), site);
      bias_ = this->register_parameter(
          "bias", values(0.0, Category::kParameters), site);
    }
    if (config.track_running_stats) {
      running_mean_ = this->register_buffer(
          "running_mean", values(0.0, Category::kBuffers), site);
      running_var_ = this->register_buffer(
          "running_var", values(1.0, Category::kBuffers), site);
      batches_ = this->register_buffer("num_batches_tracked",
                                       detail::batch_counter(site), site);
    }
  }
  BatchNorm(const Derived& other, Cloning& cloning)
      : Cloneable<Derived>(other, cloning),
        config_(static_cast<const BatchNorm&>(other).config_) {
    if (config_.affine) {
      weight_ = this->parameter("weight");
      bias_ = this->parameter("bias");
    }
    if (config_.track_running_stats) {
      running_mean_ = this->buffer("running_mean");
      running_var_ = this->buffer("running_var");
      batches_ = this->buffer("num_batches_tracked");
    }
  }

  /// Undefined where there is none.
  const Tensor& weight() const noexcept { return weight_; }
  const Tensor& bias() const noexcept { return bias_; }
  const Tensor& running_mean() const noexcept { return running_mean_; }
  const Tensor& running_var() const noexcept { return running_var_; }
  const Tensor& num_batches_tracked() const noexcept { return batches_; }

 protected:
  Tensor normalise(const Tensor& x) const {
    const bool trains = this->is_training() || !config_.track_running_stats;
    return batch_norm(x, running_mean_, running_var_, weight_, bias_,
                      {.training = trains,
                       .momentum = config_.momentum,
                       .eps = config_.eps,
                       .num_batches_tracked = batches_});
  }

 private:
  BatchNormConfig config_;
  Tensor weight_;
  Tensor bias_;
  Tensor running_mean_;
  Tensor running_var_;
  Tensor batches_;
};

/// Batch norm of x (n, features) or (n, features, length).
class NEAP_API BatchNorm1d : public BatchNorm<BatchNorm1d> {
 public:
  using BatchNorm::BatchNorm;
  BatchNorm1d(const BatchNorm1d& other, Cloning& cloning)
      : BatchNorm(other, cloning) {}
  /// THROWS: as batch_norm.
  Tensor forward(const Tensor& x) const override {
    detail::check_rank("BatchNorm1d", x, 2, 3);
    return normalise(x);
  }
};

/// Batch norm of x (n, features, height, width).
class NEAP_API BatchNorm2d : public BatchNorm<BatchNorm2d> {
 public:
  using BatchNorm::BatchNorm;
  BatchNorm2d(const BatchNorm2d& other, Cloning& cloning)
      : BatchNorm(other, cloning) {}
  /// THROWS: as batch_norm.
  Tensor forward(const Tensor& x) const override {
    detail::check_rank("BatchNorm2d", x, 4, 4);
    return normalise(x);
  }
};

extern template class Cloneable<BatchNorm1d>;
extern template class Cloneable<BatchNorm2d>;

}  // namespace neap::nn
