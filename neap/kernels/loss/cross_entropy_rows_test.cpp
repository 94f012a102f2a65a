// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/loss/cross_entropy_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "neap/kernels/engine/kernel_testing.hpp"
#include "neap/kernels/loss/cross_entropy.hpp"

namespace neap::kernels {
namespace {

using testing::Array;
using testing::call;
using testing::first_of;
using testing::Lay;
using testing::noise;
using testing::reference_of;

template <class T>
Array noise_array(const Shape& shape, Lay lay = Lay::kDense) {
  return Array::of<T>(shape, lay,
                      [](std::int64_t i) { return static_cast<T>(noise(i)); });
}

constexpr std::int64_t kRows = 211;

Strided rows_of(Strided x, std::int64_t first, std::int64_t count) {
  x.data += first * x.strides[0] * size_of(x.dtype);
  x.shape[0] = count;
  return x;
}

Array labels_of(std::int64_t classes) {
  return Array::of<std::int64_t>({kRows}, Lay::kDense, [&](std::int64_t i) {
    return i % 4 == 1 ? -100 : i * 7 % classes;
  });
}

// The loss and the lse in pieces of 30 rows, and of the whole.
template <class T>
void expect_the_bits_of_the_whole(std::int64_t classes,
                                  const CrossEntropyAttrs& attrs,
                                  bool is_reference) {
  const auto pick = is_reference ? &reference_of : &first_of;
  Array x = noise_array<T>({kRows, classes}, Lay::kDense);
  Array labels = labels_of(classes);
  Array want({}, dtype_of<T>);
  Array want_lse({kRows}, dtype_of<T>);
  call(pick(cross_entropy_kernels, dtype_of<T>), {x.view(), labels.view()},
       {want.view(), want_lse.view()}, &attrs);
  Array losses({kRows}, f64);
  Array lse({kRows}, dtype_of<T>);
  for (std::int64_t first = 0; first < kRows; first += 30) {
    const std::int64_t count = std::min<std::int64_t>(30, kRows - first);
    call(
        pick(cross_entropy_rows_kernels, dtype_of<T>),
        {rows_of(x.view(), first, count), rows_of(labels.view(), first, count)},
        {rows_of(losses.view(), first, count),
         rows_of(lse.view(), first, count)},
        &attrs);
  }
  Array loss({}, dtype_of<T>);
  call(first_of(cross_entropy_total_kernels, f64),
       {losses.view(), labels.view()}, {loss.view()}, &attrs);
  EXPECT_EQ(loss.elements(), want.elements());
  EXPECT_EQ(lse.elements(), want_lse.elements());
}

TEST(CrossEntropyRowsTest, PiecesHaveTheBitsOfTheWhole) {
  const std::array<CrossEntropyAttrs, 3> kinds{
      {{}, {.label_smoothing = 0.1}, {.reduction = LossReduction::kSum}}};
  for (const CrossEntropyAttrs& attrs : kinds) {
    for (const std::int64_t classes : {3, 200}) {
      expect_the_bits_of_the_whole<float>(classes, attrs, false);
      expect_the_bits_of_the_whole<double>(classes, attrs, false);
      expect_the_bits_of_the_whole<float>(classes, attrs, true);
      expect_the_bits_of_the_whole<double>(classes, attrs, true);
    }
  }
}

TEST(CrossEntropyRowsTest, LossesAreNotRoundedToTheDtypeOfTheLogits) {
  Array x = noise_array<float>({kRows, 4});
  Array labels = Array::of<std::int64_t>({kRows}, Lay::kDense,
                                         [](std::int64_t i) { return i % 4; });
  Array losses({kRows}, f64);
  Array lse({kRows}, f32);
  const CrossEntropyAttrs attrs;
  call(first_of(cross_entropy_rows_kernels, f32), {x.view(), labels.view()},
       {losses.view(), lse.view()}, &attrs);
  for (std::int64_t i = 0; i < kRows; ++i) {
    EXPECT_EQ(losses.at<double>(i),
              static_cast<double>(lse.at<float>(i)) -
                  static_cast<double>(x.at<float>(4 * i + i % 4)));
  }
}

TEST(CrossEntropyRowsTest, AnInvalidLabelIsNanAndAnIgnoredOneNothing) {
  Array x = noise_array<float>({3, 2});
  Array labels = Array::of<std::int64_t>(
      {3}, Lay::kDense, [](std::int64_t i) { return i == 0 ? 5 : -100; });
  Array losses({3}, f64);
  Array lse({3}, f32);
  const CrossEntropyAttrs attrs;
  call(first_of(cross_entropy_rows_kernels, f32), {x.view(), labels.view()},
       {losses.view(), lse.view()}, &attrs);
  EXPECT_TRUE(std::isnan(losses.at<double>(0)));
  EXPECT_EQ(losses.at<double>(1), 0.0);
}

TEST(CrossEntropyRowsTest, TheShareIsOverTheLabelsThatCount) {
  Array g = Array::of<float>({}, Lay::kDense, [](std::int64_t) { return 79; });
  Array labels = labels_of(5);  // 158 of 211 count
  Array share({}, f32);
  const CrossEntropyAttrs attrs;
  call(first_of(cross_entropy_share_kernels, f32), {g.view(), labels.view()},
       {share.view()}, &attrs);
  EXPECT_EQ(share.at<float>(0), 0.5F);
}

}  // namespace
}  // namespace neap::kernels
