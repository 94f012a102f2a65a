// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Layer: a module that maps one tensor to one. Calling it (not forward
// directly) counts what it makes under its own path and its caller's line.
#pragma once

#include "neap/nn/module.hpp"

namespace neap::nn {

class NEAP_API Layer : public Module {
 public:
  virtual Tensor forward(const Tensor& x) = 0;

  Tensor operator()(const Tensor& x, CallSite site = CallSite::here()) {
    const ModuleScope scope(*this, site);
    return forward(x);
  }
};

}  // namespace neap::nn
