// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Properties of every elementwise kernel of floats: it agrees with its
// reference and gives the same bits for any layout, length and thread count.
#include "neap/kernels/engine/elementwise.hpp"

#include "neap/kernels/activation/activations.hpp"
#include "neap/kernels/activation/rectifiers.hpp"
#include "neap/kernels/elementwise/arithmetic.hpp"
#include "neap/kernels/elementwise/exponential.hpp"
#include "neap/kernels/elementwise/fmod.hpp"
#include "neap/kernels/elementwise/rounding.hpp"
#include "neap/kernels/elementwise/trigonometry.hpp"
#include "neap/kernels/engine/kernel_testing.hpp"

namespace neap::kernels {
namespace {

using testing::Array;
using testing::call;
using testing::first_of;
using testing::kLays;
using testing::Lay;
using testing::noise;
using testing::reference_of;

struct Row {
  const KernelList* list;
  int inputs;
  double tolerance;  // units in the last place, against the reference
};

std::ostream& operator<<(std::ostream& out, const Row& row) {
  return out << row.list->name;
}

const Row kRows[] = {
    {&abs_kernels, 1, 0},        {&acos_kernels, 1, 3},
    {&acosh_kernels, 1, 4},      {&add_kernels, 2, 0},
    {&asin_kernels, 1, 4},       {&asinh_kernels, 1, 4},
    {&atan_kernels, 1, 4},       {&atan2_kernels, 2, 3},
    {&atanh_kernels, 1, 4},      {&ceil_kernels, 1, 0},
    {&cos_kernels, 1, 2},        {&cosh_kernels, 1, 4},
    {&div_kernels, 2, 0},        {&erf_kernels, 1, 4},
    {&erfc_kernels, 1, 5},       {&exp_kernels, 1, 2},
    {&expm1_kernels, 1, 3},      {&floor_kernels, 1, 0},
    {&fmod_kernels, 2, 0},       {&gaussian_kernels, 1, 4},
    {&log_kernels, 1, 4},        {&log10_kernels, 1, 3},
    {&log1p_kernels, 1, 4},      {&log2_kernels, 1, 3},
    {&maximum_kernels, 2, 0},    {&minimum_kernels, 2, 0},
    {&mul_kernels, 2, 0},        {&neg_kernels, 1, 0},
    {&pow_kernels, 2, 3},        {&reciprocal_kernels, 1, 0},
    {&relu_kernels, 1, 0},       {&remainder_kernels, 2, 0},
    {&round_kernels, 1, 0},      {&rsqrt_kernels, 1, 0},
    {&sigmoid_kernels, 1, 5},    {&sigmoid_grad_kernels, 2, 0},
    {&sign_kernels, 1, 0},       {&sin_kernels, 1, 2},
    {&sinh_kernels, 1, 4},       {&sqrt_kernels, 1, 0},
    {&square_kernels, 1, 0},     {&sub_kernels, 2, 0},
    {&tan_kernels, 1, 4},        {&tanh_kernels, 1, 5},
    {&tanh_grad_kernels, 2, 64}, {&trunc_kernels, 1, 0},
};

class ElementwiseTest : public ::testing::TestWithParam<Row> {
 protected:
  template <class T>
  static std::vector<Array> inputs(const Shape& shape, Lay lay) {
    std::vector<Array> arrays;
    for (int k = 0; k < GetParam().inputs; ++k) {
      arrays.push_back(Array::of<T>(shape, lay, [k](std::int64_t i) {
        return static_cast<T>(noise(2 * i + k));
      }));
    }
    return arrays;
  }

  template <class T>
  static Array run(const Kernel& kernel, std::vector<Array>& in,
                   const Shape& shape, Lay lay = Lay::kDense, int threads = 1) {
    Array out(shape, dtype_of<T>, lay);
    std::vector<Strided> views;
    for (Array& array : in) {
      views.push_back(array.view());
    }
    call(kernel, views, {out.view()}, nullptr, threads);
    EXPECT_TRUE(out.has_intact_guards()) << kernel.name;
    return out;
  }

  template <class T>
  static void expect_close_to_reference(const Shape& shape) {
    std::vector<Array> in = inputs<T>(shape, Lay::kDense);
    Array got = run<T>(first_of(*GetParam().list, dtype_of<T>), in, shape);
    Array want = run<T>(reference_of(*GetParam().list, dtype_of<T>), in, shape);
    for (std::int64_t i = 0; i < got.count(); ++i) {
      ASSERT_LE(
          testing::ulps(got.at<T>(i), static_cast<long double>(want.at<T>(i))),
          GetParam().tolerance)
          << i << ": " << got.at<T>(i) << " for " << want.at<T>(i);
    }
  }
};

TEST_P(ElementwiseTest, AgreesWithItsReferenceAtEveryLength) {
  for (std::int64_t n = 0; n <= 70; ++n) {
    expect_close_to_reference<float>({n});
    expect_close_to_reference<double>({n});
  }
}

TEST_P(ElementwiseTest, TailsHaveTheBitsOfFullVectors) {
  const Kernel& kernel = first_of(*GetParam().list, f32);
  std::vector<Array> all = inputs<float>({70}, Lay::kDense);
  const auto want = run<float>(kernel, all, {70}).elements();
  for (std::int64_t n = 1; n <= 70; ++n) {
    std::vector<Array> some = inputs<float>({n}, Lay::kDense);
    const auto got = run<float>(kernel, some, {n}).elements();
    ASSERT_EQ(std::memcmp(got.data(), want.data(), got.size()), 0) << n;
  }
}

TEST_P(ElementwiseTest, LayoutsAndThreadsDoNotChangeBits) {
  const Kernel& kernel = first_of(*GetParam().list, f32);
  const Shape shapes[] = {
      {}, {1, 1}, {3, 0, 2}, {2, 3, 1, 2, 1, 3, 2, 2}, {70, 700}, {17000, 3}};
  for (const Shape& shape : shapes) {
    std::vector<Array> dense = inputs<float>(shape, Lay::kDense);
    const auto want = run<float>(kernel, dense, shape).elements();
    for (Lay lay : kLays) {
      std::vector<Array> in = inputs<float>(shape, lay);
      for (int threads = 1; threads <= 3; ++threads) {
        EXPECT_EQ(run<float>(kernel, in, shape, lay, threads).elements(), want)
            << format_shape(shape) << " " << static_cast<int>(lay);
        EXPECT_EQ(
            run<float>(kernel, in, shape, Lay::kDense, threads).elements(),
            want);
      }
    }
  }
}

TEST_P(ElementwiseTest, BroadcastsInputs) {
  const Shape shape{3, 90, 5};
  const Shape smaller[] = {{}, {1}, {5}, {90, 1}, {3, 1, 1}, {3, 1, 5}};
  for (const Shape& small : smaller) {
    std::vector<Array> in = inputs<double>(shape, Lay::kDense);
    in.back() = inputs<double>(small, Lay::kDense)[0];
    Array got = run<double>(first_of(*GetParam().list, f64), in, shape);
    Array want = run<double>(reference_of(*GetParam().list, f64), in, shape);
    for (std::int64_t i = 0; i < got.count(); ++i) {
      ASSERT_LE(testing::ulps(got.at<double>(i),
                              static_cast<long double>(want.at<double>(i))),
                GetParam().tolerance)
          << format_shape(small) << " " << i;
    }
  }
}

TEST_P(ElementwiseTest, WritesOverAnInput) {
  const Kernel& kernel = first_of(*GetParam().list, f32);
  const Shape shape{7, 101};
  for (Lay lay : kLays) {
    std::vector<Array> in = inputs<float>(shape, lay);
    const auto want = run<float>(kernel, in, shape, lay).elements();
    std::vector<Strided> views;
    for (Array& array : in) {
      views.push_back(array.view());
    }
    call(kernel, views, {views[0]});
    EXPECT_EQ(in[0].elements(), want);
  }
}

INSTANTIATE_TEST_SUITE_P(AllKernels, ElementwiseTest,
                         ::testing::ValuesIn(kRows), [](const auto& row) {
                           return std::string(row.param.list->name);
                         });

}  // namespace
}  // namespace neap::kernels
