// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// For the tests of this room: parameters in a line.
#pragma once

#include <initializer_list>
#include <utility>

#include "neap/autograd/parameter.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/tensor/create.hpp"

namespace neap::optim {

/// A leaf that requires grad.
inline Tensor parameter(std::initializer_list<double> values,
                        DType dtype = f32) {
  return requires_grad_(
      from_values(values, {static_cast<std::int64_t>(values.size())}, dtype));
}

inline ParameterList named(
    std::initializer_list<std::pair<const char*, Tensor>> tensors) {
  ParameterList list;
  for (const auto& [name, tensor] : tensors) {
    list.push_back({memory::String(name), tensor, {}});
  }
  return list;
}

}  // namespace neap::optim
