// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "neap/base/bytes.hpp"
#include "neap/base/ceil_div.hpp"
#include "neap/kernels/conv/conv_direct.hpp"

namespace neap::kernels {
namespace {

using base::ceil_div;

constexpr std::int64_t kMostDepth = 64;       // with some taps
constexpr std::int64_t kMostProducts = 1024;  // with one
// Channels of the source for which places are gathered row by row.
constexpr std::int64_t kManyChannels = 16;
constexpr std::int64_t kPartWork = 64 * 1024;  // multiply-adds worth a thread
constexpr double kLeastUse = 0.85;             // of the lanes
constexpr Bytes kLine = 64;
constexpr Bytes kPanelBytes = 128 * kKiB;

double share(std::int64_t some, std::int64_t all) noexcept {
  return static_cast<double>(some) / static_cast<double>(all);
}

/// How many taps reach how many places from inside, of all pairs of them.
double reached(const ConvAxis& axis) noexcept {
  std::int64_t sum = 0;
  for (std::int64_t tap = 0; tap < axis.taps; ++tap) {
    sum += axis.reached(tap).size();
  }
  return share(sum, axis.taps * axis.count);
}

bool is_flat(const Conv& conv, ConvMakes makes, const ConvAxis& down,
             const ConvAxis& along) noexcept {
  const Strided& source = makes == ConvMakes::kY ? conv.x : conv.y;
  return down.source_step == 1 && along.source_step == 1 &&
         along.count == along.source && source.strides[3] == 1 &&
         (source.strides[2] == along.source || down.source == 1);
}

}  // namespace

bool conv_is_direct(const Conv& conv, ConvMakes makes,
                    std::int64_t lanes) noexcept {
  const ConvAttrs& a = conv.attrs;
  const ConvGeometry geometry = conv_geometry(conv, makes);
  const std::int64_t depth = geometry.source_channels * geometry.taps();
  const bool is_strided = a.stride[0] > 1 || a.stride[1] > 1;
  if (makes == ConvMakes::kW || a.groups > 1 || depth == 0 ||
      depth > (geometry.taps() == 1 ? kMostProducts : kMostDepth) ||
      geometry.samples * geometry.channels * geometry.places() == 0 ||
      (makes == ConvMakes::kX && is_strided &&
       (geometry.taps() > 1 || a.padding[0] + a.padding[1] > 0))) {
    return false;
  }
  const ConvAxis down = conv_axis(conv, makes, 0, 0);
  const ConvAxis along = conv_axis(conv, makes, 1, 0);
  const std::int64_t places = down.count * along.count;
  if (places == 0 || (geometry.source_channels < kManyChannels &&
                      !is_flat(conv, makes, down, along))) {
    return false;
  }
  const double use = share(places, ceil_div(places, lanes) * lanes) *
                     reached(down) * reached(along);
  return use >= kLeastUse;
}

ConvDirectPlan plan_conv_direct(const Conv& conv, ConvMakes makes,
                                std::int64_t lanes, Bytes element,
                                int threads) noexcept {
  const ConvGeometry geometry = conv_geometry(conv, makes);
  const ConvAxis down = conv_axis(conv, makes, 0, 0);
  const ConvAxis along = conv_axis(conv, makes, 1, 0);
  const std::int64_t places = down.count * along.count;
  ConvDirectPlan plan;
  plan.depth = geometry.source_channels * geometry.taps();
  plan.sample_slots = ceil_div(places, lanes);
  plan.slots = plan.sample_slots * geometry.samples;
  plan.tiles = ceil_div(geometry.channels, kDirectMostRows);
  plan.rows = ceil_div(geometry.channels, plan.tiles);
  plan.tiles = ceil_div(geometry.channels, plan.rows);
  plan.takes_all = reached(down) * reached(along) == 1.0;
  plan.is_flat = is_flat(conv, makes, down, along);
  plan.scatters = places != geometry.places();
  plan.panel_slots =
      std::clamp<std::int64_t>(kPanelBytes / (plan.depth * lanes * element) / 2,
                               1, kDirectMostSlots / 2) *
      2;
  constexpr std::int64_t kUnit = 2;
  const std::int64_t units = ceil_div(plan.slots, kUnit);
  const double worth = static_cast<double>(geometry.samples * places) *
                       static_cast<double>(geometry.channels * plan.depth) /
                       static_cast<double>(kPartWork);
  const std::int64_t parts = std::clamp<std::int64_t>(
      worth < threads ? static_cast<std::int64_t>(worth) : threads, 1, units);
  plan.part_slots = ceil_div(units, parts) * kUnit;
  plan.parts = ceil_div(plan.slots, plan.part_slots);
  plan.lane_bytes = base::round_up(
      (plan.sample_slots * geometry.taps() + plan.panel_slots * plan.depth) *
          static_cast<Bytes>(sizeof(ConvLanes)),
      kLine);
  plan.part_bytes =
      plan.lane_bytes +
      base::round_up((plan.tiles * (plan.depth + 1) * kDirectRows +
                      plan.depth * plan.panel_slots * lanes) *
                         element,
                     kLine);
  return plan;
}

}  // namespace neap::kernels
