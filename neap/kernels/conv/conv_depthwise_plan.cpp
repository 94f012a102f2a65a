// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "neap/base/bytes.hpp"
#include "neap/base/ceil_div.hpp"
#include "neap/kernels/conv/conv_depthwise.hpp"

namespace neap::kernels {
namespace {

using base::ceil_div;

constexpr std::int64_t kPartWork = 64 * 1024;  // multiply-adds worth a thread
constexpr std::int64_t kLeastChannels = 8;     // conv2d_weight
constexpr Bytes kBandBytes = 128 * kKiB;       // of x and y, by lane
constexpr Bytes kLine = 64;

/// For a divisor of any sign and a >= 0 or a < 0: rounded downwards.
std::int64_t floor_div(std::int64_t a, std::int64_t b) noexcept {
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

bool is_each_channel(const Conv& conv) noexcept {
  return conv.x_channels() == 1 && conv.y_channels() == 1;
}

const Strided& source_of(const Conv& conv, ConvMakes makes) noexcept {
  return makes == ConvMakes::kX ? conv.y : conv.x;
}

/// Whether there are vectors of places for such steps, rows of taps for such
/// kernels.
bool has_lines(const Conv& conv) noexcept {
  const ConvAttrs& a = conv.attrs;
  const bool is_square = a.kernel[0] == a.kernel[1];
  const bool is_plain = a.stride == std::array<std::int64_t, 2>{1, 1};
  const bool is_halved =
      a.stride == std::array<std::int64_t, 2>{2, 2} && a.dilation[0] == 1;
  return (is_plain || is_halved) &&
         (a.kernel[0] == 1 ||
          (is_square &&
           (a.kernel[0] == 3 || a.kernel[0] == 5 || a.kernel[0] == 7)));
}

/// Least width of the result: narrower planes leave too much of a vector idle,
/// the more so where lanes are spread or there are many taps (measured).
std::int64_t least_width(const Conv& conv, ConvMakes makes,
                         std::int64_t lanes) noexcept {
  const bool is_strided = conv.attrs.stride[1] > 1;
  if (conv.attrs.kernel[0] <= 3) {
    return is_strided ? lanes * 3 / 4 : lanes / 2;
  }
  return is_strided && makes == ConvMakes::kX ? lanes * 3 / 2 : lanes * 3 / 4;
}

/// A bit for each lane for which `takes`.
template <class Takes>
DepthwiseLanes lanes_that(std::int64_t lanes, const Takes& takes) noexcept {
  DepthwiseLanes bits{};
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    if (takes(lane)) {
      bits[static_cast<std::size_t>(lane / 8)] |=
          static_cast<std::uint8_t>(1U << (lane % 8));
    }
  }
  return bits;
}

void plan_places(const Conv& conv, ConvMakes makes, std::int64_t lanes,
                 Bytes element, ConvDepthwisePlan& plan) noexcept {
  const ConvAttrs& a = conv.attrs;
  const bool is_y = makes == ConvMakes::kY;
  const auto& extent = is_y ? a.y_extent : a.x_extent;
  const std::int64_t taps = a.kernel[0] * a.kernel[1];
  plan.planes = conv.samples() * conv.w.shape[0];
  plan.slots = ceil_div(extent[1], lanes);
  const std::int64_t columns = plan.slots * a.kernel[1];
  plan.table_bytes = base::round_up(
      columns * static_cast<Bytes>(sizeof(DepthwiseColumn)), kLine);
  plan.part_bytes = plan.table_bytes + base::round_up(taps * element, kLine);
}

void plan_weights(const Conv& conv, std::int64_t lanes, Bytes element,
                  ConvDepthwisePlan& plan) noexcept {
  const ConvAttrs& a = conv.attrs;
  plan.planes = ceil_div(conv.w.shape[0], lanes);
  const ConvRange columns =
      conv_source(conv, ConvMakes::kW, 1, {0, a.y_extent[1]});
  const Bytes place = lanes * element;
  const Bytes row = (a.y_extent[1] + a.stride[0] * columns.size()) * place;
  plan.band_rows = std::clamp<std::int64_t>(kBandBytes / row, 1, a.y_extent[0]);
  std::int64_t rows = 0;
  for (std::int64_t i = 0; i < a.y_extent[0]; i += plan.band_rows) {
    const ConvRange band{i, std::min(i + plan.band_rows, a.y_extent[0])};
    rows = std::max(rows, conv_source(conv, ConvMakes::kW, 0, band).size());
  }
  plan.table_bytes = a.kernel[0] * a.kernel[1] * place;  // the sums
  plan.part_bytes = plan.table_bytes + rows * columns.size() * place +
                    plan.band_rows * a.y_extent[1] * place;
}

}  // namespace

bool conv_is_depthwise(const Conv& conv, ConvMakes makes,
                       std::int64_t lanes) noexcept {
  const ConvAttrs& a = conv.attrs;
  if (!is_each_channel(conv) || conv.samples() * conv.w.shape[0] == 0 ||
      a.x_extent[0] * a.x_extent[1] * a.y_extent[0] * a.y_extent[1] == 0) {
    return false;
  }
  if (makes == ConvMakes::kW) {
    return a.kernel[0] == a.kernel[1] && conv.w.shape[0] >= kLeastChannels &&
           (a.kernel[0] == 3 || a.kernel[0] == 5 || a.kernel[0] == 7);
  }
  const std::int64_t width =
      makes == ConvMakes::kY ? a.y_extent[1] : a.x_extent[1];
  return source_of(conv, makes).strides[3] == 1 && has_lines(conv) &&
         width >= least_width(conv, makes, lanes);
}

ConvDepthwisePlan plan_conv_depthwise(const Conv& conv, ConvMakes makes,
                                      std::int64_t lanes, Bytes element,
                                      int threads) noexcept {
  ConvDepthwisePlan plan;
  if (makes == ConvMakes::kW) {
    plan_weights(conv, lanes, element, plan);
  } else {
    plan_places(conv, makes, lanes, element, plan);
  }
  const ConvAttrs& a = conv.attrs;
  const double worth = static_cast<double>(conv.samples() * conv.w.shape[0]) *
                       static_cast<double>(a.y_extent[0] * a.y_extent[1]) *
                       static_cast<double>(a.kernel[0] * a.kernel[1]) /
                       static_cast<double>(kPartWork);
  const std::int64_t parts = std::clamp<std::int64_t>(
      worth < threads ? static_cast<std::int64_t>(worth) : threads, 1,
      plan.planes);
  plan.part_planes = ceil_div(plan.planes, parts);
  plan.parts = ceil_div(plan.planes, plan.part_planes);
  return plan;
}

std::int64_t depthwise_residues(const Conv& conv) noexcept {
  const ConvAttrs& a = conv.attrs;
  return a.kernel[0] == 1 ? 1 : a.dilation[0];
}

DepthwiseLines depthwise_lines(const Conv& conv, ConvMakes makes,
                               std::int64_t residue) noexcept {
  const ConvAttrs& a = conv.attrs;
  const std::int64_t padding = a.padding[0];
  const std::int64_t step = depthwise_residues(conv);
  const bool is_y = makes == ConvMakes::kY;
  const std::int64_t extent = is_y ? a.y_extent[0] : a.x_extent[0];
  const std::int64_t source = is_y ? a.x_extent[0] : a.y_extent[0];
  DepthwiseLines lines{.end = ceil_div(extent - residue, step)};
  if (is_y) {
    lines.result = residue;
    lines.result_step = step;
    lines.source = residue - padding;
    lines.source_step = step;
  } else {
    // Rows are walked from the last one upwards, so that taps and rows of y go
    // the same way. With a stride of 2, line 0 takes tap 0, if need be in place
    // of a row.
    const std::int64_t last = extent - 1 - residue;
    if (a.stride[0] == 2) {
      lines.first = (last + padding) % 2;
      lines.end += lines.first;
    }
    lines.result = last + lines.first;
    lines.result_step = -step;
    lines.source = (lines.result + padding) / a.stride[0];
    lines.source_step = -step;
  }
  // 0 <= source + number * source_step < extent of the source
  if (lines.source_step > 0) {
    lines.inside = {-floor_div(lines.source, step),
                    floor_div(source - 1 - lines.source, step) + 1};
  } else {
    lines.inside = {-floor_div(source - 1 - lines.source, step),
                    floor_div(lines.source, step) + 1};
  }
  lines.inside.begin = std::max<std::int64_t>(lines.inside.begin, 0);
  return lines;
}

DepthwiseColumn depthwise_column(const Conv& conv, ConvMakes makes,
                                 std::int64_t place, std::int64_t tap,
                                 std::int64_t lanes) noexcept {
  const ConvAttrs& a = conv.attrs;
  const bool is_y = makes == ConvMakes::kY;
  const std::int64_t way = a.padding[1] - tap * a.dilation[1];
  const std::int64_t step = a.stride[1];
  const std::int64_t extent = is_y ? a.x_extent[1] : a.y_extent[1];
  const auto has = [extent](std::int64_t at) { return at >= 0 && at < extent; };
  DepthwiseColumn column;
  if (is_y) {
    column.at = place * step - way;
    column.takes = lanes_that(
        lanes, [&](auto lane) { return has(column.at + lane * step); });
    column.low =
        lanes_that(lanes, [&](auto lane) { return has(column.at + lane); });
    column.high = lanes_that(
        lanes, [&](auto lane) { return has(column.at + lanes + lane); });
    return column;
  }
  const std::int64_t from = place + way;  // of the first lane, times the step
  column.at = -floor_div(-from, step);
  column.takes = lanes_that(lanes, [&](auto lane) {
    return (from + lane) % step == 0 && has((from + lane) / step);
  });
  column.low =
      lanes_that(lanes, [&](auto lane) { return has(column.at + lane); });
  return column;
}

}  // namespace neap::kernels
