// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Layer: a module that maps one tensor to one. Calling it (not forward
// directly) counts its allocations under its own path and its caller's line.
#pragma once

#include "neap/nn/cloning.hpp"

namespace neap::nn {

class NEAP_API Layer : public Module {
 public:
  virtual Tensor forward(const Tensor& x) const = 0;

  Tensor operator()(const Tensor& x, CallSite site = CallSite::here()) const {
    const ModuleScope scope(*this, site);
    Tensor y = forward(x);
    scope.note(y, x);
    return y;
  }

  /// A copy of this layer for a copy of the model that it is part of. THROWS:
  /// ValueError for a layer that is not Cloneable; OutOfMemory.
  virtual memory::Owned<Layer> copy_layer(Cloning& cloning) const;

 protected:
  Layer() = default;
  Layer(const Layer& other, Cloning& cloning) : Module(other, cloning) {}
};

/// Base of a layer that can be cloned, also within a Sequential: `class Scale :
/// public Cloneable<Scale>`, with a constructor Scale() or, as cloning.hpp
/// says, Scale(const Scale&, Cloning&). The library's own are instantiated in
/// its sources, which spares who includes them the work.
template <class Derived>
class NEAP_API Cloneable : public Layer {
 public:
  Cloneable() = default;
  Cloneable(const Cloneable& other, Cloning& cloning) : Layer(other, cloning) {}

  /// THROWS: OutOfMemory.
  Derived clone(CallSite site = CallSite::here()) const {
    return nn::clone(static_cast<const Derived&>(*this), site);
  }
  memory::Owned<Layer> copy_layer(Cloning& cloning) const override {
    if (typeid(*this) != typeid(Derived)) {
      return Layer::copy_layer(cloning);
    }
    constexpr auto kGraph = memory::Category::kGraph;
    if constexpr (HasCloningConstructor<Derived>) {
      return memory::make_owned<Derived>(
          kGraph, static_cast<const Derived&>(*this), cloning);
    } else {
      const auto make = [] { return memory::make_owned<Derived>(kGraph); };
      auto copy = detail::without_draws(make);
      cloning.fill(*this, *copy);
      return copy;
    }
  }
};

/// A copy by nn::clone, of a layer of any type. THROWS: as copy_layer.
NEAP_API memory::Owned<Layer> clone_layer(const Layer& layer,
                                          CallSite site = CallSite::here());

}  // namespace neap::nn
