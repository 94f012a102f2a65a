// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/reduction/sort.hpp"

#include <cmath>
#include <limits>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/kernel_testing.hpp"
#include "neap/kernels/reduction/cumsum.hpp"

namespace neap::kernels {
namespace {

using testing::Array;
using testing::call;
using testing::first_of;
using testing::kLays;
using testing::Lay;
using testing::noise;
using testing::reference_of;

// Ties, both zeros, infinities and NaN among noise.
template <class T>
Array mixed(const Shape& shape, Lay lay) {
  return Array::of<T>(shape, lay, [](std::int64_t i) {
    const double x = noise(i);
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    return i % 11 == 3   ? std::numeric_limits<T>::quiet_NaN()
           : i % 13 == 5 ? (x > 0 ? kInfinity : -kInfinity)
           : i % 7 == 2  ? (x > 0 ? T(0) : -T(0))
           : i % 3 == 0  ? static_cast<T>(std::floor(x))
                         : static_cast<T>(x);
  });
}

template <class T>
void expect_reference_order(const KernelList& list, const Shape& shape,
                            const SortAttrs& attrs) {
  Shape chosen = shape;
  chosen[static_cast<int>(attrs.axis)] = attrs.count;
  Array dense = mixed<T>(shape, Lay::kDense);
  Array values(chosen, dtype_of<T>);
  Array indices(chosen, i64);
  call(reference_of(list, dtype_of<T>), {dense.view()},
       {values.view(), indices.view()}, &attrs);
  for (const Lay lay : kLays) {
    Array x = mixed<T>(shape, lay);
    for (int threads = 1; threads <= 3; ++threads) {
      Array v(chosen, dtype_of<T>, lay);
      Array at(chosen, i64, lay);
      call(first_of(list, dtype_of<T>), {x.view()}, {v.view(), at.view()},
           &attrs, threads);
      EXPECT_EQ(at.elements(), indices.elements())
          << list.name << format_shape(shape) << " count " << attrs.count;
      EXPECT_EQ(v.elements(), values.elements());
      EXPECT_TRUE(v.has_intact_guards() && at.has_intact_guards());
    }
  }
}

TEST(SortTest, HasTheOrderOfItsReference) {
  for (const std::int64_t n : {1, 2, 47, 48, 49, 300}) {
    for (const bool descending : {false, true}) {
      const SortAttrs attrs{.axis = 1, .count = n, .descending = descending};
      expect_reference_order<float>(sort_kernels, {3, n, 2}, attrs);
      expect_reference_order<double>(sort_kernels, {3, n, 2}, attrs);
    }
  }
}

TEST(TopkTest, IsTheBeginningOfTheOrder) {
  for (const std::int64_t k : {0, 1, 5, 36, 37, 60, 300}) {
    for (const bool descending : {false, true}) {
      const SortAttrs attrs{.axis = 1, .count = k, .descending = descending};
      expect_reference_order<float>(topk_kernels, {5, 300}, attrs);
      expect_reference_order<double>(topk_kernels, {5, 300}, attrs);
    }
  }
}

TEST(SortTest, OfIntegersReachesTheirEnds) {
  const std::int64_t lowest = std::numeric_limits<std::int64_t>::lowest();
  const std::int64_t numbers[] = {5, lowest, -1, ~lowest, 0};
  Array x = Array::of<std::int64_t>({5}, Lay::kDense,
                                    [&](std::int64_t i) { return numbers[i]; });
  Array values({5}, i64);
  Array indices({5}, i64);
  const SortAttrs attrs{.count = 5};
  call(first_of(sort_kernels, i64), {x.view()}, {values.view(), indices.view()},
       &attrs);
  const std::int64_t want[] = {1, 2, 4, 0, 3};
  for (std::int64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(indices.at<std::int64_t>(i), want[i]);
    EXPECT_EQ(values.at<std::int64_t>(i), numbers[want[i]]);
  }
}

TEST(CumsumTest, HasTheBitsOfItsReference) {
  for (const bool reverse : {false, true}) {
    for (std::int64_t axis = 0; axis < 3; ++axis) {
      const CumulateAttrs attrs{.axis = axis, .reverse = reverse};
      const Shape shape{5, 90, 33};
      const auto value = [](std::int64_t i) {
        return static_cast<float>(noise(i));
      };
      Array dense = Array::of<float>(shape, Lay::kDense, value);
      Array want(shape, f32);
      call(reference_of(cumsum_kernels, f32), {dense.view()}, {want.view()},
           &attrs);
      for (const Lay lay : kLays) {
        Array x = Array::of<float>(shape, lay, value);
        Array y(shape, f32, lay);
        call(first_of(cumsum_kernels, f32), {x.view()}, {y.view()}, &attrs, 3);
        EXPECT_EQ(y.elements(), want.elements());
        // In the memory of x.
        call(first_of(cumsum_kernels, f32), {x.view()}, {x.view()}, &attrs, 2);
        EXPECT_EQ(x.elements(), want.elements());
      }
    }
  }
}

}  // namespace
}  // namespace neap::kernels
