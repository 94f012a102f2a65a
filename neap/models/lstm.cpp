// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/lstm.hpp"

#include "neap/ops/shape/views.hpp"

namespace neap::models {

Lstm::Lstm(const LstmOptions& options, CallSite site)
    : lstm_(options.features, options.hidden,
            {.num_layers = options.layers,
             .batch_first = true,
             .dropout = options.dropout},
            options.dtype, site),
      fc_(options.hidden, options.outputs, true, options.dtype, site) {
  name_parts();
}

Lstm::Lstm(const Lstm& other, nn::Cloning& cloning)
    : Cloneable(other, cloning),
      lstm_(other.lstm_, cloning),
      fc_(other.fc_, cloning) {
  name_parts();
}

void Lstm::name_parts() {
  register_module("lstm", lstm_);
  register_module("fc", fc_);
}

Tensor Lstm::forward(const Tensor& x) const {
  return fc_(select(lstm_.run(x).state.h, 0, -1));
}

}  // namespace neap::models

namespace neap::nn {
template class Cloneable<models::Lstm>;
}  // namespace neap::nn
