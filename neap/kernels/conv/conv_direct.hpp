// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Convolutions vectorised over pixels: a vector has output pixels that follow
// each other in memory, so that sums are stored as they are, while
// conv_plan.hpp's way has channels side by side, which must be transposed in
// the end. It serves where there is little else to do for each element: few
// channels of the source, or a kernel of one element. It needs lanes that can
// be masked for nothing (AVX-512), since a border has lanes that must not take
// part.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "neap/kernels/conv/conv.hpp"
#include "neap/kernels/conv/conv_plan.hpp"

namespace neap::kernels {

inline constexpr int kDirectMostRows = 14;           // channels of one tile
inline constexpr std::int64_t kDirectRows = 16;      // their weights, padded
inline constexpr std::int64_t kDirectMostSlots = 8;  // of a panel; even

/// A bit for each lane.
using ConvLanes = std::array<std::uint8_t, 2>;

struct ConvDirectPlan {
  std::int64_t depth = 0;         // steps: channels of the source x taps
  std::int64_t sample_slots = 0;  // vectors of places of one sample
  std::int64_t slots = 0;         // of all
  std::int64_t part_slots = 0;
  std::int64_t parts = 0;
  std::int64_t panel_slots = 0;  // even
  std::int64_t tiles = 0;        // of the result's channels
  std::int64_t rows = 0;         // channels of one tile, but for the last
  bool takes_all = false;        // every tap reaches every place
  bool is_flat = false;   // rows of places lie in the source as in the result
  bool scatters = false;  // places are some of the result's
  Bytes lane_bytes = 0;
  Bytes part_bytes = 0;
};

ConvDirectPlan plan_conv_direct(const Conv& conv, ConvMakes makes,
                                std::int64_t lanes, Bytes element,
                                int threads) noexcept;

/// Whether a call is for this way, with vectors of so many lanes.
bool conv_is_direct(const Conv& conv, ConvMakes makes,
                    std::int64_t lanes) noexcept;

}  // namespace neap::kernels
