// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Kernels that move, convert, compare or choose elements, and dropout.
#include <cmath>
#include <limits>

#include "neap/kernels/elementwise/arithmetic.hpp"
#include "neap/kernels/elementwise/cast.hpp"
#include "neap/kernels/elementwise/compare.hpp"
#include "neap/kernels/elementwise/dropout.hpp"
#include "neap/kernels/elementwise/where.hpp"
#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/copy.hpp"
#include "neap/kernels/engine/fill.hpp"
#include "neap/kernels/engine/kernel_testing.hpp"
#include "neap/kernels/shape/slice_put.hpp"

namespace neap::kernels {
namespace {

using testing::Array;
using testing::call;
using testing::first_of;
using testing::kLays;
using testing::Lay;
using testing::noise;
using testing::reference_of;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

template <class T>
Array list_of(std::vector<T> values) {
  return Array::of<T>(
      {static_cast<std::int64_t>(values.size())}, Lay::kDense,
      [&](std::int64_t i) { return values[static_cast<std::size_t>(i)]; });
}

template <class To, class From>
std::vector<To> cast_to(std::vector<From> values) {
  Array x = list_of<From>(values);
  Array y(x.shape(), dtype_of<To>);
  call(first_of(cast_kernels, dtype_of<From>), {x.view()}, {y.view()});
  std::vector<To> result;
  for (std::int64_t i = 0; i < y.count(); ++i) {
    result.push_back(y.at<To>(i));
  }
  return result;
}

TEST(CastTest, FloatToIntegerTruncatesAndSaturates) {
  EXPECT_EQ(
      (cast_to<std::int32_t, float>(
          {1.9F, -1.9F, 3e9F, -3e9F, kNan, kInf, -kInf, 2147483520.0F})),
      (std::vector<std::int32_t>{1, -1, 2147483647, -2147483647 - 1, 0,
                                 2147483647, -2147483647 - 1, 2147483520}));
  EXPECT_EQ((cast_to<std::uint8_t, double>({-1.0, 255.9, 256.0, 7.0})),
            (std::vector<std::uint8_t>{0, 255, 255, 7}));
  EXPECT_EQ((cast_to<std::int64_t, double>({9.3e18, -9.3e18, 1e15})),
            (std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max(),
                                       std::numeric_limits<std::int64_t>::min(),
                                       1000000000000000}));
}

TEST(CastTest, IntegersWrapAndBoolIsNotZero) {
  EXPECT_EQ((cast_to<std::uint8_t, std::int32_t>({-1, 256, 258})),
            (std::vector<std::uint8_t>{255, 0, 2}));
  EXPECT_EQ((cast_to<std::int32_t, std::int64_t>({(1LL << 32) + 5})),
            (std::vector<std::int32_t>{5}));
  EXPECT_EQ((cast_to<bool, float>({0.0F, -0.0F, 0.5F, kNan})),
            (std::vector<bool>{false, false, true, true}));
  EXPECT_EQ((cast_to<double, bool>({false, true})),
            (std::vector<double>{0.0, 1.0}));
}

TEST(CastTest, Bf16RoundsToNearestEven) {
  const auto narrow = cast_to<BFloat16, float>({1.0F, 1.00390625F, 3e38F});
  EXPECT_EQ(narrow[0].bits, 0x3F80);
  EXPECT_EQ(narrow[1].bits, 0x3F80);
  EXPECT_EQ((cast_to<double, BFloat16>(narrow))[0], 1.0);
}

TEST(CastTest, EveryPairOfDtypesKeepsSmallNumbers) {
  for (int from = 0; from < kDTypeCount; ++from) {
    for (int to = 0; to < kDTypeCount; ++to) {
      Array one = list_of<double>({0.0, 1.0, 1.0});
      Array x({3}, static_cast<DType>(from), Lay::kReversed);
      Array y({3}, static_cast<DType>(to), Lay::kSliced);
      Array back({3}, f64);
      call(first_of(cast_kernels, f64), {one.view()}, {x.view()});
      call(first_of(cast_kernels, x.view().dtype), {x.view()}, {y.view()});
      call(first_of(cast_kernels, y.view().dtype), {y.view()}, {back.view()});
      EXPECT_EQ(back.elements(), one.elements()) << from << " " << to;
    }
  }
}

TEST(CopyTest, MovesBetweenAnyLayouts) {
  const Shape shapes[] = {{}, {0}, {5}, {40, 70}, {3, 2, 5, 7}};
  for (const Shape& shape : shapes) {
    for (Lay from : kLays) {
      for (Lay to : kLays) {
        Array x = Array::of<std::int64_t>(shape, from,
                                          [](std::int64_t i) { return i; });
        Array y(shape, i64, to);
        call(first_of(copy_kernels, i64), {x.view()}, {y.view()}, nullptr, 2);
        EXPECT_EQ(y.elements(), x.elements());
        EXPECT_TRUE(y.has_intact_guards());
      }
    }
  }
}

// Tiles whole and cut, of every size of element; several matrices; an axis of
// stride 0; two transposed alike.
TEST(CopyTest, TransposesByTiles) {
  const DType dtypes[] = {f32, f64, bf16, u8};
  const Shape shapes[] = {
      {131, 200}, {64, 64}, {9, 300}, {300, 9}, {3, 70, 67}};
  for (const Shape& shape : shapes) {
    for (const DType dtype : dtypes) {
      Array numbers = Array::of<std::int64_t>(
          shape, Lay::kDense, [](std::int64_t i) { return i % 127; });
      Array x(shape, dtype, Lay::kTransposed);
      call(first_of(cast_kernels, i64), {numbers.view()}, {x.view()});
      for (const Lay lay : kLays) {
        Array y(shape, dtype, lay);
        call(first_of(copy_kernels, dtype), {x.view()}, {y.view()}, nullptr, 3);
        EXPECT_EQ(y.elements(), x.elements()) << name_of(dtype);
        EXPECT_TRUE(y.has_intact_guards());
      }
    }
  }
}

TEST(CopyTest, RepeatsAColumnAndARow) {
  Array x = Array::of<float>({100, 1}, Lay::kDense,
                             [](std::int64_t i) { return float(i); });
  Array y({100, 90}, f32, Lay::kTransposed);
  call(first_of(copy_kernels, f32), {x.view()}, {y.view()}, nullptr, 2);
  EXPECT_EQ(y.at<float>(99 * 90 + 89), 99);
  EXPECT_EQ(y.at<float>(45), 0);
  Array row({90}, f32);
  call(first_of(copy_kernels, f32), {row.view()}, {y.view()}, nullptr, 2);
  EXPECT_EQ(y.at<float>(99 * 90 + 3), row.at<float>(3));
}

TEST(FillTest, ConvertsTheValue) {
  const FillAttrs attrs{2.7};
  Array x({3, 5}, i32, Lay::kTransposed);
  call(first_of(fill_kernels, i32), {}, {x.view()}, &attrs);
  EXPECT_EQ(x.at<std::int32_t>(14), 2);
  Array y({700}, bf16);
  call(first_of(fill_kernels, bf16), {}, {y.view()}, &attrs);
  EXPECT_EQ(y.at<BFloat16>(699).bits, BFloat16(2.7F).bits);
}

TEST(SlicePutTest, PutsTheElementsInAZeroArray) {
  for (Lay lay : kLays) {
    Array x = Array::of<float>(
        {2, 3}, lay, [](std::int64_t i) { return static_cast<float>(i + 1); });
    Array y({2, 8}, f32, lay);
    const SliceAttrs attrs{
        .axis = 1, .start = 1, .step = 3, .count = 3, .extent = 8};
    call(first_of(slice_put_kernels, f32), {x.view()}, {y.view()}, &attrs);
    const float want[] = {0, 1, 0, 0, 2, 0, 0, 3, 0, 4, 0, 0, 5, 0, 0, 6};
    for (std::int64_t i = 0; i < 16; ++i) {
      EXPECT_EQ(y.at<float>(i), want[i]) << i;
    }
    EXPECT_TRUE(y.has_intact_guards());
  }
}

TEST(SlicePutTest, StepsBackwardAndTakesNothing) {
  Array x = list_of<std::uint8_t>({1, 2});
  Array y({4}, u8);
  const SliceAttrs back{
      .axis = 0, .start = 3, .step = -2, .count = 2, .extent = 4};
  call(first_of(slice_put_kernels, u8), {x.view()}, {y.view()}, &back);
  EXPECT_EQ(y.at<std::uint8_t>(3), 1);
  EXPECT_EQ(y.at<std::uint8_t>(1), 2);
  EXPECT_EQ(y.at<std::uint8_t>(0), 0);
  Array none({0}, u8);
  const SliceAttrs empty{.count = 0, .extent = 4};
  call(first_of(slice_put_kernels, u8), {none.view()}, {y.view()}, &empty);
  EXPECT_EQ(y.at<std::uint8_t>(3), 0);
}

template <class T>
std::vector<bool> compare(const KernelList& list, std::vector<T> a,
                          std::vector<T> b) {
  Array x = list_of<T>(a);
  Array y = list_of<T>(b);
  Array z(x.shape(), boolean);
  call(first_of(list, dtype_of<T>), {x.view(), y.view()}, {z.view()});
  std::vector<bool> result;
  for (std::int64_t i = 0; i < z.count(); ++i) {
    result.push_back(z.at<bool>(i));
  }
  return result;
}

TEST(CompareTest, FollowsIeee754) {
  const std::vector<float> a = {1, 2, 3, kNan, 0.0F};
  const std::vector<float> b = {2, 2, 2, kNan, -0.0F};
  using Bits = std::vector<bool>;
  EXPECT_EQ(compare<float>(eq_kernels, a, b), (Bits{0, 1, 0, 0, 1}));
  EXPECT_EQ(compare<float>(ne_kernels, a, b), (Bits{1, 0, 1, 1, 0}));
  EXPECT_EQ(compare<float>(lt_kernels, a, b), (Bits{1, 0, 0, 0, 0}));
  EXPECT_EQ(compare<float>(le_kernels, a, b), (Bits{1, 1, 0, 0, 1}));
  EXPECT_EQ(compare<float>(gt_kernels, a, b), (Bits{0, 0, 1, 0, 0}));
  EXPECT_EQ(compare<float>(ge_kernels, a, b), (Bits{0, 1, 1, 0, 1}));
  EXPECT_EQ(compare<std::uint8_t>(gt_kernels, {200, 1}, {100, 1}),
            (Bits{1, 0}));
  EXPECT_EQ(compare<std::int64_t>(eq_kernels, {1LL << 60}, {(1LL << 60) + 1}),
            (Bits{0}));
}

TEST(WhereTest, ChoosesForEverySizeOfElement) {
  const DType dtypes[] = {f32, f64, bf16, i32, i64, u8, boolean};
  for (DType dtype : dtypes) {
    Array one = list_of<double>({1.0});
    Array zero = list_of<double>({0.0});
    Array a({1}, dtype);
    Array b({1}, dtype);
    call(first_of(cast_kernels, f64), {one.view()}, {a.view()});
    call(first_of(cast_kernels, f64), {zero.view()}, {b.view()});
    Array c = Array::of<bool>({3, 70}, Lay::kTransposed,
                              [](std::int64_t i) { return i % 3 == 0; });
    for (const Kernel& kernel : where_kernels.kernels) {
      Array y({3, 70}, dtype);
      Array picked({3, 70}, boolean);
      call(kernel, {c.view(), a.view(), b.view()}, {y.view()}, nullptr, 2);
      call(first_of(cast_kernels, dtype), {y.view()}, {picked.view()});
      EXPECT_EQ(picked.elements(), c.elements())
          << kernel.name << " " << name_of(dtype);
    }
  }
}

TEST(IntegerTest, ArithmeticWraps) {
  const auto binary = [](const KernelList& list, std::int32_t a,
                         std::int32_t b) {
    Array x = list_of<std::int32_t>({a});
    Array y = list_of<std::int32_t>({b});
    Array z({1}, i32);
    call(first_of(list, i32), {x.view(), y.view()}, {z.view()});
    return z.at<std::int32_t>(0);
  };
  constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();
  constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(binary(add_kernels, kMax, 1), kMin);
  EXPECT_EQ(binary(sub_kernels, kMin, 1), kMax);
  EXPECT_EQ(binary(mul_kernels, 1 << 30, 4), 0);
  EXPECT_EQ(binary(mul_kernels, -3, 7), -21);
  EXPECT_EQ(binary(maximum_kernels, -3, 7), 7);
  Array x = list_of<std::int64_t>({std::numeric_limits<std::int64_t>::min()});
  Array y({1}, i64);
  call(first_of(neg_kernels, i64), {x.view()}, {y.view()});
  EXPECT_EQ(y.at<std::int64_t>(0), std::numeric_limits<std::int64_t>::min());
}

template <class T>
void expect_dropout(const DropoutAttrs& attrs) {
  const Shape shape{37, 1001};
  const auto value = [](std::int64_t i) { return static_cast<T>(noise(i)); };
  Array dense = Array::of<T>(shape, Lay::kDense, value);
  Array want(shape, dtype_of<T>);
  call(reference_of(dropout_kernels, dtype_of<T>), {dense.view()},
       {want.view()}, &attrs);
  for (Lay lay : kLays) {
    for (int threads = 1; threads <= 3; ++threads) {
      Array x = Array::of<T>(shape, lay, value);
      Array y(shape, dtype_of<T>, lay);
      call(first_of(dropout_kernels, dtype_of<T>), {x.view()}, {y.view()},
           &attrs, threads);
      EXPECT_EQ(y.elements(), want.elements());
    }
  }
}

TEST(DropoutTest, HasTheBitsOfItsReferenceForAnyLayoutAndThreads) {
  expect_dropout<float>({0.3, {0x123456789ABCDEFU, 1ULL << 40}});
  expect_dropout<double>({0.5, {1, 2}});
  expect_dropout<float>({0.0, {1, 2}});
}

TEST(DropoutTest, KeepsTheSharePromisedAndTheMean) {
  const DropoutAttrs attrs{0.25, {42, 3}};
  Array x = Array::of<float>({100000}, Lay::kDense, [](auto) { return 3.0F; });
  Array y({100000}, f32);
  call(first_of(dropout_kernels, f32), {x.view()}, {y.view()}, &attrs);
  double kept = 0.0;
  for (std::int64_t i = 0; i < y.count(); ++i) {
    ASSERT_TRUE(y.at<float>(i) == 0.0F || y.at<float>(i) == 4.0F);
    kept += y.at<float>(i) != 0.0F ? 1.0 : 0.0;
  }
  EXPECT_NEAR(kept / 100000, 0.75, 0.01);
}

}  // namespace
}  // namespace neap::kernels
