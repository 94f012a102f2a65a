// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Convolution in double precision by its definition, for the tables of
// conv1d, conv2d, their transposes and conv2d_weight.
#pragma once

#include "neap/ops/conv/conv_options.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {

/// Dense (a, b, i, j), of which places outside are 0.
struct Planes {
  std::array<std::int64_t, 4> extents{};
  std::vector<double> values{};

  double& at(std::int64_t a, std::int64_t b, std::int64_t i, std::int64_t j) {
    return values[static_cast<std::size_t>(
        ((a * extents[1] + b) * extents[2] + i) * extents[3] + j)];
  }
  bool has(std::int64_t i, std::int64_t j) const {
    return i >= 0 && i < extents[2] && j >= 0 && j < extents[3];
  }
};

/// An array of 2, 3 or 4 axes; (n, c, l) has h = 1, no n is one sample.
inline Planes planes_of(const HostArray& array, int axes) {
  Planes planes{{1, 1, 1, 1}, array.values};
  const int missing = array.shape.rank() == axes + 1 ? 1 : 0;
  for (int axis = 0; axis < array.shape.rank(); ++axis) {
    const int to = axis + missing;
    const int skipped = axes == 1 && to == 2 ? 1 : 0;  // h
    planes.extents[static_cast<std::size_t>(to + skipped)] = array.shape[axis];
  }
  return planes;
}

inline Planes zeros_of(std::int64_t a, std::int64_t b, std::int64_t i,
                       std::int64_t j) {
  return {{a, b, i, j},
          std::vector<double>(static_cast<std::size_t>(a * b * i * j))};
}

/// Calls body(x's place, w's, y's) as indices for every product of the form.
struct ConvForm {
  ConvOptions<2> options;

  /// REQUIRES: the extents of the three fit.
  template <class Body>
  void each(const Planes& x, const Planes& w, const Planes& y,
            const Body& body) const {
    const std::int64_t y_group = w.extents[0] / options.groups;
    const std::int64_t x_group = w.extents[1];
    for (std::int64_t n = 0; n < x.extents[0]; ++n) {
      for (std::int64_t o = 0; o < w.extents[0]; ++o) {
        for (std::int64_t k = 0; k < x_group; ++k) {
          each_place(x, w, y,
                     [&](auto h, auto v, auto p, auto q, auto i, auto j) {
                       body(std::array{n, o / y_group * x_group + k, h, v},
                            std::array{o, k, p, q}, std::array{n, o, i, j});
                     });
        }
      }
    }
  }

 private:
  template <class Body>
  void each_place(const Planes& x, const Planes& w, const Planes& y,
                  const Body& body) const {
    for (std::int64_t i = 0; i < y.extents[2]; ++i) {
      for (std::int64_t j = 0; j < y.extents[3]; ++j) {
        for (std::int64_t p = 0; p < w.extents[2]; ++p) {
          for (std::int64_t q = 0; q < w.extents[3]; ++q) {
            const std::int64_t h = i * options.stride[0] +
                                   p * options.dilation[0] - options.padding[0];
            const std::int64_t v = j * options.stride[1] +
                                   q * options.dilation[1] - options.padding[1];
            if (x.has(h, v)) {
              body(h, v, p, q, i, j);
            }
          }
        }
      }
    }
  }
};

inline double& element_of(Planes& planes,
                          const std::array<std::int64_t, 4>& at) {
  return planes.at(at[0], at[1], at[2], at[3]);
}

inline void add_channel_bias(Planes& to, std::span<const HostArray> inputs) {
  const auto plane = static_cast<std::size_t>(to.extents[2] * to.extents[3]);
  for (std::size_t i = 0; inputs.size() > 2 && i < to.values.size(); ++i) {
    to.values[i] +=
        inputs[2].values[i / plane % static_cast<std::size_t>(to.extents[1])];
  }
}

inline ConvOptions<2> over_two_axes(const ConvOptions<1>& options) {
  return {{1, options.stride[0]},
          {0, options.padding[0]},
          {1, options.dilation[0]},
          options.groups};
}

/// The reference of conv1d and conv2d; inputs x, w, [bias].
inline Reference conv_reference_of(int axes, const ConvOptions<2>& options) {
  return [=](std::span<const HostArray> inputs) {
    Planes x = planes_of(inputs[0], axes);
    Planes w = planes_of(inputs[1], axes);
    std::array<std::int64_t, 2> extent{};
    for (int axis = 0; axis < 2; ++axis) {
      const auto at = static_cast<std::size_t>(axis) + 2;
      extent[at - 2] = (x.extents[at] + 2 * options.padding[axis] -
                        options.dilation[axis] * (w.extents[at] - 1) - 1) /
                           options.stride[axis] +
                       1;
    }
    Planes y = zeros_of(x.extents[0], w.extents[0], extent[0], extent[1]);
    ConvForm{options}.each(
        x, w, y, [&](const auto& at_x, const auto& at_w, const auto& at_y) {
          element_of(y, at_y) += element_of(x, at_x) * element_of(w, at_w);
        });
    add_channel_bias(y, inputs);
    return y.values;
  };
}

/// The reference of the transposes; inputs y, w, [bias].
inline Reference transposed_reference_of(
    int axes, const ConvOptions<2>& options,
    const std::array<std::int64_t, 2>& output_padding = {}) {
  return [=](std::span<const HostArray> inputs) {
    Planes y = planes_of(inputs[0], axes);
    Planes w = planes_of(inputs[1], axes);
    std::array<std::int64_t, 2> extent{};
    for (int axis = 0; axis < 2; ++axis) {
      const auto at = static_cast<std::size_t>(axis) + 2;
      extent[at - 2] = (y.extents[at] - 1) * options.stride[axis] -
                       2 * options.padding[axis] +
                       options.dilation[axis] * (w.extents[at] - 1) +
                       output_padding[at - 2] + 1;
    }
    Planes x = zeros_of(y.extents[0], w.extents[1] * options.groups, extent[0],
                        extent[1]);
    ConvForm{options}.each(
        x, w, y, [&](const auto& at_x, const auto& at_w, const auto& at_y) {
          element_of(x, at_x) += element_of(y, at_y) * element_of(w, at_w);
        });
    add_channel_bias(x, inputs);
    return x.values;
  };
}

}  // namespace neap::testing
