// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Transcendental kernels against libm in a wider type, and at the edges.
#include <cmath>
#include <limits>

#include "neap/kernels/activation/activations.hpp"
#include "neap/kernels/activation/rectifiers.hpp"
#include "neap/kernels/elementwise/arithmetic.hpp"
#include "neap/kernels/elementwise/exponential.hpp"
#include "neap/kernels/engine/math_testing.hpp"

namespace neap::kernels {
namespace {

using testing::apply_one;
using testing::Array;
using testing::call;
using testing::first_of;
using testing::Lay;
using testing::worst_error;
using testing::worst_error_by_scale;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

float apply_two(const KernelList& list, float a, float b) {
  Array x = Array::of<float>({}, Lay::kDense, [a](auto) { return a; });
  Array y = Array::of<float>({}, Lay::kDense, [b](auto) { return b; });
  Array z({}, f32);
  call(first_of(list, f32), {x.view(), y.view()}, {z.view()});
  return z.at<float>(0);
}

long double exact_exp(long double x) {
  return std::exp(x);
}
long double exact_log(long double x) {
  return std::log(x);
}
long double exact_tanh(long double x) {
  return std::tanh(x);
}
long double exact_sigmoid(long double x) {
  return 1.0L / (1.0L + std::exp(-x));
}

template <class T>
class MathTest : public ::testing::Test {
 protected:
  static constexpr bool kIsF32 = sizeof(T) == 4;
  static void expect(const char* what, double error, double bound) {
    ::testing::Test::RecordProperty(what, std::to_string(error));
    EXPECT_LE(error, bound) << what;
  }
};

using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(MathTest, Floats);

TYPED_TEST(MathTest, ExpIsAccurate) {
  using T = TypeParam;
  const double low = this->kIsF32 ? -87.3 : -708.3;
  const double high = this->kIsF32 ? 88.72 : 709.78;
  this->expect("range", worst_error<T>(exp_kernels, exact_exp, low, high), 2);
  this->expect("near_0", worst_error<T>(exp_kernels, exact_exp, -1, 1), 2);
  const double end = this->kIsF32 ? -104 : -746;
  this->expect("subnormal", worst_error<T>(exp_kernels, exact_exp, end, low),
               2);
}

TYPED_TEST(MathTest, LogIsAccurate) {
  using T = TypeParam;
  const double low = this->kIsF32 ? -149 : -1074;
  const double high = this->kIsF32 ? 127.9 : 1023.9;
  this->expect("range",
               worst_error_by_scale<T>(log_kernels, exact_log, low, high, 1),
               4);
  this->expect("near_1", worst_error<T>(log_kernels, exact_log, 0.5, 2), 4);
}

TYPED_TEST(MathTest, TanhIsAccurate) {
  using T = TypeParam;
  const double low = this->kIsF32 ? -126 : -1022;
  this->expect("range", worst_error<T>(tanh_kernels, exact_tanh, -25, 25), 4);
  this->expect("near_0", worst_error<T>(tanh_kernels, exact_tanh, -1, 1), 4);
  for (double sign : {-1.0, 1.0}) {
    this->expect(
        "scale",
        worst_error_by_scale<T>(tanh_kernels, exact_tanh, low, 3, sign), 4);
  }
}

TYPED_TEST(MathTest, SigmoidIsAccurate) {
  using T = TypeParam;
  const double low = this->kIsF32 ? -87 : -708;
  this->expect("range", worst_error<T>(sigmoid_kernels, exact_sigmoid, low, 90),
               4);
  this->expect("near_0", worst_error<T>(sigmoid_kernels, exact_sigmoid, -2, 2),
               4);
}

TYPED_TEST(MathTest, EdgesAreRight) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity();
  const T nan = std::numeric_limits<T>::quiet_NaN();
  EXPECT_EQ(apply_one<T>(exp_kernels, inf), inf);
  EXPECT_EQ(apply_one<T>(exp_kernels, T(1000)), inf);
  EXPECT_EQ(apply_one<T>(exp_kernels, -inf), T(0));
  EXPECT_EQ(apply_one<T>(exp_kernels, T(-1e30)), T(0));
  EXPECT_EQ(apply_one<T>(exp_kernels, T(0)), T(1));
  EXPECT_EQ(apply_one<T>(log_kernels, inf), inf);
  EXPECT_EQ(apply_one<T>(log_kernels, T(0)), -inf);
  EXPECT_EQ(apply_one<T>(log_kernels, T(-0.0)), -inf);
  EXPECT_EQ(apply_one<T>(log_kernels, T(1)), T(0));
  EXPECT_TRUE(std::isnan(apply_one<T>(log_kernels, T(-1))));
  EXPECT_EQ(apply_one<T>(tanh_kernels, inf), T(1));
  EXPECT_EQ(apply_one<T>(tanh_kernels, -inf), T(-1));
  EXPECT_EQ(apply_one<T>(tanh_kernels, T(0)), T(0));
  EXPECT_TRUE(std::signbit(apply_one<T>(tanh_kernels, T(-0.0))));
  EXPECT_EQ(apply_one<T>(sigmoid_kernels, inf), T(1));
  EXPECT_EQ(apply_one<T>(sigmoid_kernels, -inf), T(0));
  EXPECT_EQ(apply_one<T>(sigmoid_kernels, T(0)), T(0.5));
  for (const KernelList* list :
       {&exp_kernels, &log_kernels, &tanh_kernels, &sigmoid_kernels,
        &relu_kernels, &sign_kernels}) {
    EXPECT_TRUE(std::isnan(apply_one<T>(*list, nan))) << list->name;
  }
}

TEST(EdgeTest, MaximumAndMinimumPropagateNan) {
  for (const KernelList* list : {&maximum_kernels, &minimum_kernels}) {
    EXPECT_TRUE(std::isnan(apply_two(*list, kNan, 1.0F))) << list->name;
    EXPECT_TRUE(std::isnan(apply_two(*list, 1.0F, kNan))) << list->name;
    EXPECT_TRUE(std::isnan(apply_two(*list, kNan, kInf))) << list->name;
  }
  EXPECT_EQ(apply_two(maximum_kernels, -kInf, kInf), kInf);
  EXPECT_EQ(apply_two(minimum_kernels, -kInf, kInf), -kInf);
}

TEST(EdgeTest, ReluAtZero) {
  EXPECT_EQ(apply_one<float>(relu_kernels, 0.0F), 0.0F);
  EXPECT_FALSE(std::signbit(apply_one<float>(relu_kernels, -0.0F)));
  EXPECT_EQ(apply_one<float>(relu_kernels, -kInf), 0.0F);
}

}  // namespace
}  // namespace neap::kernels
