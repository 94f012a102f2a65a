// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The attributes of activation kernels; see attrs.hpp for what holds of all.
#pragma once

namespace neap::kernels {

/// relu_bits, relu_grad, leaky_relu: what x is multiplied by where it is not
/// positive. Exactly 0 stands for relu, which is 0 there even for infinities.
struct SlopeAttrs {
  double slope = 0.0;
};

/// elu: what it goes to for x of minus infinity, with its sign changed; >= 0.
struct EluAttrs {
  double alpha = 1.0;
};

/// softplus: linear where beta x > threshold; beta > 0.
struct SoftplusAttrs {
  double beta = 1.0;
  double threshold = 20.0;
};

}  // namespace neap::kernels
