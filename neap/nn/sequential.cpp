// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/sequential.hpp"

#include <fmt/core.h>

#include <array>

#include "neap/base/raise.hpp"

namespace neap::nn {

void Sequential::append(std::string_view name, memory::Owned<Layer> layer) {
  std::array<char, 24> digits{};
  if (name.empty()) {
    const auto end =
        fmt::format_to_n(digits.data(), digits.size(), "{}", layers_.size());
    name = {digits.data(), end.size};
  }
  layers_.push_back(std::move(layer));
  try {
    add(name, *layers_.back());
  } catch (...) {
    layers_.pop_back();
    throw;
  }
}

Tensor Sequential::forward(const Tensor& x) {
  Tensor y = x;
  for (const memory::Owned<Layer>& layer : layers_) {
    y = (*layer)(y);
  }
  return y;
}

Layer& Sequential::operator[](std::int64_t position) const {
  if (position < 0 || position >= size()) {
    base::raise<ValueError>("Sequential: position {} of {} layers", position,
                            size());
  }
  return *layers_[static_cast<std::size_t>(position)];
}

}  // namespace neap::nn
