// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Convolutions whose groups have one channel each. There is little to do for
// each element, so that what counts is how often it is touched.
//
//   conv2d, conv_transpose2d   a vector has columns that follow each other, so
//       that planes are read and written as they are; some rows are summed
//       together, and what is loaded serves all of them
//   conv2d_weight              a vector has channels side by side, since every
//       sum must run over the places in order; all taps' sums stay in registers
//
// Only where lanes can be masked for nothing (AVX-512), since a border has
// lanes that must not take part.
#pragma once

#include <cstdint>
#include <span>

#include "neap/kernels/conv/conv.hpp"
#include "neap/kernels/conv/conv_plan.hpp"

namespace neap::kernels {

/// A bit for each lane.
using DepthwiseLanes = std::array<std::uint8_t, 2>;

/// The elements that one tap along the columns takes for a vector of pixels.
struct DepthwiseColumn {
  std::int64_t at = 0;     // in the source's row, of the first lane
  DepthwiseLanes takes{};  // lanes that are inside of the source
  DepthwiseLanes low{};    // elements to load from there
  DepthwiseLanes high{};   // and from one vector behind
};

/// Rows of the result, numbered from 0 as they are summed: taps go upwards as
/// rows of the source do. Where those come in another number, a row of the
/// source is at `2 * number`, or one of the result is.
struct DepthwiseLines {
  std::int64_t first = 0;  // of them, to be summed
  std::int64_t end = 0;
  std::int64_t result = 0;  // row of line 0
  std::int64_t result_step = 1;
  std::int64_t source = 0;  // row of number 0
  std::int64_t source_step = 1;
  ConvRange inside{};  // numbers of the source's rows
};

struct ConvDepthwisePlan {
  std::int64_t planes =
      0;  // of all samples; conv2d_weight: vectors of channels
  std::int64_t part_planes = 0;
  std::int64_t parts = 0;
  std::int64_t slots = 0;      // vectors of a row
  std::int64_t band_rows = 0;  // conv2d_weight
  Bytes table_bytes = 0;
  Bytes part_bytes = 0;
};

ConvDepthwisePlan plan_conv_depthwise(const Conv& conv, ConvMakes makes,
                                      std::int64_t lanes, Bytes element,
                                      int threads) noexcept;

/// How many kinds of lines there are, and one of them.
std::int64_t depthwise_residues(const Conv& conv) noexcept;
DepthwiseLines depthwise_lines(const Conv& conv, ConvMakes makes,
                               std::int64_t residue) noexcept;
/// The column of the vector of output pixels that begins with `place`.
DepthwiseColumn depthwise_column(const Conv& conv, ConvMakes makes,
                                 std::int64_t place, std::int64_t tap,
                                 std::int64_t lanes) noexcept;

/// Whether a call is for this way, with vectors of so many lanes.
bool conv_is_depthwise(const Conv& conv, ConvMakes makes,
                       std::int64_t lanes) noexcept;

}  // namespace neap::kernels
