// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Strided: a plain view of elements, as kernels see them. It never owns, and
// is valid only while the caller keeps the storage.
#pragma once

#include "neap/base/dtype.hpp"
#include "neap/base/shape.hpp"

namespace neap::tensor {

struct Strided {
  std::byte* data = nullptr;  // the first element; nullptr when empty
  DType dtype = DType::kF32;
  Shape shape;
  Shape strides;  // strides in elements

  template <class T>
  T* as() const noexcept {
    return reinterpret_cast<T*>(data);
  }
};

}  // namespace neap::tensor
