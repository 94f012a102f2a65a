// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// log_softmax, softmax, cross_entropy and one_hot.
#include <cmath>
#include <limits>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/kernel_testing.hpp"
#include "neap/kernels/indexing/one_hot.hpp"
#include "neap/kernels/loss/cross_entropy.hpp"
#include "neap/kernels/norm/causal_softmax.hpp"
#include "neap/kernels/norm/softmax.hpp"

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
Array noise_array(const Shape& shape, Lay lay = Lay::kDense, int salt = 0) {
  return Array::of<T>(shape, lay, [salt](std::int64_t i) {
    return static_cast<T>(noise(3 * i + salt));
  });
}

Array labels_of(std::int64_t samples, std::int64_t classes, Lay lay) {
  return Array::of<std::int64_t>(
      {samples}, lay, [classes](std::int64_t i) { return i * 1499 % classes; });
}

template <class T>
void expect_near(Array& got, Array& want, double tolerance) {
  for (std::int64_t i = 0; i < want.count(); ++i) {
    ASSERT_NEAR(static_cast<double>(got.at<T>(i)),
                static_cast<double>(want.at<T>(i)), tolerance)
        << i;
  }
}

template <class T>
void expect_log_softmax(const Shape& shape, std::int64_t axis,
                        double tolerance) {
  const AxisAttrs attrs{axis};
  Array x = noise_array<T>(shape);
  Array g = noise_array<T>(shape, Lay::kDense, 1);
  Array y(shape, dtype_of<T>);
  Array dx(shape, dtype_of<T>);
  Array want(shape, dtype_of<T>);
  const DType dtype = dtype_of<T>;
  call(first_of(log_softmax_kernels, dtype), {x.view()}, {y.view()}, &attrs);
  call(reference_of(log_softmax_kernels, dtype), {x.view()}, {want.view()},
       &attrs);
  expect_near<T>(y, want, tolerance);
  call(first_of(log_softmax_grad_kernels, dtype), {g.view(), y.view()},
       {dx.view()}, &attrs);
  call(reference_of(log_softmax_grad_kernels, dtype), {g.view(), y.view()},
       {want.view()}, &attrs);
  expect_near<T>(dx, want, tolerance * 100);
}

TEST(LogSoftmaxTest, AgreesWithItsReferenceAlongAnyAxis) {
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    expect_log_softmax<float>({5, 37, 3}, axis, 2e-6);
    expect_log_softmax<double>({5, 37, 3}, axis, 4e-15);
  }
  for (std::int64_t n = 0; n <= 70; ++n) {
    expect_log_softmax<float>({3, n}, 1, 2e-6);
  }
  expect_log_softmax<float>({2, 5000}, 1, 4e-6);
}

TEST(LogSoftmaxTest, LayoutsThreadsAndTakingOverDoNotChangeBits) {
  const Shape shape{300, 37};
  for (std::int64_t axis = 0; axis < 2; ++axis) {
    const AxisAttrs attrs{axis};
    Array dense = noise_array<float>(shape);
    Array want(shape, f32);
    const Kernel& kernel = first_of(log_softmax_kernels, f32);
    call(kernel, {dense.view()}, {want.view()}, &attrs);
    for (Lay lay : kLays) {
      for (int threads = 1; threads <= 3; ++threads) {
        Array x = noise_array<float>(shape, lay);
        Array y(shape, f32, lay);
        call(kernel, {x.view()}, {y.view()}, &attrs, threads);
        EXPECT_EQ(y.elements(), want.elements());
        EXPECT_TRUE(y.has_intact_guards());
        call(kernel, {x.view()}, {x.view()}, &attrs, threads);
        EXPECT_EQ(x.elements(), want.elements());
      }
    }
  }
}

TEST(LogSoftmaxTest, HandlesLargeNumbersAndNan) {
  const AxisAttrs attrs{0};
  Array x = Array::of<float>(
      {3}, Lay::kDense, [](std::int64_t i) { return i == 1 ? 1e30F : -1e30F; });
  Array y({3}, f32);
  call(first_of(log_softmax_kernels, f32), {x.view()}, {y.view()}, &attrs);
  EXPECT_EQ(y.at<float>(1), 0.0F);
  EXPECT_EQ(y.at<float>(0), -2e30F);
  x.at<float>(2) = std::numeric_limits<float>::quiet_NaN();
  call(first_of(log_softmax_kernels, f32), {x.view()}, {y.view()}, &attrs);
  EXPECT_TRUE(std::isnan(y.at<float>(0)));
}

void expect_softmax(const Shape& shape, std::int64_t axis) {
  const AxisAttrs attrs{axis};
  Array x = noise_array<float>(shape);
  Array g = noise_array<float>(shape, Lay::kDense, 1);
  Array y(shape, f32);
  Array want(shape, f32);
  call(first_of(softmax_kernels, f32), {x.view()}, {y.view()}, &attrs);
  call(reference_of(softmax_kernels, f32), {x.view()}, {want.view()}, &attrs);
  expect_near<float>(y, want, 2e-6);
  Array dx(shape, f32);
  call(first_of(softmax_grad_kernels, f32), {g.view(), y.view()}, {dx.view()},
       &attrs);
  call(reference_of(softmax_grad_kernels, f32), {g.view(), y.view()},
       {want.view()}, &attrs);
  expect_near<float>(dx, want, 4e-6);
}

TEST(SoftmaxTest, AgreesWithItsReferenceAtEveryLength) {
  for (std::int64_t n = 1; n <= 140; ++n) {
    expect_softmax({19, n}, 1);
    expect_softmax({n, 19}, 0);
  }
  expect_softmax({2, 5000}, 1);
  expect_softmax({3, 40, 21}, 1);
}

// Short rows lie across vectors or along them, as the layout suggests.
TEST(SoftmaxTest, RowsAcrossVectorsHaveTheBitsOfRowsAlong) {
  for (const std::int64_t n : {1, 7, 16, 49, 100, 128, 129}) {
    const Shape shape{37, n};
    const AxisAttrs attrs{1};
    for (const KernelList* list : {&softmax_kernels, &log_softmax_kernels}) {
      Array dense = noise_array<float>(shape);
      Array want(shape, f32);
      call(first_of(*list, f32), {dense.view()}, {want.view()}, &attrs);
      for (Lay lay : kLays) {
        Array x = noise_array<float>(shape, lay);
        Array y(shape, f32, lay);
        call(first_of(*list, f32), {x.view()}, {y.view()}, &attrs, 2);
        EXPECT_EQ(y.elements(), want.elements()) << list->name << " " << n;
        EXPECT_TRUE(y.has_intact_guards());
        call(first_of(*list, f32), {x.view()}, {x.view()}, &attrs);
        EXPECT_EQ(x.elements(), want.elements()) << list->name << " " << n;
      }
    }
  }
}

TEST(CausalSoftmaxTest, AgreesWithItsReferenceInEveryLayout) {
  const Shape shape{3, 41, 70};
  for (const std::int64_t diagonal : {-9, 0, 29, 100}) {
    const CausalAttrs attrs{0.3, diagonal};
    Array dense = noise_array<float>(shape);
    Array want(shape, f32);
    call(reference_of(causal_softmax_kernels, f32), {dense.view()},
         {want.view()}, &attrs);
    const Kernel& kernel = first_of(causal_softmax_kernels, f32);
    Array first(shape, f32);
    call(kernel, {dense.view()}, {first.view()}, &attrs);
    expect_near<float>(first, want, 2e-6);
    for (Lay lay : kLays) {
      Array x = noise_array<float>(shape, lay);
      Array y(shape, f32, lay);
      call(kernel, {x.view()}, {y.view()}, &attrs, 2);
      EXPECT_EQ(y.elements(), first.elements());
      EXPECT_TRUE(y.has_intact_guards());
      call(kernel, {x.view()}, {x.view()}, &attrs, 3);
      EXPECT_EQ(x.elements(), first.elements());
    }
  }
}

TEST(CausalSoftmaxTest, DoesNotMindWhatARowDoesNotSee) {
  const CausalAttrs attrs;
  Array x = noise_array<float>({40, 40});
  Array want({40, 40}, f32);
  Array y({40, 40}, f32);
  const Kernel& kernel = first_of(causal_softmax_kernels, f32);
  call(kernel, {x.view()}, {want.view()}, &attrs);
  for (std::int64_t i = 0; i < 40; ++i) {
    for (std::int64_t j = i + 1; j < 40; ++j) {
      x.at<float>(40 * i + j) = std::numeric_limits<float>::quiet_NaN();
    }
  }
  call(kernel, {x.view()}, {y.view()}, &attrs);
  EXPECT_EQ(y.elements(), want.elements());
}

struct Loss {
  Array loss;
  Array lse;
  Array dx;
};

template <class T>
Loss loss_of(bool is_ref, Array& x, Array& labels, int threads = 1,
             Lay lay = Lay::kDense) {
  const DType dtype = dtype_of<T>;
  Loss result{Array({}, dtype), Array({x.shape()[0]}, dtype, lay),
              Array(x.shape(), dtype, lay)};
  Array g = Array::of<T>({}, Lay::kDense, [](auto) { return T(2); });
  const auto& pick = is_ref ? reference_of : first_of;
  const CrossEntropyAttrs attrs;
  call(pick(cross_entropy_kernels, dtype), {x.view(), labels.view()},
       {result.loss.view(), result.lse.view()}, &attrs, threads);
  call(pick(cross_entropy_grad_kernels, dtype),
       {g.view(), x.view(), labels.view(), result.lse.view()},
       {result.dx.view()}, &attrs, threads);
  return result;
}

template <class T>
void expect_cross_entropy(std::int64_t samples, std::int64_t classes,
                          double tolerance) {
  Array x = noise_array<T>({samples, classes});
  Array labels = labels_of(samples, classes, Lay::kDense);
  Loss got = loss_of<T>(false, x, labels);
  Loss want = loss_of<T>(true, x, labels);
  expect_near<T>(got.loss, want.loss, tolerance);
  expect_near<T>(got.lse, want.lse, tolerance);
  expect_near<T>(got.dx, want.dx, tolerance);
}

TEST(CrossEntropyTest, AgreesWithItsReference) {
  for (std::int64_t classes = 1; classes <= 70; ++classes) {
    expect_cross_entropy<float>(5, classes, 2e-6);
    expect_cross_entropy<double>(5, classes, 4e-15);
  }
  expect_cross_entropy<float>(3, 3000, 4e-6);
}

TEST(CrossEntropyTest, LayoutsAndThreadsDoNotChangeBits) {
  Array dense = noise_array<float>({700, 10});
  Array dense_labels = labels_of(700, 10, Lay::kDense);
  Loss want = loss_of<float>(false, dense, dense_labels);
  for (Lay lay : kLays) {
    for (int threads = 1; threads <= 3; ++threads) {
      Array x = noise_array<float>({700, 10}, lay);
      Array labels = labels_of(700, 10, lay);
      Loss got = loss_of<float>(false, x, labels, threads, lay);
      EXPECT_EQ(got.loss.elements(), want.loss.elements());
      EXPECT_EQ(got.lse.elements(), want.lse.elements());
      EXPECT_EQ(got.dx.elements(), want.dx.elements());
    }
  }
}

TEST(CrossEntropyTest, OfNoSamplesIsZero) {
  Array x({0, 10}, f32);
  Array labels({0}, i64);
  Loss got = loss_of<float>(false, x, labels);
  EXPECT_EQ(got.loss.at<float>(0), 0.0F);
}

TEST(CrossEntropyTest, ALabelOutOfRangeIsNan) {
  Array x = noise_array<float>({2, 3});
  for (std::int64_t bad : {-1, 3}) {
    Array labels = Array::of<std::int64_t>(
        {2}, Lay::kDense, [bad](std::int64_t i) { return i == 0 ? bad : 1; });
    Loss got = loss_of<float>(false, x, labels);
    EXPECT_TRUE(std::isnan(got.loss.at<float>(0)));
    EXPECT_TRUE(std::isnan(got.dx.at<float>(0)));
    EXPECT_FALSE(std::isnan(got.dx.at<float>(3)));
  }
}

TEST(OneHotTest, MarksTheLabelAndNothingOutOfRange) {
  Array labels = Array::of<std::int64_t>({2, 2}, Lay::kTransposed,
                                         [](std::int64_t i) { return i - 1; });
  for (Lay lay : kLays) {
    Array y({2, 2, 2}, boolean, lay);
    call(first_of(one_hot_kernels, i64), {labels.view()}, {y.view()}, nullptr,
         2);
    const bool want[] = {false, false, true, false, false, true, false, false};
    for (std::int64_t i = 0; i < 8; ++i) {
      EXPECT_EQ(y.at<bool>(i), want[i]) << i;
    }
  }
}

}  // namespace
}  // namespace neap::kernels
