// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// strong_wolfe: a step length along a direction that meets the strong Wolfe
// conditions (Nocedal and Wright, "Numerical Optimization", 2006,
// algorithms 3.5 and 3.6), by cubic interpolation, with the formulas of
// torch.optim.LBFGS, so that the steps are the same. Used in this room alone.
#pragma once

#include "neap/base/function_ref.hpp"

namespace neap::optim {

/// A point on the line.
struct Trial {
  double t = 0.0;      // its step length
  double loss = 0.0;   // infinite where it is not a number
  double slope = 0.0;  // the directional derivative
  int gradient = 0;    // number of the buffer that has its gradient
};

/// Buffers for gradients that a search needs, that of its start included.
inline constexpr int kTrialBuffers = 4;

struct LineSearch {
  Trial start;             // t = 0, with a slope below 0
  double first = 1.0;      // the step length to begin with
  double direction = 0.0;  // largest element of the direction
  double least = 1e-9;     // change of a parameter at which it ends
  int most = 25;           // evaluations after the first
  base::FunctionRef<Trial(double t, int gradient)> evaluate;
};

struct Found {
  Trial at;  // at the start where nothing is lower
  int evaluations = 0;
};

/// THROWS: as `evaluate`.
Found strong_wolfe(const LineSearch& search);

}  // namespace neap::optim
