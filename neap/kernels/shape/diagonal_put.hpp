// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// diagonal_put: zeros, with x on a diagonal of two axes; DiagonalAttrs. Any
// dtype.
//   in[0]  x  (.., n)  any strides
//   out[0] y  any strides; x's axes but the last, and the two
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

/// The elements (.., i + max(-offset, 0), .., i + max(offset, 0), ..) of the
/// axes `first` and `second`, in order of i.
struct DiagonalAttrs {
  std::int64_t offset = 0;
  std::int64_t first = 0;
  std::int64_t second = 1;
  std::int64_t first_extent = 0;
  std::int64_t second_extent = 0;
};

extern const KernelList diagonal_put_kernels;

}  // namespace neap::kernels
