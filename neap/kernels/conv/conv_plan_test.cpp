// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/conv/conv_plan.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "neap/kernels/conv/conv_direct.hpp"

namespace neap::kernels {
namespace {

Strided image(const Shape& shape) {
  return {nullptr, f32, shape, base::row_major_strides(shape)};
}

// A square image and kernel.
Conv conv_of(std::int64_t n, std::int64_t c, std::int64_t o, std::int64_t size,
             ConvAttrs attrs) {
  attrs.x_extent = {size, size};
  for (std::size_t i = 0; i < 2; ++i) {
    attrs.y_extent[i] = (size + 2 * attrs.padding[i] -
                         attrs.dilation[i] * (attrs.kernel[i] - 1) - 1) /
                            attrs.stride[i] +
                        1;
  }
  return {.x = image({n, c, size, size}),
          .w = image({o, c / attrs.groups, attrs.kernel[0], attrs.kernel[1]}),
          .y = image({n, o, attrs.y_extent[0], attrs.y_extent[1]}),
          .bias = {},
          .attrs = attrs};
}

std::vector<ConvAttrs> geometries() {
  return {{.padding = {1, 1}, .kernel = {3, 3}},
          {.stride = {2, 2}, .padding = {1, 1}, .kernel = {3, 3}},
          {.stride = {3, 3}, .kernel = {1, 1}},
          {.stride = {2, 2}, .padding = {5, 5}, .kernel = {4, 4}},
          {.stride = {3, 3},
           .padding = {4, 4},
           .dilation = {2, 2},
           .kernel = {5, 5}}};
}

// The taps that reach a place of the result, by the definition.
bool reaches(const Conv& conv, ConvMakes makes, std::int64_t place,
             std::int64_t tap) {
  const ConvAttrs& a = conv.attrs;
  const std::int64_t by_tap = tap * a.dilation[0] - a.padding[0];
  if (makes == ConvMakes::kY) {
    const std::int64_t at = place * a.stride[0] + by_tap;
    return at >= 0 && at < a.x_extent[0];
  }
  const std::int64_t rest = place - by_tap;
  return rest >= 0 && rest % a.stride[0] == 0 &&
         rest / a.stride[0] < a.y_extent[0];
}

TEST(ConvPlanTest, ClassesHaveEveryPlaceOnceAndOneSetOfTaps) {
  for (const ConvAttrs& attrs : geometries()) {
    const Conv conv = conv_of(1, 1, 1, 11, attrs);
    for (const ConvMakes makes : {ConvMakes::kY, ConvMakes::kX}) {
      const ConvGeometry geometry = conv_geometry(conv, makes);
      std::vector<int> seen(static_cast<std::size_t>(geometry.extent[0]));
      for (std::int64_t r = 0; r < geometry.residues[0]; ++r) {
        const ConvAxis axis = conv_axis(conv, makes, 0, r);
        for (std::int64_t i = 0; i < axis.count;) {
          const std::int64_t next = axis.next_class(i, axis.count);
          for (std::int64_t j = i; j < next; ++j) {
            const std::int64_t place = axis.first + j * axis.step;
            ++seen[static_cast<std::size_t>(place)];
            for (std::int64_t tap = 0; tap < axis.taps; ++tap) {
              EXPECT_EQ(axis.takes(i, tap), reaches(conv, makes, place, tap))
                  << "place " << place << ", tap " << tap;
            }
          }
          i = next;
        }
      }
      EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
    }
  }
}

TEST(ConvPlanTest, ScratchOfAPartHasABound) {
  constexpr GemmTile kTile{.rows = 14, .lanes = 16};
  for (const ConvMakes makes : {ConvMakes::kY, ConvMakes::kX, ConvMakes::kW}) {
    for (const std::int64_t channels : {1, 64, 512, 2048}) {
      for (const std::int64_t size : {1, 4, 32, 224}) {
        const Conv conv = conv_of(16, channels, channels, size,
                                  {.padding = {1, 1}, .kernel = {3, 3}});
        const ConvPlan plan = plan_conv(conv, makes, kTile, 4, 2);
        EXPECT_GE(plan.parts(), 1);
        EXPECT_LE(plan.parts(), 2);
        EXPECT_LE(plan.part_bytes(), 4 * kMiB)
            << channels << " channels at " << size;
      }
    }
  }
}

TEST(ConvPlanTest, FirstLayersAndKernelsOfOneElementGoByPlaces) {
  constexpr std::int64_t kLanes = 16;
  const ConvAttrs around{.padding = {1, 1}, .kernel = {3, 3}};
  const ConvAttrs one{.stride = {2, 2}, .kernel = {1, 1}};
  EXPECT_TRUE(
      conv_is_direct(conv_of(64, 1, 32, 28, around), ConvMakes::kY, kLanes));
  EXPECT_TRUE(
      conv_is_direct(conv_of(2, 64, 128, 32, one), ConvMakes::kY, kLanes));
  EXPECT_TRUE(
      conv_is_direct(conv_of(2, 64, 128, 32, one), ConvMakes::kX, kLanes));
  EXPECT_FALSE(
      conv_is_direct(conv_of(2, 64, 64, 32, around), ConvMakes::kY, kLanes));
  EXPECT_FALSE(  // lanes without a place
      conv_is_direct(conv_of(2, 1, 32, 3, around), ConvMakes::kY, kLanes));
}

TEST(ConvPlanTest, ThreadsDivideWhatIsWorthIt) {
  constexpr GemmTile kTile{.rows = 14, .lanes = 16};
  const ConvAttrs attrs{.padding = {1, 1}, .kernel = {3, 3}};
  const auto parts = [&](std::int64_t n, std::int64_t c, std::int64_t size,
                         int threads) {
    return plan_conv(conv_of(n, c, c, size, attrs), ConvMakes::kY, kTile, 4,
                     threads)
        .parts();
  };
  EXPECT_EQ(parts(1, 4, 4, 8), 1);
  EXPECT_EQ(parts(1, 64, 32, 2), 2);   // rows of one image
  EXPECT_EQ(parts(32, 64, 32, 3), 3);  // samples
  EXPECT_EQ(parts(1, 512, 4, 4), 4);   // channels
  EXPECT_EQ(parts(0, 64, 32, 2), 0);
}

}  // namespace
}  // namespace neap::kernels
