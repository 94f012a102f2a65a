// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/lstm.hpp"

namespace neap::models {

Lstm::Lstm(const LstmOptions& options, CallSite site)
    : lstm_(options, site),
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
  add("lstm", lstm_);
  add("fc", fc_);
}

Tensor Lstm::forward(const Tensor& x) {
  return fc_(lstm_.last(x));
}

}  // namespace neap::models
