// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// pad: y is x with PadAttrs::value around it. Any dtype; the value is converted
// as fill does.
//   in[0]  x  any strides
//   out[0] y  any strides; extent before + x's + after along each axis
#pragma once

#include <array>

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

struct PadAttrs {
  double value = 0.0;
  std::array<std::int64_t, kMaxRank> before{};  // of each axis
  std::array<std::int64_t, kMaxRank> after{};
};

extern const KernelList pad_kernels;

/// Fills what lies outside of `part` positions from `start` of one axis.
void fill_around(const Strided& y, int axis, std::int64_t start,
                 std::int64_t part, double value,
                 threads::Executor& executor) noexcept;

}  // namespace neap::kernels
