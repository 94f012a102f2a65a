// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/generator.hpp"

#include "neap/tensor/execution.hpp"

namespace neap::tensor {

Generator& generator() noexcept {
  static Generator process_default;
  Generator* chosen = tensor::execution().generator;
  return chosen != nullptr ? *chosen : process_default;
}

}  // namespace neap::tensor

namespace neap {

void seed(std::uint64_t value) noexcept {
  tensor::generator() = Generator(value);
}

}  // namespace neap
