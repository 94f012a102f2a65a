// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Embedding: a row of a table for each id.
#pragma once

#include <optional>

#include "neap/nn/layer.hpp"

namespace neap::nn {

/// Parameter "weight" (rows, width), normal with mean 0 and variance 1, as
/// PyTorch's. Maps ids (...), i32 or i64, to (..., width). Row `padding`
/// (negative: from the end) begins as zeros and has no gradient.
class NEAP_API Embedding : public Cloneable<Embedding> {
 public:
  /// Draws once from the generator; a constructor that throws, not at all.
  /// THROWS: ValueError unless both extents are positive and the padding is a
  /// row; DTypeError unless f32 or f64; OutOfMemory.
  Embedding(std::int64_t rows, std::int64_t width,
            std::optional<std::int64_t> padding = std::nullopt,
            DType dtype = f32, CallSite site = CallSite::here());
  /// The layer of a table that is there; nothing is drawn. A table in bf16 is
  /// frozen, and its rows are given in f32. THROWS: ShapeError unless its rank
  /// is 2; DTypeError unless f32, f64 or bf16; OutOfMemory.
  explicit Embedding(const Tensor& weight, CallSite site = CallSite::here());
  Embedding(const Embedding& other, Cloning& cloning);

  Tensor forward(const Tensor& ids) const override;

  const Tensor& weight() const noexcept { return weight_; }
  /// Counted from the start.
  std::optional<std::int64_t> padding() const noexcept { return padding_; }

 private:
  Tensor weight_;  // (rows, width)
  std::optional<std::int64_t> padding_;
};

extern template class Cloneable<Embedding>;

}  // namespace neap::nn
