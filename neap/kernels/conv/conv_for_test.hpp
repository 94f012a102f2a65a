// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Convolutions of many geometries, for the tests of their kernels.
#pragma once

#include "neap/kernels/engine/targets.hpp"
// Kept apart: the list of targets must be known before Highway's headers.
#include "neap/kernels/conv/conv.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "hwy/highway.h"
#include "neap/kernels/engine/kernel_testing.hpp"

namespace neap::kernels {

// Runs the body at every instruction set that is compiled in and present.
template <class Body>
void at_each_isa(const Body& body) {
  isa();
  hwy::SetSupportedTargetsForTest(0);
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

// A convolution of (n, c, h, w) to o channels.
struct Problem {
  std::int64_t n, c, o;
  ConvAttrs attrs;

  Shape x() const { return {n, c, attrs.x_extent[0], attrs.x_extent[1]}; }
  Shape w() const {
    return {o, c / attrs.groups, attrs.kernel[0], attrs.kernel[1]};
  }
  Shape y() const { return {n, o, attrs.y_extent[0], attrs.y_extent[1]}; }
  std::string text() const {
    return fmt::format(
        "x {} w {} y {} stride {} {} padding {} {} dilation {} {} in {}",
        format_shape(x()), format_shape(w()), format_shape(y()),
        attrs.stride[0], attrs.stride[1], attrs.padding[0], attrs.padding[1],
        attrs.dilation[0], attrs.dilation[1], name_of(attrs.precision));
  }
};

inline Problem problem(std::int64_t n, std::int64_t c, std::int64_t o,
                       ConvAttrs attrs) {
  for (std::size_t i = 0; i < 2; ++i) {
    attrs.y_extent[i] = (attrs.x_extent[i] + 2 * attrs.padding[i] -
                         attrs.dilation[i] * (attrs.kernel[i] - 1) - 1) /
                            attrs.stride[i] +
                        1;
  }
  return {n, c, o, attrs};
}

// Each channel by itself.
inline Problem each_channel(std::int64_t n, std::int64_t c, ConvAttrs attrs) {
  attrs.groups = c;
  return problem(n, c, c, attrs);
}

inline std::vector<Problem> problems_of_each_channel() {
  return {
      each_channel(2, 20,
                   {.padding = {1, 1}, .x_extent = {14, 14}, .kernel = {3, 3}}),
      each_channel(2, 17,
                   {.padding = {2, 2}, .x_extent = {9, 33}, .kernel = {5, 5}}),
      each_channel(1, 9,
                   {.padding = {3, 3}, .x_extent = {10, 18}, .kernel = {7, 7}}),
      each_channel(2, 8, {.x_extent = {9, 11}, .kernel = {5, 5}}),
      each_channel(2, 18,
                   {.stride = {2, 2},
                    .padding = {1, 1},
                    .x_extent = {15, 17},
                    .kernel = {3, 3}}),
      each_channel(1, 8,
                   {.stride = {2, 2},
                    .padding = {1, 1},
                    .x_extent = {16, 34},
                    .kernel = {3, 3}}),
      each_channel(1, 9,
                   {.stride = {2, 2},
                    .padding = {2, 2},
                    .x_extent = {13, 40},
                    .kernel = {5, 5}}),
      each_channel(1, 8,
                   {.stride = {2, 2}, .x_extent = {20, 19}, .kernel = {7, 7}}),
      each_channel(1, 8,
                   {.padding = {2, 2},
                    .dilation = {2, 2},
                    .x_extent = {11, 19},
                    .kernel = {3, 3}}),
      each_channel(1, 8,
                   {.padding = {3, 0},
                    .dilation = {3, 1},
                    .x_extent = {2, 9},
                    .kernel = {3, 3}}),
      // Narrow planes.
      each_channel(3, 9,
                   {.padding = {1, 1}, .x_extent = {7, 7}, .kernel = {3, 3}}),
      each_channel(2, 8,
                   {.padding = {1, 2},
                    .dilation = {2, 1},
                    .x_extent = {6, 3},
                    .kernel = {2, 5}}),
      each_channel(1, 5,
                   {.padding = {4, 4}, .x_extent = {1, 1}, .kernel = {9, 9}}),
      // A single row.
      each_channel(2, 8,
                   {.padding = {0, 4}, .x_extent = {1, 40}, .kernel = {1, 9}}),
      each_channel(2, 8,
                   {.stride = {1, 2},
                    .padding = {0, 1},
                    .x_extent = {1, 41},
                    .kernel = {1, 3}}),
  };
}

inline std::vector<Problem> first_layers() {
  return {
      problem(3, 3, 40,
              {.padding = {1, 1}, .x_extent = {5, 33}, .kernel = {3, 3}}),
      problem(2, 1, 6, {.x_extent = {12, 28}, .kernel = {5, 5}}),
      problem(2, 2, 17,
              {.stride = {2, 2},
               .padding = {3, 3},
               .x_extent = {21, 19},
               .kernel = {7, 7}}),
      problem(1, 3, 33,
              {.stride = {2, 3},
               .padding = {4, 2},
               .dilation = {3, 2},
               .x_extent = {11, 13},
               .kernel = {3, 4}}),
  };
}

inline std::vector<Problem> usual_problems() {
  return {
      problem(2, 3, 5,
              {.padding = {1, 1}, .x_extent = {7, 9}, .kernel = {3, 3}}),
      problem(1, 1, 33,
              {.padding = {1, 1}, .x_extent = {28, 28}, .kernel = {3, 3}}),
      problem(3, 18, 50,
              {.padding = {1, 1}, .x_extent = {4, 4}, .kernel = {3, 3}}),
      problem(2, 131, 40,  // several blocks of channels
              {.padding = {1, 1}, .x_extent = {6, 5}, .kernel = {3, 3}}),
      problem(1, 4, 17,  // several bands of one image
              {.padding = {2, 2}, .x_extent = {40, 37}, .kernel = {5, 5}}),
      problem(2, 6, 7,
              {.stride = {2, 2},
               .padding = {1, 1},
               .x_extent = {9, 8},
               .kernel = {3, 3}}),
      problem(2, 5, 20,
              {.stride = {2, 2}, .x_extent = {8, 8}, .kernel = {1, 1}}),
      problem(2, 40, 9, {.x_extent = {32, 32}, .kernel = {1, 1}}),
      problem(3, 18, 30,  // by places that do not follow each other
              {.stride = {2, 2}, .x_extent = {8, 8}, .kernel = {1, 1}}),
      problem(3, 18, 30,
              {.stride = {3, 3}, .x_extent = {11, 12}, .kernel = {1, 1}}),
      problem(2, 16, 17,
              {.stride = {2, 2}, .x_extent = {8, 8}, .kernel = {2, 2}}),
      problem(5, 3, 20,  // several panels, the last of one vector
              {.padding = {1, 1}, .x_extent = {16, 17}, .kernel = {3, 3}}),
      problem(3, 6, 8, {.x_extent = {9, 8}, .kernel = {1, 1}, .groups = 2}),
      problem(1, 4, 6,
              {.stride = {2, 3},
               .padding = {4, 2},
               .dilation = {3, 2},
               .x_extent = {11, 13},
               .kernel = {3, 4}}),
      problem(1, 2, 3,
              {.stride = {4, 4}, .x_extent = {11, 10}, .kernel = {7, 2}}),
      problem(2, 6, 9,
              {.padding = {1, 0},
               .x_extent = {5, 6},
               .kernel = {3, 2},
               .groups = 3}),
      problem(2, 5, 10,
              {.padding = {1, 1},
               .x_extent = {6, 6},
               .kernel = {3, 3},
               .groups = 5}),
      problem(2, 37, 37,
              {.stride = {2, 1},
               .padding = {1, 2},
               .dilation = {1, 2},
               .x_extent = {7, 9},
               .kernel = {3, 3},
               .groups = 37}),
      problem(1, 0, 2, {.x_extent = {3, 3}, .kernel = {2, 2}}),
      problem(0, 2, 2, {.x_extent = {3, 3}, .kernel = {2, 2}}),
      problem(1, 1, 1,
              {.padding = {3, 3}, .x_extent = {2, 1}, .kernel = {2, 2}}),
  };
}

inline std::vector<Problem> problems() {
  std::vector<Problem> all = usual_problems();
  for (const auto& some : {problems_of_each_channel(), first_layers()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

inline Problem in_bf16(Problem p) {
  p.attrs.precision = Precision::kBf16;
  return p;
}

template <class T>
testing::Array filled(const Shape& shape, testing::Lay lay, std::int64_t seed) {
  return testing::Array::of<T>(shape, lay, [seed](std::int64_t i) {
    return static_cast<T>(testing::noise(i + 1000 * seed));
  });
}

}  // namespace neap::kernels
