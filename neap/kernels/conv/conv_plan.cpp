// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/conv/conv_plan.hpp"
#include "neap/base/ceil_div.hpp"

#include <algorithm>
#include <limits>

namespace neap::kernels {
namespace {

using base::ceil_div;

constexpr std::int64_t kBlockDepth = 640;  // channels x taps, at most
constexpr Bytes kSumBytes = 512 * kKiB;
constexpr Bytes kImageBytes = 256 * kKiB;
// With many weights, that come anew from farther away for each band, bands are
// larger.
constexpr Bytes kManyWeights = 1024 * kKiB;
constexpr Bytes kLargeSumBytes = 1024 * kKiB;
constexpr Bytes kLargeImageBytes = 512 * kKiB;
constexpr Bytes kKeptBytes = 2304 * kKiB;      // of packed weights
constexpr std::int64_t kMostPlaces = 1024;     // of a band
constexpr std::int64_t kLeastPlaces = 48;      // some tiles
constexpr std::int64_t kPartWork = 64 * 1024;  // multiply-adds worth a thread
constexpr Bytes kLine = 64;
constexpr Bytes kConflictBytes = 4096;  // apart: one place of the cache

// In cycles for an element, where a vector of multiply-adds takes one.
constexpr double kPackCost = 0.5;
constexpr double kCopyCost = 0.4;

std::int64_t round_to(std::int64_t a, std::int64_t unit) noexcept {
  return ceil_div(a, unit) * unit;
}

/// `extent` in equal pieces of at most `limit`; at least 1.
std::int64_t balanced(std::int64_t extent, std::int64_t limit) noexcept {
  const std::int64_t most = std::max<std::int64_t>(extent, 1);
  return ceil_div(most, ceil_div(most, std::max<std::int64_t>(limit, 1)));
}

double as_double(std::int64_t x) noexcept {
  return static_cast<double>(x);
}

/// Finds the blocks of one grid of parts, and what its largest part costs.
class Planner {
 public:
  Planner(const Conv& conv, ConvMakes makes, const GemmTile& tile,
          Bytes element) noexcept
      : conv_(conv),
        makes_(makes),
        geometry_(conv_geometry(conv, makes)),
        tile_(tile),
        element_(element) {
    const double steps =
        as_double(conv.attrs.stride[0]) * as_double(conv.attrs.stride[1]);
    // Elements of the image for each place, and taps that reach one place.
    spread_ = makes == ConvMakes::kX ? 1.0 / steps : steps;
    taps_ = makes == ConvMakes::kX ? as_double(geometry_.taps()) / steps
                                   : as_double(geometry_.taps());
  }

  ConvPlan best(int threads) const noexcept {
    ConvPlan best;
    best.place_parts = 0;
    if (geometry_.groups * result_size() == 0) {
      return best;
    }
    const double worth = work() / static_cast<double>(kPartWork);
    const std::int64_t most =
        worth < threads ? std::max<std::int64_t>(1, static_cast<int>(worth))
                        : threads;
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t parts = 1; parts <= most; ++parts) {
      double cost = 0.0;
      const ConvPlan plan = makes_ == ConvMakes::kW
                                ? of_weights(parts, most / parts, cost)
                                : of_places(parts, most / parts, cost);
      if (cost < least) {
        least = cost;
        best = plan;
      }
    }
    set_bytes(best);
    return best;
  }

 private:
  std::int64_t result_size() const noexcept {
    if (makes_ == ConvMakes::kW) {
      return geometry_.channels * geometry_.source_channels;
    }
    return geometry_.samples * geometry_.channels * geometry_.places();
  }
  double work() const noexcept {
    return as_double(geometry_.groups) * as_double(geometry_.samples) *
           as_double(geometry_.places()) * as_double(geometry_.channels) *
           as_double(geometry_.source_channels) * taps_;
  }

  void split_channels(ConvPlan& plan, std::int64_t parts) const noexcept {
    plan.part_channels =
        round_to(ceil_div(geometry_.channels, parts), tile_.lanes);
    plan.channel_parts = ceil_div(geometry_.channels, plan.part_channels);
  }

  /// Bands of at most so many places, of which each part gets one at least.
  void split_places(ConvPlan& plan, double limit,
                    std::int64_t parts) const noexcept {
    const std::int64_t places = geometry_.places();
    plan.band_samples = 1;
    plan.band_rows = std::max<std::int64_t>(geometry_.extent[0], 1);
    if (geometry_.samples * places == 0) {
      return;  // no bands
    }
    const std::int64_t share = ceil_div(geometry_.samples * places, parts);
    const auto most = std::min(
        std::clamp(static_cast<std::int64_t>(limit), kLeastPlaces, kMostPlaces),
        share);
    plan.band_samples =
        std::clamp<std::int64_t>(most / places, 1, geometry_.samples);
    if (plan.band_samples == 1) {
      plan.band_rows =
          balanced(geometry_.extent[0], most / geometry_.extent[1]);
    }
    plan.bands = ceil_div(geometry_.samples, plan.band_samples) *
                 plan.sample_bands(geometry_.extent[0]);
  }

  ConvPlan of_places(std::int64_t place_parts, std::int64_t channel_parts,
                     double& cost) const noexcept {
    ConvPlan plan;
    split_channels(plan, channel_parts);
    plan.block_channels =
        balanced(geometry_.source_channels, kBlockDepth / geometry_.taps());
    plan.keeps_weights = weight_bytes(plan) <= kKeptBytes;
    const bool is_large = weight_bytes(plan) > kManyWeights;
    const double by_sums = as_double(is_large ? kLargeSumBytes : kSumBytes) /
                           as_double(plan.part_channels * element_);
    const double by_image =
        as_double(is_large ? kLargeImageBytes : kImageBytes) /
        (as_double(plan.block_channels * element_) * spread_);
    split_places(plan, std::min(by_sums, by_image / copied_lanes()),
                 place_parts);
    plan.place_parts = std::min(place_parts, plan.bands);
    const std::int64_t bands = ceil_div(plan.bands, plan.place_parts);
    const double places = as_double(bands * band_places(plan));
    const double weights = as_double(geometry_.source_channels *
                                     geometry_.taps() * plan.part_channels);
    const double source = as_double(geometry_.source_channels);
    cost = places * source * taps_ * as_double(plan.part_channels) /
               as_double(tile_.lanes) +
           kPackCost * weights * (plan.keeps_weights ? 1.0 : as_double(bands)) +
           kCopyCost * places * source * spread_;
    return plan;
  }

  ConvPlan of_weights(std::int64_t source_parts, std::int64_t channel_parts,
                      double& cost) const noexcept {
    ConvPlan plan;
    split_channels(plan, channel_parts);
    plan.part_source = ceil_div(geometry_.source_channels, source_parts);
    plan.source_parts = ceil_div(geometry_.source_channels, plan.part_source);
    const std::int64_t panels = ceil_div(plan.part_channels, tile_.columns());
    const Bytes tap_sums = geometry_.taps() * tile_.columns() * element_;
    plan.block_channels =
        balanced(plan.part_source, std::min(kBlockDepth / geometry_.taps(),
                                            kSumBytes / (panels * tap_sums)));
    plan.block_panels = std::clamp<std::int64_t>(
        kSumBytes / (plan.block_channels * tap_sums), 1, panels);
    split_places(
        plan,
        as_double(kImageBytes) / (as_double(plan.block_channels * element_) *
                                  spread_ * copied_lanes()),
        1);
    const double places = as_double(geometry_.samples * geometry_.places());
    const double source = as_double(plan.part_source);
    const double channels = as_double(plan.part_channels);
    cost = places *
           (source * taps_ * channels / as_double(tile_.lanes) +
            kCopyCost * source * spread_ +
            kPackCost * channels *
                as_double(ceil_div(plan.part_source, plan.block_channels)));
    return plan;
  }

  double copied_lanes() const noexcept {
    return geometry_.is_depthwise ? as_double(tile_.columns()) : 1.0;
  }
  std::int64_t band_places(const ConvPlan& plan) const noexcept {
    return plan.band_samples * plan.band_rows * geometry_.extent[1];
  }
  std::int64_t padded_channels(const ConvPlan& plan) const noexcept {
    return round_to(plan.part_channels, tile_.columns());
  }
  Bytes weight_bytes(const ConvPlan& plan) const noexcept {
    return geometry_.source_channels * geometry_.taps() *
           padded_channels(plan) * element_;
  }

  Bytes image_bytes(const ConvPlan& plan) const noexcept {
    std::int64_t rows = 0;
    for (std::int64_t row = 0; row < geometry_.extent[0];
         row += plan.band_rows) {
      const ConvRange band{row,
                           std::min(row + plan.band_rows, geometry_.extent[0])};
      rows = std::max(rows, conv_source(conv_, makes_, 0, band).size());
    }
    const std::int64_t columns =
        conv_source(conv_, makes_, 1, {0, geometry_.extent[1]}).size();
    const ConvImage image =
        geometry_.is_depthwise
            ? conv_image_by_lane(tile_.columns(), rows, columns)
            : conv_image(plan.block_channels, rows, columns, element_);
    return plan.band_samples * image.sample * element_;
  }

  void set_bytes(ConvPlan& plan) const noexcept {
    constexpr auto kIndex = static_cast<Bytes>(sizeof(std::int32_t));
    constexpr auto kStep = static_cast<Bytes>(sizeof(ConvStep));
    const std::int64_t panel = tile_.columns();
    const std::int64_t places = band_places(plan);
    const std::int64_t depth = plan.block_channels * geometry_.taps();
    if (makes_ == ConvMakes::kW) {
      // Classes of columns, and for each the channels and taps.
      const std::int64_t classes =
          std::min(geometry_.extent[1], 2 * geometry_.kernel[1] + 1);
      plan.table_bytes = (places + kConvStepsAhead) * kStep +
                         2 * plan.block_channels * kIndex +
                         classes * (3 + 2 * depth) * kIndex;
      plan.sum_bytes = plan.block_panels * depth * panel * element_;
      plan.packed_bytes = places * panel * element_;
    } else {
      plan.table_bytes =
          (depth + kConvStepsAhead) * kStep + 2 * places * kIndex;
      plan.sum_bytes = places * padded_channels(plan) * element_;
      plan.packed_bytes =
          plan.keeps_weights ? weight_bytes(plan) : depth * panel * element_;
    }
    plan.table_bytes = base::round_up(plan.table_bytes, kLine);
    plan.image_bytes = base::round_up(image_bytes(plan), kLine);
    plan.sum_bytes = base::round_up(plan.sum_bytes, kLine);
    plan.packed_bytes = base::round_up(plan.packed_bytes, kLine);
  }

  const Conv& conv_;
  const ConvMakes makes_;
  const ConvGeometry geometry_;
  const GemmTile tile_;
  const Bytes element_;
  double spread_ = 1.0;
  double taps_ = 1.0;
};

}  // namespace

ConvRange ConvAxis::reached(std::int64_t tap) const noexcept {
  if (!may_take(tap)) {
    return {};
  }
  const std::int64_t before = -at(0, tap);  // that the source begins
  const std::int64_t left = source - 1 + before;
  const std::int64_t begin = before <= 0 ? 0 : ceil_div(before, source_step);
  const std::int64_t end = left < 0 ? 0 : left / source_step + 1;
  return {begin, std::max(begin, std::min(end, count))};
}

std::int64_t ConvAxis::taken(std::int64_t place) const noexcept {
  std::int64_t sum = 0;
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    sum += takes(place, tap) ? 1 : 0;
  }
  return sum;
}

std::int64_t ConvAxis::next_class(std::int64_t place,
                                  std::int64_t limit) const noexcept {
  std::int64_t next = limit;
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    const std::int64_t from = at(place, tap);
    if (may_take(tap) && from < source) {  // it enters, or it leaves
      const std::int64_t way = from < 0 ? -from : source - from;
      next = std::min(next, place + ceil_div(way, source_step));
    }
  }
  return next;
}

ConvRange ConvAxis::among(const ConvRange& result) const noexcept {
  const std::int64_t begin = std::min(place_from(result.begin), count);
  return {begin, std::max(begin, std::min(place_from(result.end), count))};
}

ConvGeometry conv_geometry(const Conv& conv, ConvMakes makes) noexcept {
  const ConvAttrs& a = conv.attrs;
  ConvGeometry geometry{.groups = a.groups,
                        .samples = conv.samples(),
                        .source_channels = conv.x_channels(),
                        .channels = conv.y_channels(),
                        .extent = a.y_extent,
                        .source = a.x_extent,
                        .kernel = a.kernel};
  if (makes == ConvMakes::kX) {
    std::swap(geometry.source_channels, geometry.channels);
    std::swap(geometry.extent, geometry.source);
    // Residues that no output pixel has are not counted.
    geometry.residues = {std::min(a.stride[0], a.x_extent[0]),
                         std::min(a.stride[1], a.x_extent[1])};
  }
  if (a.groups > 1 && geometry.channels == 1 && geometry.source_channels == 1) {
    std::swap(geometry.channels, geometry.groups);
    geometry.is_depthwise = true;
  }
  if (conv.is_bf16()) {
    std::int64_t& paired =
        makes == ConvMakes::kW ? geometry.samples : geometry.source_channels;
    paired = ceil_div(paired, 2);
  }
  return geometry;
}

ConvAxis conv_axis(const Conv& conv, ConvMakes makes, int axis,
                   std::int64_t residue) noexcept {
  const auto i = static_cast<std::size_t>(axis);
  const ConvAttrs& a = conv.attrs;
  ConvAxis out{.taps = a.kernel[i], .dilation = a.dilation[i]};
  if (makes != ConvMakes::kX) {
    out.source = a.x_extent[i];
    out.count = a.y_extent[i];
    out.source_step = a.stride[i];
    out.origin = -a.padding[i];
    return out;
  }
  // Place h of x takes from place i of y by tap p where h + padding = i stride
  // + p dilation; the residue is what that leaves when divided by the stride.
  out.is_transposed = true;
  if (a.stride[i] > a.x_extent[i]) {  // the residue of place number `residue`
    residue = (a.padding[i] + residue) % a.stride[i];
  }
  out.source = a.y_extent[i];
  out.stride = a.stride[i];
  out.residue = residue;
  out.origin = a.padding[i] > residue
                   ? ceil_div(a.padding[i] - residue, a.stride[i])
                   : 0;
  out.first = out.origin * a.stride[i] + residue - a.padding[i];
  out.step = a.stride[i];
  out.count = out.first < a.x_extent[i]
                  ? (a.x_extent[i] - 1 - out.first) / a.stride[i] + 1
                  : 0;
  return out;
}

ConvRange conv_source(const Conv& conv, ConvMakes makes, int axis,
                      const ConvRange& places) noexcept {
  const ConvGeometry geometry = conv_geometry(conv, makes);
  const auto i = static_cast<std::size_t>(axis);
  std::int64_t first = geometry.source[i];
  std::int64_t last = -1;
  for (std::int64_t r = 0; r < geometry.residues[i]; ++r) {
    const ConvAxis along = conv_axis(conv, makes, axis, r);
    const ConvRange among = along.among(places);
    for (std::int64_t tap = 0; tap < along.taps && among.size() > 0; ++tap) {
      if (along.may_take(tap)) {
        first = std::min(first, along.at(among.begin, tap));
        last = std::max(last, along.at(among.end - 1, tap));
      }
    }
  }
  first = std::max<std::int64_t>(first, 0);
  last = std::min(last, geometry.source[i] - 1);
  return first <= last ? ConvRange{first, last + 1} : ConvRange{0, 0};
}

ConvImage conv_image(std::int64_t channels, std::int64_t rows,
                     std::int64_t columns, Bytes element) noexcept {
  ConvImage image{.plane = rows * columns, .pitch = columns};
  const Bytes rest = image.plane * element % kConflictBytes;
  if (rest < kLine || rest > kConflictBytes - kLine) {
    image.plane += 2 * kLine / element;
  }
  image.sample = channels * image.plane;
  return image;
}

ConvImage conv_image_by_lane(std::int64_t panel, std::int64_t rows,
                             std::int64_t columns) noexcept {
  return {.sample = rows * columns * panel,
          .pitch = columns * panel,
          .column = panel};
}

ConvPlan plan_conv(const Conv& conv, ConvMakes makes, const GemmTile& tile,
                   Bytes element, int threads) noexcept {
  return Planner(conv, makes, tile, element).best(threads);
}

}  // namespace neap::kernels
