// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Linear: y = x w^T + b, the fully connected layer, and its low-rank adapter.
#pragma once

#include <optional>

#include "neap/nn/layer.hpp"

namespace neap::nn {

/// The options of an adapter (Hu et al., "LoRA", arXiv 2106.09685).
struct LoraOptions {
  std::int64_t rank = 8;
  double alpha = 16.0;   // what it adds is multiplied by alpha / rank
  bool by_root = false;  // true: by alpha / sqrt(rank) (arXiv 2312.03732)
  double dropout = 0.0;  // probability in [0, 1), of what it reads

  double scale() const noexcept;
};

/// A factor of an adapter: x w^T, with the parameter "weight" (out, in).
class NEAP_API LoraFactor final : public Cloneable<LoraFactor> {
 public:
  LoraFactor(const Tensor& weight, CallSite site);
  LoraFactor(const LoraFactor& other, Cloning& cloning);

  Tensor forward(const Tensor& x) const override;

  const Tensor& weight() const noexcept { return weight_; }

 private:
  Tensor weight_;
};

/// Parameters "weight" (out, in) and, unless told otherwise, "bias" (out), both
/// uniform in +-1 / sqrt(in): kaiming_uniform_ with slope sqrt(5), PyTorch's
/// default. Maps (..., in) to (..., out).
class NEAP_API Linear : public Cloneable<Linear> {
 public:
  /// Draws once from the generator for a parameter; a constructor that throws
  /// has drawn nothing. THROWS: ValueError unless both extents are positive;
  /// DTypeError unless f32 or f64; OutOfMemory.
  Linear(std::int64_t in, std::int64_t out, bool has_bias = true,
         DType dtype = f32, CallSite site = CallSite::here());
  /// A layer of weights that are there; nothing is drawn. THROWS: ShapeError
  /// unless `weight` is (out, in) and `bias`, where it is given, (out);
  /// DTypeError unless both are f32 or both f64, or `weight` alone is bf16: it
  /// is frozen then, and the layer computes in f32; OutOfMemory.
  explicit Linear(const Tensor& weight, const Tensor& bias = {},
                  CallSite site = CallSite::here());
  Linear(const Linear& other, Cloning& cloning);

  /// With an adapter, also scale lora_B(lora_A(dropout(x))).
  Tensor forward(const Tensor& x) const override;

  const Tensor& weight() const noexcept { return weight_; }
  /// Undefined where there is none.
  const Tensor& bias() const noexcept { return bias_; }

  /// Adds an adapter: children "lora_A", whose weight (rank, in) is uniform in
  /// +-1 / sqrt(in), and "lora_B", whose weight (out, rank) is 0, so that the
  /// results are as before; f32 beside a weight in bf16. The layer's own
  /// parameters stay as they are; freeze them. Before an optimizer is
  /// constructed. THROWS: ValueError where there is one, or for options that
  /// are none; OutOfMemory.
  void adapt(const LoraOptions& options, CallSite site = CallSite::here());
  bool is_adapted() const noexcept { return adapter_.has_value(); }

 private:
  struct Adapter {
    LoraOptions options;
    LoraFactor a;  // (rank, in)
    LoraFactor b;  // (out, rank)
  };
  void name_adapter();

  std::optional<Adapter> adapter_;
  Tensor weight_;  // (out, in)
  Tensor bias_;    // (out)
};

extern template class Cloneable<LoraFactor>;
extern template class Cloneable<Linear>;

}  // namespace neap::nn
