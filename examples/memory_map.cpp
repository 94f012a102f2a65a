// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A model's memory by name: after a forward, and after the backward that gives
// the tape's part back.
#include <array>
#include <cstdio>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;
namespace nn = neap::nn;

constexpr std::array<std::int64_t, 4> kWidths{256, 128, 64, 10};

// One map after the forward and one after the backward, in which the tape
// keeps nothing any more.
bool what_is_there(neap::models::Mlp& model, neap::optim::Adam& adam) {
  const Tensor x = neap::randn({32, 256});
  const Tensor labels = neap::randint(0, 10, {32});
  const nn::Watch watch(model);
  const Tensor loss = cross_entropy(model(x), labels);
  std::printf("after the forward\n%s\n", nn::MemoryMap(model).format().c_str());
  backward(loss);
  adam.step();
  nn::MemoryMap map(model);
  map.add_state_of(adam);
  std::printf("after a step\n%s\n", map.format().c_str());
  return map.caches().empty();
}

// Entries are views: data and gradient of a name.
bool by_name(const nn::Module& model) {
  const nn::MemoryMap map(model);
  const nn::MapEntry& weight = map["fc1.weight"];
  std::printf("%s: %s of %s, its first element %.3f, gradient %.2e\n",
              weight.name.c_str(), neap::format_bytes(weight.bytes).c_str(),
              name_of(weight.category).data(), weight.data().at({0, 0}),
              weight.grad().at({0, 0}));
  try {
    (void)map["fc1.wieght"];
  } catch (const neap::NameError& error) {
    std::printf("%s\n", error.what());
    return true;
  }
  return false;
}

// A layer's share of the tape, and whose bytes they are.
bool by_layer(neap::models::Mlp& model) {
  const nn::Watch watch(model);
  const Tensor y = model(neap::ones({32, 256}));
  for (const nn::LayerCache& cache : nn::MemoryMap(model).layer_caches()) {
    std::printf("%-4s keeps %ld for backward: %s, of which its own %s\n",
                cache.layer.c_str(), static_cast<long>(cache.depth),
                neap::format_bytes(cache.bytes).c_str(),
                neap::format_bytes(cache.own_bytes).c_str());
  }
  return true;
}

// A deep copy has the same names and values in memory of its own.
bool cloned(const neap::models::Mlp& model) {
  const neap::models::Mlp copy = model.clone();
  return copy.parameter_bytes() == model.parameter_bytes() &&
         !copy.parameter("fc1.weight")
              .is_alias_of(model.parameter("fc1.weight"));
}

}  // namespace

int main() {
  bool is_right = false;
  {
    neap::models::Mlp model(kWidths);
    neap::optim::Adam adam(model.parameters());
    is_right = what_is_there(model, adam) && by_name(model) &&
               by_layer(model) && cloned(model);
  }
  const neap::Bytes live = neap::memory::domain().stats().live;
  return is_right && live == 0 ? 0 : 1;
}
