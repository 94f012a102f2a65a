// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/generator.hpp"

#include "neap/tensor/creator.hpp"

namespace neap::tensor {

bool Generator::tell_trace(Creator& creator, const char* function,
                           const CallSite& site) const noexcept {
  return creator.on_generator_used(*this, function, site);
}

Generator& generator() noexcept {
  static Generator process_default;
  Generator* chosen = tensor::thread_execution().generator;
  return chosen != nullptr ? *chosen : process_default;
}

}  // namespace neap::tensor

namespace neap {

void seed(std::uint64_t value) noexcept {
  tensor::generator().set_key(Generator(value).key());
}

}  // namespace neap
