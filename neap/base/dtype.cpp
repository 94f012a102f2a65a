// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/dtype.hpp"

#include <ostream>

namespace neap {

std::string_view name_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::kF32:
      return "f32";
    case DType::kF64:
      return "f64";
    case DType::kBF16:
      return "bf16";
    case DType::kI32:
      return "i32";
    case DType::kI64:
      return "i64";
    case DType::kU8:
      return "u8";
    case DType::kBool:
      return "bool";
  }
  return "?";
}

std::ostream& operator<<(std::ostream& out, DType dtype) {
  return out << name_of(dtype);
}

}  // namespace neap
