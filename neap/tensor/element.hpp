// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Element access for what is rare and small (printing, item, creation), one
// element at a time. Computing belongs to kernels/.
#pragma once

#include "neap/base/raise.hpp"
#include "neap/base/saturate.hpp"
#include "neap/tensor/strided.hpp"

namespace neap::tensor {

/// Calls `visit` with a null pointer of the C++ type that `dtype` stores.
template <class Visit>
decltype(auto) with_type(DType dtype, Visit&& visit) {
  switch (dtype) {
    case DType::kF32:
      return visit(static_cast<float*>(nullptr));
    case DType::kF64:
      return visit(static_cast<double*>(nullptr));
    case DType::kBF16:
      return visit(static_cast<BFloat16*>(nullptr));
    case DType::kI32:
      return visit(static_cast<std::int32_t*>(nullptr));
    case DType::kI64:
      return visit(static_cast<std::int64_t*>(nullptr));
    case DType::kU8:
      return visit(static_cast<std::uint8_t*>(nullptr));
    case DType::kBool:
      return visit(static_cast<bool*>(nullptr));
  }
  base::raise<InternalError>("dtype: no such element type");
}

/// The element at `offset` (in elements) from the view's first.
inline double element_as_double(const Strided& view, std::int64_t offset) {
  return with_type(view.dtype, [&]<class T>(T*) -> double {
    const T value = view.as<T>()[offset];
    if constexpr (std::is_same_v<T, BFloat16>) {
      return static_cast<double>(static_cast<float>(value));
    } else {
      return static_cast<double>(value);
    }
  });
}

/// A number (a double or an integer) as an element of type T: rounded to
/// nearest for floats, for bool whether it is not zero, for integers truncated
/// and saturated (NaN: 0).
template <class T, class Number>
T to_element(Number value) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    return BFloat16(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    return value != Number(0);
  } else if constexpr (std::is_integral_v<T>) {
    return base::saturate<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

/// Calls `visit(offset)` for every element in row-major order.
template <class Visit>
void for_each_offset(const Shape& shape, const Shape& strides, Visit&& visit) {
  const std::int64_t count = shape.element_count();
  Shape at = Shape::filled(shape.rank(), 0);
  std::int64_t offset = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    visit(offset);
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      offset += strides[axis];
      if (++at[axis] < shape[axis]) {
        break;
      }
      offset -= at[axis] * strides[axis];
      at[axis] = 0;
    }
  }
}

}  // namespace neap::tensor
