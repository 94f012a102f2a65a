// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Sequential: layers one after the other. It owns them; each is called with the
// result of the one before, which is freed as soon as nothing needs it.
//
//   nn::Sequential net(nn::Linear(784, 256), nn::ReLU(), nn::Linear(256, 10));
//   nn::Sequential net(nn::named("fc1", nn::Linear(784, 256)), nn::ReLU());
//
// Layers that are given no name are called by their position, "0", "1", ...
// Sequentials in Sequentials may nest to any depth: calling, cloning and
// destroying them takes no more stack than one.
#pragma once

#include <concepts>

#include "neap/nn/layer.hpp"

namespace neap::nn {

/// A layer with a name, for Sequential. LIFETIME: of `name`, until given.
template <std::derived_from<Layer> L>
struct NamedLayer {
  std::string_view name;
  L layer;
};

template <std::derived_from<Layer> L>
NamedLayer<L> named(std::string_view name, L layer) {
  return {name, std::move(layer)};
}

class NEAP_API Sequential : public Cloneable<Sequential> {
 public:
  /// Layers and named layers, all moved in. (One Sequential alone is moved as
  /// a whole; push it to nest it.) THROWS: as push.
  template <class... Layers>
  explicit Sequential(Layers... layers) {
    (push(std::move(layers)), ...);
  }
  Sequential(const Sequential& other, Cloning& cloning);
  Sequential(Sequential&& other) noexcept;
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): as Module's
  Sequential& operator=(Sequential&& other);
  ~Sequential() override;

  /// Strong. THROWS: NameError for a bad or taken name; OutOfMemory.
  template <std::derived_from<Layer> L>
  Sequential& push(std::string_view name, L layer) {
    append(name,
           memory::make_owned<L>(memory::Category::kGraph, std::move(layer)));
    return *this;
  }
  template <std::derived_from<Layer> L>
  Sequential& push(L layer) {
    append({},
           memory::make_owned<L>(memory::Category::kGraph, std::move(layer)));
    return *this;
  }
  template <std::derived_from<Layer> L>
  Sequential& push(NamedLayer<L> layer) {
    return push(layer.name, std::move(layer.layer));
  }

  Tensor forward(const Tensor& x) const override;

  std::int64_t size() const noexcept;
  /// THROWS: ValueError for a bad position.
  Layer& operator[](std::int64_t position) const;

 private:
  struct Frame;
  struct Shell {};  // a copy without its layers
  Sequential(const Sequential& other, Cloning& cloning, Shell /*shell*/)
      : Cloneable(other, cloning) {}
  memory::String name_of(const Layer& layer) const {
    return layer.registry().path_from(registry());
  }
  static Tensor run_nested(Sequential& outermost, const Tensor& x);
  // An empty name stands for the position.
  void append(std::string_view name, memory::Owned<Layer> layer);

  memory::Vector<memory::Owned<Layer>> layers_;
  memory::Owned<Layer> next_dying_;  // a Sequential, and only while both die
};

extern template class Cloneable<Sequential>;

}  // namespace neap::nn
