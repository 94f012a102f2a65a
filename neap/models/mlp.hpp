// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A multi-layer perceptron: linear layers fc1, fc2, ... with ReLU between and,
// where asked for, dropout after each ReLU. Images are flattened.
#pragma once

#include <cstdint>
#include <span>

#include "neap/memory/containers.hpp"
#include "neap/nn/linear.hpp"

namespace neap::models {

struct MlpOptions {
  double dropout = 0.0;  // probability, in [0, 1)
  DType dtype = f32;
};

class NEAP_API Mlp final : public nn::Cloneable<Mlp> {
 public:
  /// `widths`: inputs, hidden widths, outputs: {784, 512, 256, 10}.
  /// THROWS: ValueError for fewer than two widths or one below 1; OutOfMemory.
  explicit Mlp(std::span<const std::int64_t> widths,
               const MlpOptions& options = {},
               CallSite site = CallSite::here());
  Mlp(const Mlp& other, nn::Cloning& cloning);
  Mlp(Mlp&& other) noexcept;
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): as nn::Module's
  Mlp& operator=(Mlp&& other);
  Mlp(const Mlp&) = delete;
  Mlp& operator=(const Mlp&) = delete;
  ~Mlp() override = default;

  /// (n, ...) with widths[0] elements a sample -> (n, widths.back()).
  Tensor forward(const Tensor& input) const override;

 private:
  void push(nn::Linear layer);  // within what layers_ reserved

  memory::Vector<nn::Linear> layers_;
  double dropout_;
};

}  // namespace neap::models

namespace neap::nn {
extern template class Cloneable<models::Mlp>;
}  // namespace neap::nn
