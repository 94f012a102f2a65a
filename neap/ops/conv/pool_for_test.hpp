// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Windows as plain loops, for the tables of the pooling ops.
#pragma once

#include <functional>
#include <vector>

#include "neap/ops/conv/avg_pool2d.hpp"
#include "neap/ops/conv/max_pool2d.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {

/// An element that a window looks at, and where it lies in its plane.
struct PoolElement {
  double value = 0.0;
  std::size_t at = 0;
};

/// The places along an axis of `in` elements that each window looks at; what is
/// outside [0, in) is padding.
using Places =
    std::function<std::vector<std::vector<std::int64_t>>(std::int64_t in)>;

struct Windows {
  Places h;
  Places w;
  bool is_flat = false;  // x has one spatial axis, w
};

/// Values that are far from equal, so that differences stay on one side.
inline InputSpec distinct(const Shape& shape) {
  std::vector<double> values;
  const std::int64_t count = shape.element_count();
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<double>(i * 37 % count) * 0.125 - 2.0);
  }
  return literal(shape, values);
}

inline Places places(std::int64_t kernel, std::int64_t stride,
                     std::int64_t padding, std::int64_t dilation, bool ceil) {
  return [=](std::int64_t in) {
    std::vector<std::vector<std::int64_t>> all;
    const std::int64_t span = dilation * (kernel - 1) + 1;
    for (std::int64_t start = -padding;
         ceil ? start + span <= in + padding + stride - 1 && start < in
              : start + span <= in + padding;
         start += stride) {
      std::vector<std::int64_t> window;
      for (std::int64_t k = 0; k < kernel; ++k) {
        window.push_back(start + k * dilation);
      }
      all.push_back(window);
    }
    return all;
  };
}

inline Windows windows_of(const MaxPoolOptions<2>& o) {
  const auto axis = [&](int i) {
    return places(o.kernel[i], o.stride[i] != 0 ? o.stride[i] : o.kernel[i],
                  o.padding[i], o.dilation[i], o.ceil_mode);
  };
  return {axis(0), axis(1)};
}

inline Windows adaptive_windows(std::int64_t h, std::int64_t w) {
  const auto axis = [](std::int64_t wanted) {
    return [wanted](std::int64_t in) {
      const std::int64_t out = wanted == -1 ? in : wanted;
      std::vector<std::vector<std::int64_t>> all;
      for (std::int64_t o = 0; o < out; ++o) {
        std::vector<std::int64_t> window;
        for (std::int64_t i = o * in / out; i * out < (o + 1) * in; ++i) {
          window.push_back(i);
        }
        all.push_back(window);
      }
      return all;
    };
  };
  return {axis(h), axis(w)};
}

/// Calls body(window) for each window of the planes of x, whose last two axes
/// (one: the last) are the planes'; elements of the padding are left out.
template <class Body>
void for_windows(const HostArray& x, const Windows& windows, const Body& body) {
  const std::int64_t w = x.shape.back();
  const std::int64_t h = windows.is_flat ? 1 : x.shape[x.shape.rank() - 2];
  const auto plane = static_cast<std::size_t>(h * w);
  for (std::size_t start = 0; start < x.values.size(); start += plane) {
    for (const auto& rows : windows.h(h)) {
      for (const auto& columns : windows.w(w)) {
        std::vector<PoolElement> window;
        for (const std::int64_t i : rows) {
          for (const std::int64_t j : columns) {
            if (i >= 0 && i < h && j >= 0 && j < w) {
              const std::size_t at =
                  start + static_cast<std::size_t>(i * w + j);
              window.push_back({x.values[at], at});
            }
          }
        }
        body(window, rows, columns);
      }
    }
  }
}

/// A pooling by its function of one window.
inline Reference pooled(
    const Windows& windows,
    const std::function<double(const std::vector<PoolElement>&)>& f) {
  return [windows, f](std::span<const HostArray> x) {
    std::vector<double> y;
    for_windows(x[0], windows,
                [&](const auto& window, const auto&, const auto&) {
                  y.push_back(f(window));
                });
    return y;
  };
}

}  // namespace neap::testing
