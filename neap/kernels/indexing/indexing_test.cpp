// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Kernels that find elements by index or by mask, and those that put arrays
// together: every layout against plain loops, at 1 to 3 threads.
#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/kernel_testing.hpp"
#include "neap/kernels/indexing/gather.hpp"
#include "neap/kernels/indexing/pack.hpp"
#include "neap/kernels/indexing/scatter.hpp"
#include "neap/kernels/shape/concat.hpp"
#include "neap/kernels/shape/flip.hpp"
#include "neap/kernels/shape/pad.hpp"

namespace neap::kernels {
namespace {

using testing::Array;
using testing::call;
using testing::first_of;
using testing::kLays;
using testing::Lay;
using testing::noise;

constexpr int kThreads[] = {1, 2, 3};

Array noise_of(const Shape& shape, Lay lay) {
  return Array::of<float>(
      shape, lay, [](std::int64_t i) { return static_cast<float>(noise(i)); });
}

// A few places of `extent`, over and over.
template <class Index>
Array places(const Shape& shape, std::int64_t extent, Lay lay) {
  return Array::of<Index>(shape, lay, [extent](std::int64_t i) {
    return static_cast<Index>((i * 31 + i / 7) % extent);
  });
}

// Where index element i points to in an array (rows, columns), along axis 0 or
// 1.
std::int64_t target(std::int64_t i, std::int64_t to, std::int64_t axis,
                    std::int64_t columns, std::int64_t index_columns) {
  const std::int64_t row = axis == 0 ? to : i / index_columns;
  const std::int64_t column = axis == 1 ? to : i % index_columns;
  return row * columns + column;
}

struct Case {
  Shape x;
  Shape index;
  std::int64_t axis;
};

// Lines enough for all threads; too few, so that outputs are divided.
const Case kCases[] = {{{40, 131}, {300, 131}, 0},
                       {{131, 40}, {131, 300}, 1},
                       {{50, 2}, {20000, 2}, 0},
                       {{1, 50}, {1, 20000}, 1}};

template <class Index>
void expect_gathered(const Case& c, Lay lay) {
  const AxisAttrs attrs{c.axis};
  Array x = noise_of(c.x, lay);
  Array index = places<Index>(c.index, c.x[static_cast<int>(c.axis)], lay);
  for (const int threads : kThreads) {
    Array y(c.index, f32, lay);
    call(first_of(gather_kernels, f32), {x.view(), index.view()}, {y.view()},
         &attrs, threads);
    for (std::int64_t i = 0; i < y.count(); ++i) {
      ASSERT_EQ(y.at<float>(i),
                x.at<float>(
                    target(i, index.at<Index>(i), c.axis, c.x[1], c.index[1])));
    }
    EXPECT_TRUE(y.has_intact_guards());
  }
}

TEST(GatherTest, FindsElementsInEveryLayout) {
  for (const Case& c : kCases) {
    for (const Lay lay : kLays) {
      expect_gathered<std::int32_t>(c, lay);
      expect_gathered<std::int64_t>(c, lay);
    }
  }
}

TEST(GatherTest, MovesWholeRows) {
  const AxisAttrs attrs{0};
  Array x = noise_of({50, 33}, Lay::kDense);
  Array index = places<std::int64_t>({700}, 50, Lay::kDense);
  Strided rows = index.view();
  rows.shape = {700, 33};
  rows.strides = {1, 0};
  for (const Lay lay : kLays) {
    Array y({700, 33}, f32, lay);
    call(first_of(gather_kernels, f32), {x.view(), rows}, {y.view()}, &attrs,
         2);
    for (std::int64_t i = 0; i < y.count(); ++i) {
      ASSERT_EQ(y.at<float>(i),
                x.at<float>(index.at<std::int64_t>(i / 33) * 33 + i % 33));
    }
  }
}

template <class Index>
void expect_scattered(const KernelList& list, const Case& c, Lay lay,
                      bool adds) {
  const AxisAttrs attrs{c.axis};
  Array x = noise_of(c.x, lay);
  Array src = noise_of(c.index, lay);
  Array index = places<Index>(c.index, c.x[static_cast<int>(c.axis)], lay);
  std::vector<float> wanted;
  for (std::int64_t i = 0; i < x.count(); ++i) {
    wanted.push_back(x.at<float>(i));
  }
  for (std::int64_t i = 0; i < src.count(); ++i) {
    float& to = wanted[static_cast<std::size_t>(
        target(i, index.at<Index>(i), c.axis, c.x[1], c.index[1]))];
    to = (adds ? to : 0.0F) + src.at<float>(i);
  }
  for (const int threads : kThreads) {
    Array y(c.x, f32, lay);
    call(first_of(list, f32), {x.view(), index.view(), src.view()}, {y.view()},
         &attrs, threads);
    for (std::int64_t i = 0; i < y.count(); ++i) {
      ASSERT_EQ(y.at<float>(i), wanted[static_cast<std::size_t>(i)])
          << i << " at " << threads;
    }
    EXPECT_TRUE(y.has_intact_guards());
  }
}

TEST(ScatterTest, KeepsTheOrderOfAddendsAtEveryThreadCount) {
  for (const Case& c : kCases) {
    for (const Lay lay : kLays) {
      expect_scattered<std::int64_t>(scatter_add_kernels, c, lay, true);
      expect_scattered<std::int32_t>(scatter_add_kernels, c, lay, true);
    }
  }
}

TEST(ScatterTest, KeepsTheLastAtEveryThreadCount) {
  for (const Case& c : kCases) {
    for (const Lay lay : kLays) {
      expect_scattered<std::int64_t>(scatter_kernels, c, lay, false);
    }
  }
}

TEST(ConcatTest, JoinsEveryLayout) {
  const AxisAttrs attrs{1};
  const std::int64_t widths[] = {1, 200, 3};
  for (const Lay from : kLays) {
    for (const Lay to : kLays) {
      std::vector<Array> parts;
      std::vector<Strided> views;
      for (const std::int64_t width : widths) {
        parts.push_back(noise_of({90, width}, from));
      }
      for (Array& part : parts) {
        views.push_back(part.view());
      }
      Array y({90, 204}, f32, to);
      call(first_of(concat_kernels, f32), views, {y.view()}, &attrs, 3);
      for (std::int64_t row = 0; row < 90; ++row) {
        ASSERT_EQ(y.at<float>(row * 204), parts[0].at<float>(row));
        ASSERT_EQ(y.at<float>(row * 204 + 7),
                  parts[1].at<float>(row * 200 + 6));
        ASSERT_EQ(y.at<float>(row * 204 + 203),
                  parts[2].at<float>(row * 3 + 2));
      }
      EXPECT_TRUE(y.has_intact_guards());
    }
  }
}

TEST(FlipTest, ReversesEveryLayout) {
  const ReduceAttrs attrs{0b11};
  for (const Lay lay : kLays) {
    Array x = noise_of({70, 90}, lay);
    Array y({70, 90}, f32, Lay::kDense);
    call(first_of(flip_kernels, f32), {x.view()}, {y.view()}, &attrs, 2);
    for (std::int64_t i = 0; i < y.count(); ++i) {
      ASSERT_EQ(y.at<float>(i), x.at<float>(y.count() - 1 - i));
    }
  }
}

TEST(PadTest, FillsAroundInEveryLayout) {
  const PadAttrs attrs{.value = 2.5, .before = {1, 0, 2}, .after = {0, 3, 1}};
  for (const Lay lay : kLays) {
    Array x = noise_of({2, 3, 4}, lay);
    Array y({3, 6, 7}, f32, lay);
    call(first_of(pad_kernels, f32), {x.view()}, {y.view()}, &attrs);
    EXPECT_EQ(y.at<float>(41), 2.5F);
    EXPECT_EQ(y.at<float>(1 * 42 + 0 * 7 + 2), x.at<float>(0));
    EXPECT_EQ(y.at<float>(2 * 42 + 2 * 7 + 5), x.at<float>(23));
    EXPECT_EQ(y.at<float>(2 * 42 + 2 * 7 + 6), 2.5F);
    EXPECT_TRUE(y.has_intact_guards());
  }
}

TEST(PackTest, PacksAndUnpacksInEveryLayout) {
  const Shape shape{130, 300};
  for (const Lay lay : kLays) {
    Array x = noise_of(shape, lay);
    Array mask = Array::of<bool>(shape, lay, [](std::int64_t i) {
      return i % 3 == 0 || i % 1000 < 100;
    });
    std::vector<float> wanted;
    for (std::int64_t i = 0; i < x.count(); ++i) {
      if (mask.at<bool>(i)) {
        wanted.push_back(x.at<float>(i));
      }
    }
    const auto count = static_cast<std::int64_t>(wanted.size());
    Array zero = Array::of<float>({}, Lay::kDense, [](auto) { return 0.0F; });
    for (const int threads : kThreads) {
      Array y({count}, f32, lay);
      call(first_of(pack_kernels, f32), {x.view(), mask.view()}, {y.view()},
           nullptr, threads);
      Array back(shape, f32, lay);
      call(first_of(unpack_kernels, f32), {y.view(), mask.view(), zero.view()},
           {back.view()}, nullptr, threads);
      for (std::int64_t i = 0; i < count; ++i) {
        ASSERT_EQ(y.at<float>(i), wanted[static_cast<std::size_t>(i)]);
      }
      for (std::int64_t i = 0; i < x.count(); ++i) {
        ASSERT_EQ(back.at<float>(i), mask.at<bool>(i) ? x.at<float>(i) : 0.0F);
      }
      EXPECT_TRUE(y.has_intact_guards() && back.has_intact_guards());
    }
  }
}

}  // namespace
}  // namespace neap::kernels
