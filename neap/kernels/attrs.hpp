// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The attributes that kernels read: trivially copyable, stored by value in tape
// nodes and programs. Fields are ordered and padded by hand, so that equal
// attributes have equal bytes.
#pragma once

#include <cstdint>

#include "neap/base/dtype.hpp"
#include "neap/base/philox.hpp"
#include "neap/base/shape.hpp"

namespace neap::kernels {

/// sum, amax: bit i of `axes` says that axis i is reduced. The output keeps
/// every reduced axis with extent 1 (ops reshape it away where asked).
struct ReduceAttrs {
  std::uint64_t axes = 0;
};

/// argmax, softmax and the like: one axis, counted from the start.
struct AxisAttrs {
  std::int64_t axis = 0;
};

/// cast: the target dtype is the output's; nothing else is needed.

/// dropout: y = keep(key, i) ? x / (1 - p) : 0, with i the logical index.
struct DropoutAttrs {
  double p = 0.0;  // probability of dropping, in [0, 1)
  base::DrawKey key;
};

/// A range of one axis: elements start, start + step, ... `count` of them.
struct SliceAttrs {
  std::int64_t axis = 0;
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
  std::int64_t extent = 0;  // of the whole axis
};

/// fill: every element gets `value`.
struct FillAttrs {
  double value = 0.0;
};

}  // namespace neap::kernels
