// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// RecurrentLayers: the common part of nn::RNN, LSTM and GRU: the weights of
// layers and directions under PyTorch's names, and running a sequence through
// them. For sources of layers only.
#pragma once

#include <cstdint>

#include "neap/base/function_ref.hpp"
#include "neap/memory/containers.hpp"
#include "neap/nn/origin.hpp"
#include "neap/ops/sequence/recurrent.hpp"

namespace neap::nn {

/// PyTorch's names and defaults.
struct RecurrentOptions {
  std::int64_t num_layers = 1;
  bool bias = true;
  bool batch_first = false;  // x and the output are (b, t, ..), not (t, b, ..)
  double dropout = 0.0;      // probability in [0, 1), between layers
  bool bidirectional = false;
};

struct RecurrentSizes {
  std::int64_t input = 1;
  std::int64_t hidden = 1;
  std::int64_t gates = 1;
};

class RecurrentLayers {
 public:
  /// Returns the parameter of this name, new or not.
  using Parameters =
      base::FunctionRef<Tensor(const memory::String& name, const Shape& shape)>;
  /// Runs one layer in one direction over (t, b, ..); `index` counts layers,
  /// and in each the directions.
  using Run =
      base::FunctionRef<Tensor(const Tensor& x, const RecurrentWeights& weights,
                               std::int64_t index, bool is_reverse)>;

  /// THROWS: ValueError for a size below 1, more layers than 2^20, or a dropout
  /// outside [0, 1); DTypeError unless f32 or f64.
  static void check(const char* name, const RecurrentSizes& sizes,
                    const RecurrentOptions& options, DType dtype);

  RecurrentLayers(const RecurrentSizes& sizes, const RecurrentOptions& options,
                  const Parameters& parameters);
  /// The weights stay where the module does.
  RecurrentLayers(RecurrentLayers&& other) noexcept;
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): as Module's
  RecurrentLayers& operator=(RecurrentLayers&& other);
  RecurrentLayers(const RecurrentLayers&) = delete;
  RecurrentLayers& operator=(const RecurrentLayers&) = delete;
  ~RecurrentLayers() = default;

  const RecurrentOptions& options() const noexcept { return options_; }
  const RecurrentSizes& sizes() const noexcept { return sizes_; }
  /// Layers times directions.
  std::int64_t count() const noexcept {
    return options_.num_layers * directions();
  }

  /// The last layer's output. THROWS: ShapeError unless x has rank 3;
  /// UseAfterRelease when moved from.
  Tensor run(const char* name, const Tensor& x, bool is_training,
             const Run& layer) const;
  /// State `index` of (layers, b, h); undefined of nothing. THROWS: ShapeError.
  Tensor state_of(const char* name, const Tensor& states,
                  std::int64_t index) const;

 private:
  std::int64_t directions() const noexcept {
    return options_.bidirectional ? 2 : 1;
  }

  RecurrentSizes sizes_;
  RecurrentOptions options_;
  memory::Vector<RecurrentWeights> weights_;
  Origin origin_;
};

}  // namespace neap::nn
