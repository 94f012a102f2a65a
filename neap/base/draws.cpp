// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/draws.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "neap/base/drawn.hpp"

// The instruction sets of kernels/engine/targets.hpp.
#define HWY_DISABLED_TARGETS \
  (~(HWY_AVX3 | HWY_AVX2 | HWY_SSE4 | HWY_NEON | HWY_EMU128 | HWY_SCALAR))
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/base/draws.cpp"
#include "hwy/foreach_target.h"
#include "neap/base/draws-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::base::HWY_NAMESPACE {

// Calls some(first, y) for as many elements as it makes at a time; the last few
// are made in a buffer.
template <class T, class Some>
void for_each_some(const DrawnRange& range, T* y, const Some& some) {
  std::int64_t i = 0;
  for (; i + kDrawnTogether <= range.count; i += kDrawnTogether) {
    some(range.first + static_cast<std::uint64_t>(i), y + i);
  }
  if (i < range.count) {
    HWY_ALIGN std::array<T, kDrawnTogether> rest;
    some(range.first + static_cast<std::uint64_t>(i), rest.data());
    std::copy_n(rest.begin(), range.count - i, y + i);
  }
}

void uniform_f32s(const DrawnRange& range, float* y) {
  for_each_some(range, y, [&](std::uint64_t first, float* to) HWY_ATTR {
    some_uniform(range.key, first, to);
  });
}

void uniform_f64s(const DrawnRange& range, double* y) {
  for_each_some(range, y, [&](std::uint64_t first, double* to) HWY_ATTR {
    some_uniform(range.key, first, to);
  });
}

void normal_f32s(const DrawnRange& range, const NormalShape& shape, float* y) {
  for_each_some(range, y, [&](std::uint64_t first, float* to) HWY_ATTR {
    some_normal(range.key, first, shape, to);
  });
}

}  // namespace neap::base::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::base {
namespace {

HWY_EXPORT(uniform_f32s);
HWY_EXPORT(uniform_f64s);
HWY_EXPORT(normal_f32s);

template <class T>
void draw_some_integers(const DrawnRange& range, const DrawnInteger& integer,
                        T* y) noexcept {
  std::array<double, 256> u;
  for (std::int64_t i = 0; i < range.count;) {
    const std::int64_t some =
        std::min(range.count - i, static_cast<std::int64_t>(u.size()));
    draw_uniform({range.key, range.first + static_cast<std::uint64_t>(i), some},
                 u.data());
    if (integer.is_narrow()) {
      for (std::int64_t k = 0; k < some; ++k) {
        y[i + k] = static_cast<T>(
            integer.of_uniform_narrow(u[static_cast<std::size_t>(k)]));
      }
    } else {
      for (std::int64_t k = 0; k < some; ++k) {
        y[i + k] =
            static_cast<T>(integer.of_uniform(u[static_cast<std::size_t>(k)]));
      }
    }
    i += some;
  }
}

}  // namespace

void draw_uniform(const DrawnRange& range, float* y) noexcept {
  HWY_DYNAMIC_DISPATCH(uniform_f32s)(range, y);
}

void draw_uniform(const DrawnRange& range, double* y) noexcept {
  HWY_DYNAMIC_DISPATCH(uniform_f64s)(range, y);
}

void draw_normal(const DrawnRange& range, const NormalShape& shape,
                 float* y) noexcept {
  HWY_DYNAMIC_DISPATCH(normal_f32s)(range, shape, y);
}

// All bits of a double are those of the standard library's functions, which
// vectors cannot promise.
void draw_normal(const DrawnRange& range, const NormalShape& shape,
                 double* y) noexcept {
  for (std::int64_t i = 0; i < range.count; ++i) {
    const auto block =
        range.key.block(range.first + static_cast<std::uint64_t>(i));
    y[i] = shape.mean + shape.stddev * normal_f64(block);
  }
}

void draw_integers(const DrawnRange& range, std::int64_t low, std::int64_t high,
                   std::int32_t* y) noexcept {
  draw_some_integers(range, DrawnInteger(low, high), y);
}

void draw_integers(const DrawnRange& range, std::int64_t low, std::int64_t high,
                   std::int64_t* y) noexcept {
  draw_some_integers(range, DrawnInteger(low, high), y);
}

}  // namespace neap::base
#endif  // HWY_ONCE
