// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The elements of parameters and of state. Used in this room alone.
#pragma once

#include <cstddef>
#include <span>

#include "neap/tensor/tensor.hpp"

namespace neap::optim {

/// Its elements are nowhere, and everything else is as if they were there.
inline bool is_rehearsed(const Tensor& tensor) {
  return tensor.array()->storage()->absence() == tensor::Absence::kRehearsed;
}

/// REQUIRES: dense, and in host memory.
inline std::span<std::byte> bytes_of(const Tensor& tensor) {
  return {tensor.array()->strided().data,
          static_cast<std::size_t>(tensor.element_count() *
                                   size_of(tensor.dtype()))};
}

}  // namespace neap::optim
