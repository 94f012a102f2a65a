// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Parameter: a leaf with a name, as models hand them to optimizers, files and
// reports. It holds a handle, so the elements live as long as it does.
#pragma once

#include "neap/memory/containers.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap {

struct Parameter {
  memory::String name;  // full path, "encoder.fc1.weight"
  Tensor tensor;
  /// Further names of the same tensor, where it is tied.
  memory::Vector<memory::String> aliases;
};

using ParameterList = memory::Vector<Parameter>;

}  // namespace neap
