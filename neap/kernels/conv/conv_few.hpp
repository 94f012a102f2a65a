// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// conv2d_weight of images with few channels, as a first layer's: their channels
// alone would be too few rows for a tile, so its rows are channels and taps,
// its vectors channels of y. Its depth goes over all places of some rows of y,
// also those that some of the taps reach from outside of x: there, rows are
// masked. Only where that costs nothing (AVX-512).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "neap/kernels/conv/conv.hpp"
#include "neap/kernels/conv/conv_plan.hpp"

namespace neap::kernels {

/// A bit for each lane: all of them or none.
using ConvFewLanes = std::array<std::uint8_t, 2>;

/// Places of one row of y that the same taps reach from inside.
struct ConvFewRun {
  std::int32_t at = 0;  // in the copy of x, of the first by tap 0
  std::int32_t count = 0;
  std::int32_t lanes = 0;  // where those of all rows of the tiles are; -1: all
};

struct ConvFewPlan {
  std::int64_t rows = 0;         // of all tiles: channels of x x taps
  std::int64_t row_runs = 0;     // of one row of y
  std::int64_t classes = 0;      // of places
  std::int64_t band_rows = 0;    // of y at a time
  std::int64_t window_rows = 0;  // of y, for which x is copied; some bands
  std::int64_t pitch = 0;        // of the copy of x
  std::int64_t plane = 0;
  std::int64_t part_channels = 0;  // of y; a multiple of the lanes
  std::int64_t parts = 0;
  Bytes ahead_bytes = 0;  // offsets of what is fetched meanwhile
  Bytes run_bytes = 0;
  Bytes lane_bytes = 0;
  Bytes row_bytes = 0;
  Bytes image_bytes = 0;
  Bytes packed_bytes = 0;
  Bytes sum_bytes = 0;
  Bytes part_bytes = 0;  // the sum of these
};

/// Whether a call is for this way.
bool conv_has_few(const Conv& conv, ConvMakes makes) noexcept;
ConvFewPlan plan_conv_few(const Conv& conv, std::int64_t lanes, Bytes element,
                          int threads) noexcept;

}  // namespace neap::kernels
