// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Initialisers: fill a tensor in place, outside every graph, from one draw of
// the current generator (element i of the draw is element i in row-major
// order). All are strong: what can fail is checked before the first write, and
// a failure draws nothing. Each returns a handle to the same tensor.
// THROW: DTypeError unless floating, DeviceError outside host memory,
// GraphError for the result of a recorded op.
#pragma once

#include "neap/tensor/tensor.hpp"

namespace neap::nn {

NEAP_API Tensor constant_(Tensor tensor, double value,
                          CallSite site = CallSite::here());
/// Draws from [low, high). THROWS: ValueError unless low <= high, both finite.
NEAP_API Tensor uniform_(Tensor tensor, double low = 0.0, double high = 1.0,
                         CallSite site = CallSite::here());
/// THROWS: ValueError unless both are finite and stddev >= 0.
NEAP_API Tensor normal_(Tensor tensor, double mean = 0.0, double stddev = 1.0,
                        CallSite site = CallSite::here());

/// Inputs and outputs of one unit: for a weight (out, in, ...), `in` and `out`
/// times the elements of the further axes.
struct Fans {
  std::int64_t in = 0;
  std::int64_t out = 0;
};
/// THROWS: ShapeError below rank 2, or when a fan is zero.
NEAP_API Fans fans_of(const Shape& weight);

/// Variance gain^2 2 / (fan in + fan out): Glorot and Bengio, "Understanding
/// the difficulty of training deep feedforward neural networks" (2010).
/// THROW also: ShapeError as fans_of.
NEAP_API Tensor xavier_uniform_(Tensor weight, double gain = 1.0,
                                CallSite site = CallSite::here());
NEAP_API Tensor xavier_normal_(Tensor weight, double gain = 1.0,
                               CallSite site = CallSite::here());

struct KaimingOptions {
  enum class Fan { kIn, kOut };
  double negative_slope = 0.0;  // slope of the leaky relu that follows; 0: relu
  Fan fan = Fan::kIn;
};

/// Variance 2 / ((1 + slope^2) fan): He et al., "Delving deep into rectifiers"
/// (2015). THROW also: ShapeError as fans_of.
NEAP_API Tensor kaiming_uniform_(Tensor weight,
                                 const KaimingOptions& options = {},
                                 CallSite site = CallSite::here());
NEAP_API Tensor kaiming_normal_(Tensor weight,
                                const KaimingOptions& options = {},
                                CallSite site = CallSite::here());

}  // namespace neap::nn
