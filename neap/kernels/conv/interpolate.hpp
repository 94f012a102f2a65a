// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// interpolate: images of another size, and its adjoint. f32, f64. Element o of
// an axis is computed from the element at s of x, by PyTorch's rules:
//
//   nearest                  s = floor(o scale), at most in - 1
//   bilinear                 s = max(0, (o + 1/2) scale - 1/2)
//   bilinear, corners align  s = o scale, with scale (in - 1) / (out - 1)
//
// For bilinear, with i the floor of s and l = s - i, it is (1 - l) x[i] + l x[i
// + 1], where the last element stands for the one behind it: rows first, then
// along them. The adjoint adds in the order of the outputs: along a row first,
// beginning with 0, then the rows.
#pragma once

#include <array>

#include "neap/kernels/conv/pool.hpp"

namespace neap::kernels {

struct ResizeAxis {
  std::int64_t in = 1;
  std::int64_t out = 1;
  double scale = 1.0;  // elements of x from one of y to the next

  friend bool operator==(const ResizeAxis&, const ResizeAxis&) = default;
};

struct InterpolateAttrs {
  ResizeAxis h{};
  ResizeAxis w{};
  bool is_linear = false;
  bool align_corners = false;
  std::array<bool, 6> padding{};
};

/// The sources of one element of y: x[low] and x[high], with their weights.
struct Between {
  std::int64_t low = 0;
  std::int64_t high = 0;
  double weight_low = 1.0;
  double weight_high = 0.0;
};

Between between(const InterpolateAttrs& attrs, const ResizeAxis& axis,
                std::int64_t o) noexcept;

///   in[0]  x  (n, c, h, w)    any strides
///   out[0] y  (n, c, oh, ow)  dense
extern const KernelList interpolate_kernels;

///   in[0]  g   (n, c, oh, ow)  any strides
///   out[0] dx  (n, c, h, w)    dense
extern const KernelList interpolate_grad_kernels;

}  // namespace neap::kernels
