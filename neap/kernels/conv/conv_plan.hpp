// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How one convolution is cut up: its geometry as lists of offsets, a grid of
// parts for the threads, and inside a part, blocks for the caches. Pure
// integers; the result never depends on it.
//
// conv2d and conv_transpose2d are one loop: a result (samples, channels, rows,
// columns) is summed from a source, another image. The places of the result
// fall into classes by which taps of the kernel reach them from inside of the
// source: the inner ones, those at each border, and the residues of a strided
// transpose. A tile has places of one class, so that nothing is computed with
// the zeros around an image, nor between the elements of a strided one.
//
//   a part    samples or rows of the result x a range of its channels
//   a band    some places of a part: their sums stay in scratch until all
//             channels of the source are done
//   a block   some channels of the source, copied together, and their weights,
//             packed by panels of the result's channels
//
// conv2d_weight turns the same tile round: its rows are channels of x for one
// tap, its depth the places of y that the tap reaches.
#pragma once

#include <array>
#include <cstdint>

#include "neap/base/ceil_div.hpp"
#include "neap/kernels/conv/conv.hpp"
#include "neap/kernels/gemm/gemm_plan.hpp"

namespace neap::kernels {

/// Half-open.
struct ConvRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const noexcept { return end - begin; }
};

/// An axis of the places of one residue (conv2d has one), numbered from 0:
/// where they are in the result and in the source.
struct ConvAxis {
  std::int64_t taps = 1;      // of the kernel
  std::int64_t dilation = 1;  // in the result's units for a transpose
  std::int64_t stride = 1;    // of a transpose; 1 else
  std::int64_t residue = 0;
  bool is_transposed = false;
  std::int64_t source = 0;       // extent
  std::int64_t first = 0;        // in the result, of place 0
  std::int64_t step = 1;         // in the result, between places
  std::int64_t count = 0;        // of places
  std::int64_t source_step = 1;  // in the source, between places
  std::int64_t origin = 0;       // in the source, of place 0 and offset 0

  std::int64_t offset(std::int64_t tap) const noexcept {
    return is_transposed ? -((tap * dilation - residue) / stride)
                         : tap * dilation;
  }
  /// The position in the source that a tap of a place reads; it may be outside.
  std::int64_t at(std::int64_t place, std::int64_t tap) const noexcept {
    return place * source_step + origin + offset(tap);
  }
  bool takes(std::int64_t place, std::int64_t tap) const noexcept {
    return may_take(tap) && at(place, tap) >= 0 && at(place, tap) < source;
  }
  bool may_take(std::int64_t tap) const noexcept {
    return !is_transposed || (tap * dilation - residue) % stride == 0;
  }
  /// The places that a tap reaches from inside of the source.
  ConvRange reached(std::int64_t tap) const noexcept;
  /// How many taps reach a place.
  std::int64_t taken(std::int64_t place) const noexcept;
  /// The first place after this one, up to `limit`, that other taps reach.
  std::int64_t next_class(std::int64_t place,
                          std::int64_t limit) const noexcept;
  /// The first place that is at `result` or behind it.
  std::int64_t place_from(std::int64_t result) const noexcept {
    return result <= first ? 0 : base::ceil_div(result - first, step);
  }
  /// The places among [begin, end) of the result.
  ConvRange among(const ConvRange& result) const noexcept;
};

/// The geometry of one group of a convolution, a transpose or a weight
/// gradient. In bf16, what pairs run along (the source's channels, or the
/// samples of conv2d_weight) is counted in pairs: all that follows is as for
/// elements.
struct ConvGeometry {
  std::int64_t groups = 1;
  /// Groups of one channel each are as many channels side by side, and the
  /// geometry is that of a call without groups and with one source channel.
  bool is_depthwise = false;
  std::int64_t samples = 0;
  std::int64_t source_channels = 0;
  std::int64_t channels = 0;             // of the result
  std::array<std::int64_t, 2> extent{};  // of the result
  std::array<std::int64_t, 2> source{};  // extents
  std::array<std::int64_t, 2> residues{1, 1};
  std::array<std::int64_t, 2> kernel{};

  std::int64_t taps() const noexcept { return kernel[0] * kernel[1]; }
  std::int64_t places() const noexcept { return extent[0] * extent[1]; }
};

ConvGeometry conv_geometry(const Conv& conv, ConvMakes makes) noexcept;
ConvAxis conv_axis(const Conv& conv, ConvMakes makes, int axis,
                   std::int64_t residue) noexcept;
/// The range of the source that the output pixels [begin, end) need along an
/// axis; nothing outside of the source.
ConvRange conv_source(const Conv& conv, ConvMakes makes, int axis,
                      const ConvRange& places) noexcept;

/// The strides of some channels of some samples.
struct ConvImage {
  std::int64_t sample = 0;  // between samples, in elements
  std::int64_t plane = 0;   // between channels
  std::int64_t pitch = 0;   // between rows
  std::int64_t column = 1;  // between columns
};

/// A copy of `channels` planes of rows x columns, spread over the cache.
ConvImage conv_image(std::int64_t channels, std::int64_t rows,
                     std::int64_t columns, Bytes element) noexcept;
/// A copy of one panel of channels, these side by side.
ConvImage conv_image_by_lane(std::int64_t panel, std::int64_t rows,
                             std::int64_t columns) noexcept;

/// A step of a tile: which element each of its rows takes, counted from where
/// the row begins, and the vectors that it is multiplied by.
struct ConvStep {
  std::int32_t at;
  std::int32_t b;
};

/// A list of steps goes on by as many, of which only vectors are fetched.
inline constexpr std::int64_t kConvStepsAhead = 8;

struct ConvPlan {
  std::int64_t place_parts = 1;    // parts of the bands
  std::int64_t channel_parts = 1;  // of the result's channels, or of o
  std::int64_t source_parts = 1;   // conv2d_weight: of x's channels
  std::int64_t part_channels = 0;  // a multiple of the lanes
  std::int64_t part_source = 0;    // conv2d_weight: x's channels
  std::int64_t band_samples = 0;   // above 1: whole samples
  std::int64_t band_rows = 0;
  std::int64_t bands = 0;           // of all samples
  std::int64_t block_channels = 0;  // of the source, or of x
  std::int64_t block_panels = 0;    // conv2d_weight: of o at a time
  bool keeps_weights = false;       // all of a part's, packed once
  Bytes table_bytes = 0;            // lists of offsets
  Bytes sum_bytes = 0;
  Bytes image_bytes = 0;
  Bytes packed_bytes = 0;  // weights, or y

  std::int64_t parts() const noexcept {
    return place_parts * channel_parts * source_parts;
  }
  Bytes part_bytes() const noexcept {
    return table_bytes + sum_bytes + image_bytes + packed_bytes;
  }
  /// Bands of one sample; 1 where a band has several.
  std::int64_t sample_bands(std::int64_t rows) const noexcept {
    return band_samples > 1 ? 1 : base::ceil_div(rows, band_rows);
  }
};

/// No parts where there is nothing to do.
ConvPlan plan_conv(const Conv& conv, ConvMakes makes, const GemmTile& tile,
                   Bytes element, int threads) noexcept;

}  // namespace neap::kernels
