// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Mathematical kernels of one input, and pow and atan2, against libm in a wider
// type over their whole range, and against libm at the edges.
#include <cmath>

#include "neap/kernels/elementwise/arithmetic.hpp"
#include "neap/kernels/elementwise/exponential.hpp"
#include "neap/kernels/elementwise/rounding.hpp"
#include "neap/kernels/elementwise/trigonometry.hpp"
#include "neap/kernels/engine/math_testing.hpp"

namespace neap::kernels {
namespace {

using testing::apply;
using testing::apply_one;
using testing::Array;
using testing::call;
using testing::first_of;
using testing::Lay;
using testing::noise;
using testing::ulps;
using testing::worst_error;
using testing::worst_error_by_scale;

// A function. x goes evenly from `low` to `high`, and through +-2^e for e
// up to `top`; the second number of each is f64's.
struct Function {
  const KernelList* list;
  long double (*exact)(long double);
  double low[2];
  double high[2];
  double top[2];
  double bound[2];  // units in the last place
};

std::ostream& operator<<(std::ostream& out, const Function& f) {
  return out << f.list->name;
}

// Correctly rounded but for one in thousands.
constexpr double kBest = 0.6;

const Function kFunctions[] = {
    {&acos_kernels,
     [](long double x) { return std::acos(x); },
     {-1, -1},
     {1, 1},
     {0, 0},
     {1.3, 1.3}},
    {&acosh_kernels,
     [](long double x) { return std::acosh(x); },
     {1, 1},
     {5, 5},
     {127.9, 1023.9},
     {kBest, 2.8}},
    {&asin_kernels,
     [](long double x) { return std::asin(x); },
     {-1, -1},
     {1, 1},
     {0, 0},
     {2.4, 2.4}},
    {&asinh_kernels,
     [](long double x) { return std::asinh(x); },
     {-5, -5},
     {5, 5},
     {127.9, 1023.9},
     {kBest, 2.5}},
    {&atan_kernels,
     [](long double x) { return std::atan(x); },
     {-5, -5},
     {5, 5},
     {127.9, 1023.9},
     {2.6, 2}},
    {&atanh_kernels,
     [](long double x) { return std::atanh(x); },
     {-0.9999, -0.9999},
     {0.9999, 0.9999},
     {0, 0},
     {kBest, 2.8}},
    {&cos_kernels,
     [](long double x) { return std::cos(x); },
     {-1e6, -1e6},
     {1e6, 1e6},
     {127.9, 1023.9},
     {0.7, 0.9}},
    {&cosh_kernels,
     [](long double x) { return std::cosh(x); },
     {-89.4, -710.4},
     {89.4, 710.4},
     {6, 9},
     {kBest, 2.3}},
    {&erf_kernels,
     [](long double x) { return std::erf(x); },
     {-4.2, -6.2},
     {4.2, 6.2},
     {3, 3},
     {2.7, 1.8}},
    {&erfc_kernels,
     [](long double x) { return std::erfc(x); },
     {-4.2, -6.2},
     {10.2, 27.3},
     {0, 0},
     {kBest, 3.9}},
    {&expm1_kernels,
     [](long double x) { return std::expm1(x); },
     {-42, -42},
     {88.7, 709.7},
     {0, 0},
     {1.9, 1.9}},
    {&gaussian_kernels,
     [](long double x) { return std::exp(-x * x); },
     {-4, -4},
     {10.2, 27.3},
     {0, 0},
     {1.6, 1.6}},
    {&log10_kernels,
     [](long double x) { return std::log10(x); },
     {0.5, 0.5},
     {2, 2},
     {127.9, 1023.9},
     {kBest, kBest}},
    {&log1p_kernels,
     [](long double x) { return std::log1p(x); },
     {-0.999, -0.999},
     {2, 2},
     {127.9, 1023.9},
     {2.4, 2.4}},
    {&log2_kernels,
     [](long double x) { return std::log2(x); },
     {0.5, 0.5},
     {2, 2},
     {127.9, 1023.9},
     {kBest, kBest}},
    {&rsqrt_kernels,
     [](long double x) { return 1 / std::sqrt(x); },
     {0.5, 0.5},
     {4, 4},
     {127.9, 1023.9},
     {1.5, 1.5}},
    {&sin_kernels,
     [](long double x) { return std::sin(x); },
     {-1e6, -1e6},
     {1e6, 1e6},
     {127.9, 1023.9},
     {0.7, 0.9}},
    {&sinh_kernels,
     [](long double x) { return std::sinh(x); },
     {-89.4, -710.4},
     {89.4, 710.4},
     {6, 9},
     {kBest, 2.3}},
    {&tan_kernels,
     [](long double x) { return std::tan(x); },
     {-1e6, -1e6},
     {1e6, 1e6},
     {127.9, 1023.9},
     {0.8, 2.2}},
};

class AccuracyTest : public ::testing::TestWithParam<Function> {
 protected:
  template <class T>
  void check() {
    const Function& f = GetParam();
    const std::size_t which = sizeof(T) == 4 ? 0 : 1;
    const KernelList& list = *f.list;
    const double worst =
        worst_error<T>(list, f.exact, f.low[which], f.high[which]);
    EXPECT_LE(worst, f.bound[which]) << "evenly";
    EXPECT_LE(worst_error<T>(list, f.exact, std::max(f.low[which], -3.0),
                             std::min(f.high[which], 3.0)),
              f.bound[which])
        << "near 0";
    for (double sign : {1.0, -1.0}) {
      EXPECT_LE(worst_error_by_scale<T>(list, f.exact, kLowest<T>, f.top[which],
                                        sign),
                f.bound[which])
          << "by scale, " << sign;
    }
  }
  // Exponent of the smallest subnormal number.
  template <class T>
  static constexpr double kLowest = sizeof(T) == 4 ? -149.0 : -1074.0;
};

TEST_P(AccuracyTest, OfF32) {
  check<float>();
}

TEST_P(AccuracyTest, OfF64) {
  check<double>();
}

INSTANTIATE_TEST_SUITE_P(Functions, AccuracyTest,
                         ::testing::ValuesIn(kFunctions), [](const auto& row) {
                           return std::string(row.param.list->name);
                         });

// Multiples of pi / 2, where sin, cos and tan have lost nearly all digits.
TEST(TrigTest, IsAccurateBesideItsZeros) {
  const auto check = [](const KernelList& list,
                        long double (*exact)(long double)) {
    Array y = apply<double>(list, 300000, [](std::int64_t i) {
      return static_cast<double>(static_cast<long double>(i) *
                                 1.57079632679489661923132169163975144L);
    });
    // The arguments again: what was rounded to double.
    for (std::int64_t i = 0; i < y.count(); ++i) {
      const auto x = static_cast<double>(
          static_cast<long double>(i) * 1.57079632679489661923132169163975144L);
      const double off = ulps(y.at<double>(i), exact(x));
      ASSERT_LE(off, 2.2) << list.name << " " << x;
    }
  };
  check(sin_kernels, [](long double x) { return std::sin(x); });
  check(cos_kernels, [](long double x) { return std::cos(x); });
  check(tan_kernels, [](long double x) { return std::tan(x); });
}

template <class T>
const std::vector<T>& edges() {
  using Limits = std::numeric_limits<T>;
  static const std::vector<T> all{T(0),
                                  T(-0.0),
                                  T(1),
                                  T(-1),
                                  T(2),
                                  T(-2),
                                  T(3),
                                  T(-3),
                                  T(0.5),
                                  T(-0.5),
                                  T(1.5),
                                  T(2.5),
                                  T(-2.5),
                                  T(0.1),
                                  T(7),
                                  T(1e10),
                                  T(-1e10),
                                  T(1e30),
                                  T(-1e30),
                                  T(8388607.5),
                                  T(9007199254740993.0),
                                  T(1) + Limits::epsilon(),
                                  Limits::denorm_min(),
                                  -Limits::denorm_min(),
                                  Limits::max(),
                                  Limits::lowest(),
                                  Limits::infinity(),
                                  -Limits::infinity(),
                                  Limits::quiet_NaN()};
  return all;
}

// Equal NaNs, signs of zero and infinities; finite numbers to 4 units.
template <class T>
void expect_same(T got, T want, const std::string& what) {
  EXPECT_EQ(std::isnan(got), std::isnan(want)) << what << ": " << got;
  if (!std::isnan(want)) {
    EXPECT_EQ(std::signbit(got), std::signbit(want)) << what << ": " << got;
    EXPECT_LE(ulps(got, static_cast<long double>(want)), 4.0)
        << what << ": " << got << " for " << want;
  }
}

template <class T>
void expect_edges(const KernelList& list, long double (*exact)(long double)) {
  const std::vector<T>& x = edges<T>();
  const auto count = static_cast<std::int64_t>(x.size());
  Array y = apply<T>(list, count, [&](std::int64_t i) {
    return x[static_cast<std::size_t>(i)];
  });
  for (std::size_t i = 0; i < x.size(); ++i) {
    expect_same(y.at<T>(static_cast<std::int64_t>(i)),
                static_cast<T>(exact(static_cast<long double>(x[i]))),
                list.name + (" of " + std::to_string(x[i])));
  }
}

template <class T>
void expect_edges_of_two(const KernelList& list, T (*exact)(T, T)) {
  const Kernel& kernel = first_of(list, dtype_of<T>);
  for (T a : edges<T>()) {
    for (T b : edges<T>()) {
      Array x = Array::of<T>({}, Lay::kDense, [a](auto) { return a; });
      Array y = Array::of<T>({}, Lay::kDense, [b](auto) { return b; });
      Array z({}, dtype_of<T>);
      call(kernel, {x.view(), y.view()}, {z.view()});
      expect_same(
          z.at<T>(0), exact(a, b),
          list.name + (" of " + std::to_string(a)) + ", " + std::to_string(b));
    }
  }
}

TEST_P(AccuracyTest, IsRightAtTheEdges) {
  expect_edges<float>(*GetParam().list, GetParam().exact);
  expect_edges<double>(*GetParam().list, GetParam().exact);
}

TEST(RoundingTest, IsRightAtTheEdges) {
  const auto check = [](const KernelList& list,
                        long double (*exact)(long double)) {
    expect_edges<float>(list, exact);
    expect_edges<double>(list, exact);
  };
  check(ceil_kernels, [](long double x) { return std::ceil(x); });
  check(floor_kernels, [](long double x) { return std::floor(x); });
  check(round_kernels, [](long double x) { return std::nearbyint(x); });
  check(trunc_kernels, [](long double x) { return std::trunc(x); });
}

TEST(PairTest, AreRightAtTheEdges) {
  expect_edges_of_two<float>(pow_kernels, std::pow);
  expect_edges_of_two<double>(pow_kernels, std::pow);
  expect_edges_of_two<float>(atan2_kernels, std::atan2);
  expect_edges_of_two<double>(atan2_kernels, std::atan2);
}

TEST(LogTest, IsExactAtWholePowers) {
  for (int e = -1074; e < 1024; ++e) {
    const double x = std::ldexp(1.0, e);
    EXPECT_EQ(apply_one(log2_kernels, x), e);
    if (e >= -149 && e < 128) {
      EXPECT_EQ(apply_one(log2_kernels, static_cast<float>(x)),
                static_cast<float>(e));
    }
  }
  for (int e = 0; e <= 22; ++e) {
    const auto x = static_cast<double>(std::pow(10.0L, e));
    EXPECT_EQ(apply_one(log10_kernels, x), e);
    if (e <= 10) {
      EXPECT_EQ(apply_one(log10_kernels, static_cast<float>(x)),
                static_cast<float>(e));
    }
  }
}

// a > 0 of every size, and b such that a^b is neither 0 nor infinite.
template <class T>
double worst_power() {
  constexpr std::int64_t kCount = 300000;
  constexpr double kTop = sizeof(T) == 4 ? 127.0 : 1023.0;
  const auto base = [](std::int64_t i) {
    const double size[] = {kTop, 2.0, 1e-3};
    return static_cast<T>(std::exp2(noise(i) / 4.0 * size[i % 3]));
  };
  const auto exponent = [&](std::int64_t i) {
    const double limit = kTop / std::max(std::abs(std::log2(base(i))), T(1e-9));
    return static_cast<T>(noise(kCount + i) / 4.0 * limit);
  };
  Array a = Array::of<T>({kCount}, Lay::kDense, base);
  Array b = Array::of<T>({kCount}, Lay::kDense, exponent);
  Array y({kCount}, dtype_of<T>);
  call(first_of(pow_kernels, dtype_of<T>), {a.view(), b.view()}, {y.view()});
  double worst = 0.0;
  for (std::int64_t i = 0; i < kCount; ++i) {
    const auto x = static_cast<long double>(a.at<T>(i));
    const auto exact = std::pow(x, static_cast<long double>(b.at<T>(i)));
    worst = std::max(worst, ulps(y.at<T>(i), exact));
  }
  return worst;
}

TEST(PairTest, PowIsAccurate) {
  EXPECT_LE(worst_power<float>(), 0.6);
  EXPECT_LE(worst_power<double>(), 1.6);
}

template <class T>
double worst_angle() {
  constexpr std::int64_t kCount = 300000;
  const auto number = [](std::int64_t i) {
    const double size = i % 2 == 0 ? 1.0 : 25.0;
    return static_cast<T>(noise(3 * i) * std::exp2(noise(3 * i + 1) * size));
  };
  Array a = Array::of<T>({kCount}, Lay::kDense, number);
  Array b = Array::of<T>({kCount}, Lay::kDense,
                         [&](std::int64_t i) { return number(kCount + i); });
  Array y({kCount}, dtype_of<T>);
  call(first_of(atan2_kernels, dtype_of<T>), {a.view(), b.view()}, {y.view()});
  double worst = 0.0;
  for (std::int64_t i = 0; i < kCount; ++i) {
    const auto exact = std::atan2(static_cast<long double>(a.at<T>(i)),
                                  static_cast<long double>(b.at<T>(i)));
    worst = std::max(worst, ulps(y.at<T>(i), exact));
  }
  return worst;
}

TEST(PairTest, Atan2IsAccurate) {
  EXPECT_LE(worst_angle<float>(), 0.6);
  EXPECT_LE(worst_angle<double>(), 1.8);
}

}  // namespace
}  // namespace neap::kernels
