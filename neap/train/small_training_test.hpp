// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// For the tests of this room: a data set that is learnt in a moment, and a
// network with everything that a step may change.
#pragma once

#include <array>
#include <cstring>

#include "neap/data/loader.hpp"
#include "neap/nn/layers.hpp"
#include "neap/nn/linear.hpp"
#include "neap/tensor/create.hpp"

namespace neap::train {

// Sample i is a point on a line; its label is the side of zero it is on.
struct Sides {
  std::int64_t size() const { return 20; }
  data::SampleSpec spec() const { return {{2}, f32, {}, i64}; }
  void load(std::int64_t index, std::span<std::byte> input,
            std::span<std::byte> target) const noexcept {
    const float at = static_cast<float>(index) / 10.0F - 0.95F;
    const std::array<float, 2> x = {at, 0.5F};
    const std::int64_t label = at > 0.0F ? 1 : 0;
    std::memcpy(input.data(), x.data(), sizeof(x));
    std::memcpy(target.data(), &label, sizeof(label));
  }
};

struct Net : nn::Layer {
  nn::Linear hidden{2, 8};
  nn::Dropout dropout{0.25};
  nn::Linear out{8, 2};
  Tensor scale;

  Net() {
    register_module("hidden", hidden);
    register_module("dropout", dropout);
    register_module("out", out);
    scale = register_buffer("scale", ones({1}));
  }
  Tensor forward(const Tensor& x) const override {
    return out(dropout(hidden(x)));
  }
};

}  // namespace neap::train
