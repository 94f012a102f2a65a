// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/layer.hpp"

#include "neap/base/raise.hpp"

namespace neap::nn {

memory::Owned<Layer> Layer::copy_layer(Cloning& /*cloning*/) const {
  base::raise<ValueError>(
      "clone: a layer of the model, \"{}\", is not nn::Cloneable",
      registry().domain().path_of(registry().owner()));
}

memory::Owned<Layer> clone_layer(const Layer& layer, CallSite site) {
  Cloning cloning(layer, typeid(layer), site);
  memory::Owned<Layer> copy = layer.copy_layer(cloning);
  cloning.finish(*copy);
  return copy;
}

}  // namespace neap::nn
