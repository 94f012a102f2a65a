// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "neap/base/bytes.hpp"
#include "neap/base/ceil_div.hpp"
#include "neap/kernels/conv/conv_few.hpp"

namespace neap::kernels {
namespace {

using base::ceil_div;

constexpr std::int64_t kMostChannels = 5;
constexpr std::int64_t kMostRows = 512;
constexpr std::int64_t kBandPlaces = 64;       // of y at a time, about
constexpr std::int64_t kPartWork = 64 * 1024;  // multiply-adds worth a thread
constexpr Bytes kWindowBytes = 64 * kKiB;      // of x at a time, about
constexpr Bytes kLine = 64;

/// Counts the classes of pixels along one axis, by the taps that reach them.
std::int64_t count_classes(const ConvAxis& axis) noexcept {
  std::int64_t count = 0;
  for (std::int64_t place = 0; place < axis.count; ++count) {
    place = axis.next_class(place, axis.count);
  }
  return count;
}

/// Length of x that so many pixels of y reach, taps outside of x included.
std::int64_t reach(const ConvAxis& axis, std::int64_t places) noexcept {
  return (places - 1) * axis.source_step + (axis.taps - 1) * axis.dilation + 1;
}

}  // namespace

bool conv_has_few(const Conv& conv, ConvMakes makes) noexcept {
  const ConvAttrs& a = conv.attrs;
  const std::int64_t taps = a.kernel[0] * a.kernel[1];
  return makes == ConvMakes::kW && a.groups == 1 && taps > 1 &&
         conv.x_channels() > 0 && conv.x_channels() <= kMostChannels &&
         conv.x_channels() * taps <= kMostRows && conv.y_channels() > 0 &&
         conv.samples() * a.y_extent[0] * a.y_extent[1] > 0 &&
         a.x_extent[0] * a.x_extent[1] > 0;
}

ConvFewPlan plan_conv_few(const Conv& conv, std::int64_t lanes, Bytes element,
                          int threads) noexcept {
  const ConvAxis down = conv_axis(conv, ConvMakes::kW, 0, 0);
  const ConvAxis along = conv_axis(conv, ConvMakes::kW, 1, 0);
  const std::int64_t channels = conv.y_channels();
  const std::int64_t panel = 2 * lanes;
  ConvFewPlan plan;
  plan.rows = conv.x_channels() * down.taps * along.taps;
  plan.row_runs = count_classes(along);
  plan.classes = count_classes(down) * plan.row_runs;
  const double worth = static_cast<double>(conv.samples() * plan.rows) *
                       static_cast<double>(down.count * along.count) *
                       static_cast<double>(channels) /
                       static_cast<double>(kPartWork);
  const std::int64_t most = std::clamp<std::int64_t>(
      worth < threads ? static_cast<std::int64_t>(worth) : threads, 1,
      ceil_div(channels, lanes));
  plan.part_channels = ceil_div(ceil_div(channels, most), lanes) * lanes;
  plan.parts = ceil_div(channels, plan.part_channels);
  plan.band_rows =
      std::clamp<std::int64_t>(kBandPlaces / along.count, 1, down.count);
  plan.pitch = reach(along, along.count);
  const Bytes row = conv.x_channels() * plan.pitch * down.source_step * element;
  plan.window_rows = std::max<std::int64_t>(kWindowBytes / row, 1);
  plan.window_rows =
      plan.window_rows >= down.count
          ? down.count
          : ceil_div(plan.window_rows, plan.band_rows) * plan.band_rows;
  plan.plane = reach(down, plan.window_rows) * plan.pitch;
  const auto aligned = [](Bytes bytes) { return base::round_up(bytes, kLine); };
  plan.ahead_bytes = aligned(2 * plan.band_rows * along.count *
                             static_cast<Bytes>(sizeof(std::int64_t)));
  plan.run_bytes = aligned(down.count * plan.row_runs *
                           static_cast<Bytes>(sizeof(ConvFewRun)));
  plan.lane_bytes = aligned(plan.classes * plan.rows *
                            static_cast<Bytes>(sizeof(ConvFewLanes)));
  plan.row_bytes =
      aligned(plan.rows * static_cast<Bytes>(sizeof(std::int32_t)));
  plan.image_bytes = aligned(conv.x_channels() * plan.plane * element);
  plan.packed_bytes = aligned(plan.band_rows * along.count * panel * element);
  plan.sum_bytes = aligned(ceil_div(plan.part_channels, panel) * plan.rows *
                           panel * element);
  plan.part_bytes = plan.ahead_bytes + plan.run_bytes + plan.lane_bytes +
                    plan.row_bytes + plan.image_bytes + plan.packed_bytes +
                    plan.sum_bytes;
  return plan;
}

}  // namespace neap::kernels
