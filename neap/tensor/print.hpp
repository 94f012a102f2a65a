// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Tensors as text, laid out as NumPy does.
#pragma once

#include <iosfwd>
#include <string>

#include "neap/tensor/tensor.hpp"

namespace neap {

struct PrintOptions {
  int precision = 4;              // digits after the point
  std::int64_t threshold = 1000;  // more elements than this: edges only
  /// Elements kept at each end of a summarised axis.
  std::int64_t edge_items = 3;
};

/// The elements alone: "[[1. 2.]\n [3. 4.]]". THROWS: as Tensor::at for
/// elements that are not there, or not on the host; ValueError for a negative
/// option.
NEAP_API std::string format(const Tensor& tensor,
                            const PrintOptions& options = {},
                            CallSite site = CallSite::here());

/// The same as format(); "undefined" for a tensor that is.
NEAP_API std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace neap
