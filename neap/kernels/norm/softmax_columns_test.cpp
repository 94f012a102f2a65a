// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// softmax and the like along an axis that is not the last: the bits of the same
// rows when each is dense.
#include <cmath>
#include <limits>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/kernel_testing.hpp"
#include "neap/kernels/norm/softmax.hpp"

namespace neap::kernels {
namespace {

using testing::Array;
using testing::call;
using testing::first_of;
using testing::Lay;
using testing::noise;

// Extents around the columns' axis: (outer, length, inner).
struct Extents {
  std::int64_t outer, length, inner;

  Shape across() const { return {outer, length, inner}; }
  Shape along() const { return {outer, inner, length}; }
  // The index in along() of the element at `i` of across().
  std::int64_t turned(std::int64_t i) const {
    const std::int64_t column = i % inner;
    const std::int64_t j = i / inner % length;
    return (i / inner / length * inner + column) * length + j;
  }
};

// Lengths of one block and of several; columns of less than a vector, of whole
// and of cut ones, and of more than a strip.
constexpr Extents kExtents[] = {
    {1, 1, 40},    {1, 2, 40},    {2, 15, 17},  {1, 16, 64},  {1, 17, 129},
    {3, 49, 1},    {3, 49, 3},    {2, 130, 5},  {1, 1024, 9}, {1, 1025, 300},
    {2, 2100, 16}, {1, 3000, 33}, {5, 200, 31}, {1, 700, 1},  {40, 50, 7}};

template <class T>
Array numbers(const Shape& shape, Lay lay, const Extents& e, bool is_across,
              int salt) {
  return Array::of<T>(shape, lay, [&e, is_across, salt](std::int64_t i) {
    return static_cast<T>(noise(3 * (is_across ? e.turned(i) : i) + salt));
  });
}

template <class T>
void expect_turned(Array& got, Array& want, const Extents& e) {
  for (std::int64_t i = 0; i < got.count(); ++i) {
    const T y = got.at<T>(i);
    const T expected = want.at<T>(e.turned(i));
    ASSERT_EQ(std::memcmp(&y, &expected, sizeof(T)), 0)
        << e.outer << " x " << e.length << " x " << e.inner << " at " << i
        << ": " << y << " for " << expected;
  }
}

// Every operand in a layout of its own, and in place.
template <class T>
void expect_columns_as_rows(const KernelList& forward, const KernelList& grad) {
  const AxisAttrs across{1};
  const AxisAttrs along{2};
  const Kernel& run = first_of(forward, dtype_of<T>);
  const Kernel& derive = first_of(grad, dtype_of<T>);
  for (const Extents& e : kExtents) {
    Array x = numbers<T>(e.along(), Lay::kDense, e, false, 0);
    Array g = numbers<T>(e.along(), Lay::kDense, e, false, 1);
    Array y(e.along(), dtype_of<T>);
    Array dx(e.along(), dtype_of<T>);
    call(run, {x.view()}, {y.view()}, &along);
    call(derive, {g.view(), y.view()}, {dx.view()}, &along);
    int threads = 0;
    for (const Lay lay_in : {Lay::kDense, Lay::kTransposed, Lay::kSliced}) {
      for (const Lay lay_out : {Lay::kDense, Lay::kTransposed}) {
        threads = threads % 3 + 1;
        Array xc = numbers<T>(e.across(), lay_in, e, true, 0);
        Array gc = numbers<T>(e.across(), lay_in, e, true, 1);
        Array yc(e.across(), dtype_of<T>, lay_out);
        Array dxc(e.across(), dtype_of<T>, lay_out);
        call(run, {xc.view()}, {yc.view()}, &across, threads);
        expect_turned<T>(yc, y, e);
        call(derive, {gc.view(), yc.view()}, {dxc.view()}, &across, threads);
        expect_turned<T>(dxc, dx, e);
        EXPECT_TRUE(yc.has_intact_guards() && dxc.has_intact_guards());
        call(derive, {gc.view(), yc.view()}, {yc.view()}, &across, threads);
        expect_turned<T>(yc, dx, e);  // written over y
        call(run, {xc.view()}, {xc.view()}, &across, threads);
        expect_turned<T>(xc, y, e);
      }
    }
  }
}

TEST(SoftmaxColumnsTest, SoftmaxAlongALeadingAxisHasTheBitsOfRows) {
  expect_columns_as_rows<float>(softmax_kernels, softmax_grad_kernels);
  expect_columns_as_rows<double>(softmax_kernels, softmax_grad_kernels);
}

TEST(SoftmaxColumnsTest, LogSoftmaxAlongALeadingAxisHasTheBitsOfRows) {
  expect_columns_as_rows<float>(log_softmax_kernels, log_softmax_grad_kernels);
  expect_columns_as_rows<double>(log_softmax_kernels, log_softmax_grad_kernels);
}

TEST(SoftmaxColumnsTest, ARepeatedCotangentHasTheBitsOfADenseOne) {
  const Extents e{1, 300, 40};
  const AxisAttrs across{1};
  Array y = numbers<float>(e.across(), Lay::kDense, e, true, 0);
  Array dense = Array::of<float>(e.across(), Lay::kDense,
                                 [](std::int64_t) { return 0.75F; });
  Array one =
      Array::of<float>({1}, Lay::kDense, [](std::int64_t) { return 0.75F; });
  Strided repeated = one.view();
  repeated.shape = e.across();
  repeated.strides = Shape{0, 0, 0};
  for (const KernelList* list :
       {&softmax_grad_kernels, &log_softmax_grad_kernels}) {
    Array want(e.across(), f32);
    Array dx(e.across(), f32);
    const Kernel& grad = first_of(*list, f32);
    call(grad, {dense.view(), y.view()}, {want.view()}, &across);
    call(grad, {repeated, y.view()}, {dx.view()}, &across, 2);
    EXPECT_EQ(dx.elements(), want.elements()) << list->name;
  }
}

TEST(SoftmaxColumnsTest, NanAndInfinityStayInTheirColumn) {
  const Extents e{1, 200, 21};
  const AxisAttrs across{1};
  for (const KernelList* list : {&softmax_kernels, &log_softmax_kernels}) {
    Array x = numbers<float>(e.across(), Lay::kDense, e, true, 0);
    Array y(e.across(), f32);
    Array clean(e.across(), f32);
    const Kernel& run = first_of(*list, f32);
    call(run, {x.view()}, {clean.view()}, &across);
    x.at<float>(77 * e.inner + 4) = std::numeric_limits<float>::quiet_NaN();
    x.at<float>(78 * e.inner + 20) = std::numeric_limits<float>::infinity();
    call(run, {x.view()}, {y.view()}, &across);
    for (std::int64_t i = 0; i < y.count(); ++i) {
      const std::int64_t column = i % e.inner;
      if (column == 4) {
        ASSERT_TRUE(std::isnan(y.at<float>(i))) << i;
      } else if (column != 20) {
        ASSERT_EQ(y.at<float>(i), clean.at<float>(i)) << i;
      }
    }
  }
}

}  // namespace
}  // namespace neap::kernels
