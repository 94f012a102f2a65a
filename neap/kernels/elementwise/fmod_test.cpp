// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// fmod and remainder are exact, and so the same as the standard library's for
// every pair of numbers, however long the division takes.
#include "neap/kernels/elementwise/fmod.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "neap/kernels/engine/kernel_testing.hpp"

namespace neap::kernels {
namespace {

using testing::Array;
using testing::call;
using testing::first_of;
using testing::Lay;

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
class FmodTest : public ::testing::Test {
 protected:
  void add(T a, T b) {
    a_.push_back(a);
    b_.push_back(b);
  }

  // Every NaN is as good as another.
  void expect_results_of(const KernelList& list, T (*want)(T, T)) {
    const Shape shape{static_cast<std::int64_t>(a_.size())};
    const auto of = [&](const std::vector<T>& values) {
      return Array::of<T>(shape, Lay::kDense, [&](std::int64_t i) {
        return values[static_cast<std::size_t>(i)];
      });
    };
    Array a = of(a_);
    Array b = of(b_);
    Array out(shape, dtype_of<T>, Lay::kDense);
    call(first_of(list, dtype_of<T>), {a.view(), b.view()}, {out.view()});
    for (std::size_t i = 0; i < a_.size(); ++i) {
      const T expected = want(a_[i], b_[i]);
      const T got = out.at<T>(static_cast<std::int64_t>(i));
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(got)) << a_[i] << " by " << b_[i];
      } else {
        ASSERT_EQ(std::bit_cast<BitsOf<T>>(got),
                  std::bit_cast<BitsOf<T>>(expected))
            << a_[i] << " by " << b_[i] << " is " << expected << ", not "
            << got;
      }
    }
  }

  void expect_all() {
    expect_results_of(fmod_kernels,
                      [](T a, T b) -> T { return std::fmod(a, b); });
    expect_results_of(remainder_kernels, [](T a, T b) -> T {
      const T rest = std::fmod(a, b);
      return rest != T(0) && (b < T(0)) != (rest < T(0)) ? rest + b : rest;
    });
  }

  std::mt19937_64 random_{7};

 private:
  std::vector<T> a_;
  std::vector<T> b_;
};

using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(FmodTest, Types);

TYPED_TEST(FmodTest, QuotientsNextToWholeNumbers) {
  std::uniform_real_distribution<TypeParam> numbers(TypeParam(0.5),
                                                    TypeParam(2));
  for (int i = 0; i < 100'000; ++i) {
    const TypeParam b = numbers(this->random_) * (i % 2 == 0 ? 1 : -1);
    const auto q = static_cast<TypeParam>(this->random_() >> (40 + i % 24));
    TypeParam a = b * q * (i % 3 == 0 ? 1 : -1);
    a = i % 5 == 0   ? std::nextafter(a, TypeParam(0))
        : i % 5 == 1 ? std::nextafter(a, a * 2)
                     : a;
    this->add(a, b);
  }
  this->expect_all();
}

TYPED_TEST(FmodTest, AnyBits) {
  for (int i = 0; i < 100'000; ++i) {
    const auto bits = [&] {
      return std::bit_cast<TypeParam>(
          static_cast<BitsOf<TypeParam>>(this->random_()));
    };
    const TypeParam b = bits();
    const TypeParam near = b * static_cast<TypeParam>(this->random_() % 100);
    this->add(i % 2 == 0 ? bits() : near, b);
  }
  this->expect_all();
}

TYPED_TEST(FmodTest, EndsOfTheRange) {
  using Limits = std::numeric_limits<TypeParam>;
  const std::vector<TypeParam> ends{TypeParam(0),
                                    Limits::denorm_min(),
                                    3 * Limits::denorm_min(),
                                    Limits::min(),
                                    std::nextafter(TypeParam(1), TypeParam(0)),
                                    TypeParam(1),
                                    std::nextafter(TypeParam(1), TypeParam(2)),
                                    TypeParam(3),
                                    Limits::max(),
                                    Limits::infinity(),
                                    Limits::quiet_NaN()};
  for (const TypeParam a : ends) {
    for (const TypeParam b : ends) {
      // A full vector of each, so that no other lane decides for it.
      for (int i = 0; i < 64; ++i) {
        this->add(i < 32 ? a : -a, i % 32 < 16 ? b : -b);
      }
    }
  }
  this->expect_all();
}

}  // namespace
}  // namespace neap::kernels
