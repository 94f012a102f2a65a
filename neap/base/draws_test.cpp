// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/draws.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <vector>

#include "hwy/targets.h"
#include "neap/base/drawn.hpp"

namespace neap::base {
namespace {

constexpr DrawKey kKey{0x123456789ABCDEFU, 0x1F00000003U};

// Runs `body` at each instruction set of this processor, then at the best.
void at_each_target(const std::function<void()>& body) {
  const std::int64_t supported = hwy::SupportedTargets();
  for (std::int64_t rest = supported; rest != 0; rest &= rest - 1) {
    SCOPED_TRACE(hwy::TargetName(rest & -rest));
    hwy::SetSupportedTargetsForTest(rest & -rest);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

// Both draws of a range, and whether they have the same bits; a guard follows.
template <class T, class Draw, class One>
void expect_bits(const DrawnRange& range, const Draw& draw, const One& one) {
  constexpr auto kGuard = static_cast<T>(77);
  const auto count = static_cast<std::size_t>(range.count);
  std::vector<T> got(count + 1, kGuard);
  draw(range, got.data());
  for (std::size_t i = 0; i < count; ++i) {
    const T want = one(range.key.block(range.first + i));
    ASSERT_EQ(std::memcmp(&got[i], &want, sizeof(T)), 0)
        << i << " of " << count << " from " << range.first << ": " << got[i]
        << " for " << want;
  }
  EXPECT_EQ(got[count], kGuard);
}

// Short ranges, and those that cross 2^32 or begin beyond it.
template <class T, class Draw, class One>
void expect_ranges(const Draw& draw, const One& one) {
  at_each_target([&] {
    for (std::int64_t count = 0; count < 40; ++count) {
      expect_bits<T>({kKey, 3, count}, draw, one);
    }
    expect_bits<T>({kKey, 0xFFFFFFF0U, 100}, draw, one);
    expect_bits<T>({kKey, 0x7FFFFFFFFFFU, 1000}, draw, one);
    expect_bits<T>({{}, 0, 5000}, draw, one);
  });
}

TEST(DrawsTest, UniformNumbersAreThoseOfOneElementAfterTheOther) {
  const auto draw = [](const DrawnRange& range, auto* y) {
    draw_uniform(range, y);
  };
  expect_ranges<float>(draw, drawn_uniform<float>);
  expect_ranges<double>(draw, drawn_uniform<double>);
}

TEST(DrawsTest, NormalNumbersAreThoseOfOneElementAfterTheOther) {
  const auto draw = [](const DrawnRange& range, auto* y) {
    draw_normal(range, {}, y);
  };
  expect_ranges<float>(draw, drawn_normal<float>);
  expect_ranges<double>(draw, drawn_normal<double>);
}

TEST(DrawsTest, AMillionNormalNumbersHaveTheBitsOfTheStandardLibrary) {
  const NormalShape shapes[] = {{}, {0.0, 0.02}, {-3.0, 1e-3}, {1.5, 0.0}};
  for (const NormalShape& shape : shapes) {
    expect_bits<float>(
        {{11, 5}, 7, 1000003},
        [&shape](const DrawnRange& range, float* y) {
          draw_normal(range, shape, y);
        },
        [&shape](const PhiloxBlock& words) {
          return static_cast<float>(shape.mean +
                                    shape.stddev * normal_f64(words));
        });
  }
}

TEST(DrawsTest, IntegersAreThoseOfOneElementAfterTheOther) {
  constexpr std::int64_t kLow = -5;
  for (const std::int64_t high : {-4L, 90L, 0x7FFFFFFFL, 0x7FFFFFFFFFFFFFFFL}) {
    const DrawnInteger one(kLow, high);
    const auto draw = [high](const DrawnRange& range, auto* y) {
      draw_integers(range, kLow, high, y);
    };
    expect_ranges<std::int64_t>(draw, one);
    expect_ranges<std::int32_t>(draw, [&one](const PhiloxBlock& words) {
      return static_cast<std::int32_t>(one(words));
    });
  }
}

}  // namespace
}  // namespace neap::base
