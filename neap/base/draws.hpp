// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Many elements of a random tensor at a time: what drawn.hpp computes for one
// element after the other, by vectors. The bits are the same at every
// instruction set. Nothing here has state; any thread may compute any part.
#pragma once

#include <cstdint>

#include "neap/base/philox.hpp"

namespace neap::base {

/// Elements [first, first + count) of one draw.
struct DrawnRange {
  DrawKey key;
  std::uint64_t first = 0;
  std::int64_t count = 0;
};

/// The affine image mean + stddev z of a normal number z. With the defaults it
/// is z itself, the sign of zero included.
struct NormalShape {
  double mean = -0.0;
  double stddev = 1.0;
};

/// y[i] = drawn_uniform of element first + i.
void draw_uniform(const DrawnRange& range, float* y) noexcept;
void draw_uniform(const DrawnRange& range, double* y) noexcept;

/// y[i] = mean + stddev z, computed in f64 and rounded once, with z the
/// drawn_normal<double> of element first + i.
void draw_normal(const DrawnRange& range, const NormalShape& shape,
                 float* y) noexcept;
void draw_normal(const DrawnRange& range, const NormalShape& shape,
                 double* y) noexcept;

/// y[i] = DrawnInteger(low, high) of element first + i; i32 keeps the low bits.
/// REQUIRES: low < high.
void draw_integers(const DrawnRange& range, std::int64_t low, std::int64_t high,
                   std::int32_t* y) noexcept;
void draw_integers(const DrawnRange& range, std::int64_t low, std::int64_t high,
                   std::int64_t* y) noexcept;

}  // namespace neap::base
