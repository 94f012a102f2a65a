// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/reduction/reduce.hpp"

#include <cmath>
#include <limits>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/kernel_testing.hpp"
#include "neap/kernels/reduction/amax.hpp"
#include "neap/kernels/reduction/argmax.hpp"
#include "neap/kernels/reduction/logsumexp.hpp"
#include "neap/kernels/reduction/norm.hpp"
#include "neap/kernels/reduction/prod.hpp"
#include "neap/kernels/reduction/sum.hpp"
#include "neap/kernels/reduction/sum_of_squares.hpp"
#include "neap/kernels/reduction/var.hpp"

namespace neap::kernels {
namespace {

using testing::Array;
using testing::call;
using testing::first_of;
using testing::kLays;
using testing::Lay;
using testing::noise;
using testing::reference_of;

template <class T>
Array noise_array(const Shape& shape, Lay lay = Lay::kDense) {
  return Array::of<T>(shape, lay,
                      [](std::int64_t i) { return static_cast<T>(noise(i)); });
}

Shape reduced(const Shape& shape, std::uint64_t axes) {
  Shape out = shape;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    out[axis] = (axes >> axis & 1U) != 0 ? 1 : shape[axis];
  }
  return out;
}

std::vector<std::byte> reduce(const Kernel& kernel, Array& x,
                              std::uint64_t axes, Lay lay = Lay::kDense,
                              int threads = 1) {
  Array y(reduced(x.shape(), axes), x.view().dtype, lay);
  const ReduceAttrs attrs{axes};
  call(kernel, {x.view()}, {y.view()}, &attrs, threads);
  EXPECT_TRUE(y.has_intact_guards());
  return y.elements();
}

struct Case {
  Shape shape;
  std::uint64_t axes;
};

const Case kCases[] = {
    {{}, 0},
    {{}, 1},
    {{5}, 1},
    {{5}, 0},
    {{17}, 1},
    {{3000}, 1},
    {{4, 37}, 0b10},
    {{4, 37}, 0b01},
    {{4, 37}, 0b11},
    {{300, 130}, 0b10},
    {{300, 130}, 0b1},
    {{2, 1500, 3}, 0b010},
    {{7, 5, 9}, 0b101},
    {{3, 700, 4}, 0b110},
    {{50, 1}, 0b01},
    {{50, 1}, 0b10},
    {{0, 4}, 0b01},
    {{4, 0}, 0b10},
    {{0, 4}, 0b10},
    {{2, 3, 2, 2, 1, 3, 2, 2}, 0b10100101},
    {{1, 1}, 0b11},
    {{20, 1100}, 0b01},
    {{2600, 5}, 0b01},
    {{33000, 2}, 0b01},
    {{2, 40000}, 0b10},
    {{3, 25000}, 0b10},
    {{9000, 2, 5}, 0b001},
    {{40, 100, 3, 17}, 0b0110},
    {{40, 70, 3, 17}, 0b0101},
    {{90, 1100}, 0b11},
    {{3, 1, 2, 700}, 0b1010},
};

template <class T>
void expect_the_defined_order(const KernelList& list) {
  for (const Case& row : kCases) {
    Array dense = noise_array<T>(row.shape);
    const auto want = reduce(reference_of(list, dtype_of<T>), dense, row.axes);
    for (Lay lay : kLays) {
      Array x = noise_array<T>(row.shape, lay);
      for (int threads = 1; threads <= 3; ++threads) {
        EXPECT_EQ(
            reduce(first_of(list, dtype_of<T>), x, row.axes, lay, threads),
            want)
            << format_shape(row.shape) << " axes " << row.axes << " layout "
            << static_cast<int>(lay) << " threads " << threads;
      }
    }
  }
}

TEST(SumTest, HasTheBitsOfTheDefinedOrder) {
  expect_the_defined_order<float>(sum_kernels);
  expect_the_defined_order<double>(sum_kernels);
}

// Results of a kernel whose order is its own: the same for any layout and
// number of threads, and close to the reference.
template <class T, class Attrs>
void expect_close_to_reference(const KernelList& list, const Attrs& attrs,
                               std::size_t outputs, double tolerance) {
  for (const Case& row : kCases) {
    Attrs these = attrs;
    these.axes = row.axes;
    const auto run = [&](const Kernel& kernel, Array& x, Lay lay, int threads) {
      std::vector<Array> out(
          outputs, Array(reduced(row.shape, row.axes), dtype_of<T>, lay));
      std::vector<Strided> views;
      for (Array& y : out) {
        views.push_back(y.view());
      }
      call(kernel, {x.view()}, views, &these, threads);
      return out;
    };
    Array dense = noise_array<T>(row.shape);
    const Kernel& kernel = first_of(list, dtype_of<T>);
    auto first = run(kernel, dense, Lay::kDense, 1);
    auto want = run(reference_of(list, dtype_of<T>), dense, Lay::kDense, 1);
    for (std::size_t k = 0; k < outputs; ++k) {
      for (std::int64_t i = 0; i < want[k].count(); ++i) {
        const auto expected = static_cast<double>(want[k].template at<T>(i));
        const auto got = static_cast<double>(first[k].template at<T>(i));
        EXPECT_TRUE(got == expected || (got != got && expected != expected) ||
                    std::abs(got - expected) <=
                        tolerance * (1.0 + std::abs(expected)))
            << list.name << format_shape(row.shape) << " axes " << row.axes
            << ": " << got << ", expected " << expected;
      }
    }
    for (Lay lay : kLays) {
      Array x = noise_array<T>(row.shape, lay);
      for (int threads = 1; threads <= 3; ++threads) {
        auto y = run(kernel, x, lay, threads);
        for (std::size_t k = 0; k < outputs; ++k) {
          EXPECT_EQ(y[k].elements(), first[k].elements())
              << list.name << format_shape(row.shape) << " axes " << row.axes;
        }
      }
    }
  }
}

TEST(VarTest, IsCloseToTwoPassesInDoubleForAnyLayoutAndThreads) {
  expect_close_to_reference<float>(var_kernels, VarAttrs{}, 2, 1e-6);
  expect_close_to_reference<double>(var_kernels, VarAttrs{.is_std = true}, 2,
                                    1e-14);
}

TEST(LogsumexpTest, IsCloseToItsReferenceForAnyLayoutAndThreads) {
  expect_close_to_reference<float>(logsumexp_kernels, ReduceAttrs{}, 1, 1e-6);
  expect_close_to_reference<double>(logsumexp_kernels, ReduceAttrs{}, 1, 1e-14);
}

TEST(NormTest, HasTheBitsOfTheDefinedOrder) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double p : {0.0, 1.0, 2.0, infinity, -infinity}) {
    expect_close_to_reference<float>(norm_kernels, NormAttrs{.p = p}, 1, 0.0);
    expect_close_to_reference<double>(norm_kernels, NormAttrs{.p = p}, 1, 0.0);
  }
}

TEST(ProdTest, HasTheBitsOfTheDefinedOrder) {
  expect_the_defined_order<float>(prod_kernels);
  expect_the_defined_order<double>(prod_kernels);
}

TEST(AmaxTest, HasTheBitsOfTheDefinedOrder) {
  for (const KernelList* list : {&amax_kernels, &amin_kernels}) {
    expect_the_defined_order<float>(*list);
    expect_the_defined_order<double>(*list);
  }
}

TEST(SumTest, BroadcastInputsHaveTheBitsOfDenseOnes) {
  Array row = noise_array<float>({300});
  Strided x = row.view();
  x.shape = {40, 300};
  x.strides = {0, 1};
  Array dense = Array::of<float>({40, 300}, Lay::kDense, [&](std::int64_t i) {
    return row.at<float>(i % 300);
  });
  for (std::uint64_t axes : {0b01U, 0b10U, 0b11U}) {
    Array y(reduced(x.shape, axes), f32);
    const ReduceAttrs attrs{axes};
    call(first_of(sum_kernels, f32), {x}, {y.view()}, &attrs);
    EXPECT_EQ(y.elements(),
              reduce(reference_of(sum_kernels, f32), dense, axes));
  }
}

TEST(SumTest, OfAMillionElementsIsAccurate) {
  constexpr std::int64_t kCount = 1000000;
  Array x = Array::of<float>({kCount}, Lay::kDense, [](std::int64_t i) {
    return static_cast<float>(std::abs(noise(i)));
  });
  double want = 0.0;
  for (std::int64_t i = 0; i < kCount; ++i) {
    want += static_cast<double>(x.at<float>(i));
  }
  Array y({1}, f32);
  const ReduceAttrs attrs{1};
  call(first_of(sum_kernels, f32), {x.view()}, {y.view()}, &attrs);
  EXPECT_LE(testing::ulps(y.at<float>(0), static_cast<long double>(want)), 4.0);
}

// Added up in f32 alone it would be off by a percent, 1e5 units.
TEST(SumTest, OfATallColumnIsAccurate) {
  constexpr std::int64_t kRows = 1000000;
  Array x = Array::of<float>({kRows, 2}, Lay::kDense,
                             [](std::int64_t) { return 0.1F; });
  Array y({1, 2}, f32);
  const ReduceAttrs attrs{1};
  call(first_of(sum_kernels, f32), {x.view()}, {y.view()}, &attrs);
  const long double want = static_cast<long double>(0.1F) * kRows;
  EXPECT_LE(testing::ulps(y.at<float>(0), want), 300.0);
  EXPECT_EQ(y.at<float>(0), y.at<float>(1));
}

// In plain order, another call can go on with what one began.
TEST(SumTest, OfAColumnOfOneBlockIsPlainOrder) {
  Array x = noise_array<float>({kReduceBlock, 3});
  float want = 0.0F;
  for (std::int64_t r = 0; r < kReduceBlock; ++r) {
    want += x.at<float>(3 * r);
  }
  Array y({1, 3}, f32);
  const ReduceAttrs attrs{1};
  call(first_of(sum_kernels, f32), {x.view()}, {y.view()}, &attrs);
  EXPECT_EQ(y.at<float>(0), want);
}

TEST(SumTest, OfNothingIsZero) {
  Array x({0, 3}, f32);
  Array y({1, 3}, f32);
  const ReduceAttrs attrs{1};
  call(first_of(sum_kernels, f32), {x.view()}, {y.view()}, &attrs);
  EXPECT_EQ(y.at<float>(2), 0.0F);
}

template <class T>
void expect_integer_sums() {
  for (const Case& row : kCases) {
    for (Lay lay : kLays) {
      Array x = Array::of<T>(row.shape, lay, [](std::int64_t i) {
        return static_cast<T>(noise(i) * 30);
      });
      Array wide = Array::of<double>(
          row.shape, Lay::kDense,
          [&](std::int64_t i) { return static_cast<double>(x.at<T>(i)); });
      Array want(reduced(row.shape, row.axes), f64);
      Array y(reduced(row.shape, row.axes), i64, lay);
      const ReduceAttrs attrs{row.axes};
      call(reference_of(sum_kernels, f64), {wide.view()}, {want.view()},
           &attrs);
      call(first_of(sum_kernels, dtype_of<T>), {x.view()}, {y.view()}, &attrs,
           2);
      for (std::int64_t i = 0; i < y.count(); ++i) {
        ASSERT_EQ(static_cast<double>(y.at<std::int64_t>(i)),
                  want.at<double>(i));
      }
    }
  }
}

TEST(SumTest, OfIntegersIsExactInI64) {
  expect_integer_sums<std::int32_t>();
  expect_integer_sums<std::int64_t>();
  expect_integer_sums<std::uint8_t>();
  expect_integer_sums<bool>();
}

TEST(AmaxTest, PropagatesNanAndFindsTheLargest) {
  Array x = noise_array<float>({100});
  const ReduceAttrs attrs{1};
  Array y({1}, f32);
  x.at<float>(77) = 99.0F;
  call(first_of(amax_kernels, f32), {x.view()}, {y.view()}, &attrs);
  EXPECT_EQ(y.at<float>(0), 99.0F);
  for (std::int64_t at : {0, 50, 99}) {
    Array with_nan = noise_array<float>({100});
    with_nan.at<float>(at) = std::numeric_limits<float>::quiet_NaN();
    call(first_of(amax_kernels, f32), {with_nan.view()}, {y.view()}, &attrs);
    EXPECT_TRUE(std::isnan(y.at<float>(0))) << at;
  }
}

TEST(AmaxTest, OfIntegers) {
  Array x = Array::of<std::int32_t>(
      {3, 4}, Lay::kTransposed,
      [](std::int64_t i) { return static_cast<std::int32_t>(-i); });
  Array rows({3, 1}, i32);
  Array columns({1, 4}, i32);
  const ReduceAttrs along_rows{0b10};
  const ReduceAttrs along_columns{0b01};
  call(first_of(amax_kernels, i32), {x.view()}, {rows.view()}, &along_rows);
  call(first_of(amax_kernels, i32), {x.view()}, {columns.view()},
       &along_columns);
  EXPECT_EQ(rows.at<std::int32_t>(2), -8);
  EXPECT_EQ(columns.at<std::int32_t>(3), -3);
}

TEST(ArgmaxTest, TakesTheFirstOfEqualsAndTheFirstNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::vector<float>> rows = {
      {1, 3, 2, 3}, {3, nan, 9, nan}, {nan, 1, 2, 3}, {-1, -1, -2, -3}};
  const std::int64_t want[] = {1, 1, 0, 0};
  for (Lay lay : kLays) {
    Array x = Array::of<float>({4, 4}, lay, [&](std::int64_t i) {
      return rows[static_cast<std::size_t>(i / 4)]
                 [static_cast<std::size_t>(i % 4)];
    });
    Array y({4, 1}, i64);
    const ReduceAttrs attrs{0b10};
    call(first_of(argmax_kernels, f32), {x.view()}, {y.view()}, &attrs, 2);
    for (std::int64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(y.at<std::int64_t>(i), want[i]) << i;
    }
  }
}

// Few different values, so that there are ties; some NaN.
template <class T>
Array steps(const Shape& shape, Lay lay) {
  return Array::of<T>(shape, lay, [](std::int64_t i) {
    const double step = std::floor(noise(i) * 3);
    return step == 7 && i % 5 == 0 ? std::numeric_limits<T>::quiet_NaN()
                                   : static_cast<T>(step);
  });
}

template <class T>
void expect_reference_positions(const KernelList& list) {
  for (const Case& row : kCases) {
    if (row.shape.element_count() == 0) {
      continue;
    }
    Array dense = steps<T>(row.shape, Lay::kDense);
    Array want(reduced(row.shape, row.axes), i64);
    const ReduceAttrs attrs{row.axes};
    call(reference_of(list, dtype_of<T>), {dense.view()}, {want.view()},
         &attrs);
    for (Lay lay : kLays) {
      Array x = steps<T>(row.shape, lay);
      Array y(want.shape(), i64, lay);
      for (int threads = 1; threads <= 2; ++threads) {
        call(first_of(list, dtype_of<T>), {x.view()}, {y.view()}, &attrs,
             threads);
        EXPECT_EQ(y.elements(), want.elements())
            << format_shape(row.shape) << " axes " << row.axes;
      }
    }
  }
}

TEST(ArgmaxTest, AgreesWithItsReference) {
  for (const KernelList* list : {&argmax_kernels, &argmin_kernels}) {
    expect_reference_positions<float>(*list);
    expect_reference_positions<double>(*list);
  }
}

TEST(ArgmaxTest, OfIntegersTakesTheFirstOfEquals) {
  Array x = Array::of<std::int32_t>({3, 4}, Lay::kTransposed, [](auto i) {
    return static_cast<std::int32_t>(i % 4 == 0 ? -1 : i % 2);
  });
  Array rows({3, 1}, i64);
  Array columns({1, 4}, i64);
  const ReduceAttrs along_rows{0b10};
  const ReduceAttrs along_columns{0b01};
  call(first_of(argmax_kernels, i32), {x.view()}, {rows.view()}, &along_rows);
  call(first_of(argmin_kernels, i32), {x.view()}, {columns.view()},
       &along_columns);
  EXPECT_EQ(rows.at<std::int64_t>(1), 1);
  EXPECT_EQ(columns.at<std::int64_t>(2), 0);
}

TEST(SumOfSquaresTest, HasTheBitsOfTheDefinedOrderAndDoesNotOverflow) {
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{5000}, Shape{70, 33}}) {
    Array dense = noise_array<float>(shape);
    Array want({}, f64);
    call(reference_of(sum_of_squares_kernels, f32), {dense.view()},
         {want.view()});
    for (Lay lay : kLays) {
      Array x = noise_array<float>(shape, lay);
      Array y({}, f64);
      call(first_of(sum_of_squares_kernels, f32), {x.view()}, {y.view()},
           nullptr, 2);
      EXPECT_EQ(y.elements(), want.elements());
    }
  }
  Array x = Array::of<float>({2}, Lay::kDense, [](auto) { return 1e30F; });
  Array y({}, f64);
  call(first_of(sum_of_squares_kernels, f32), {x.view()}, {y.view()});
  EXPECT_NEAR(y.at<double>(0), 2e60, 1e54);
}

}  // namespace
}  // namespace neap::kernels
