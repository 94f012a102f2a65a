// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/engine/targets.hpp"
// Kept apart: the list of targets must be known before Highway's headers.
#include "neap/kernels/gemm/gemm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "hwy/highway.h"
#include "neap/base/philox.hpp"
#include "neap/threads/pool.hpp"

namespace neap::kernels {
namespace {

constexpr std::size_t kGuard = 64;  // elements or bytes that nobody may touch

// How a matrix lies in its storage.
enum class Lie { kPlain, kTransposed, kSpread, kRepeatedRow, kRepeatedColumn };
constexpr std::array kLies{Lie::kPlain, Lie::kTransposed, Lie::kSpread,
                           Lie::kRepeatedRow, Lie::kRepeatedColumn};
constexpr std::array kEnds{GemmEnd::kPlain, GemmEnd::kRelu};
constexpr std::array kStarts{GemmStart::kZero, GemmStart::kBias, GemmStart::kC};

// Runs the body at every instruction set that is compiled in and present. In
// bf16 the sets without dot products have the reference alone.
template <class Kind, class Body>
void at_each_isa(const Body& body) {
  hwy::SetSupportedTargetsForTest(0);
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    if (Kind::kPrecision == Precision::kBf16 && !has_bf16_dot()) {
      continue;
    }
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

template <class T>
std::vector<T> random_elements(std::int64_t count, std::uint64_t seed) {
  const base::DrawKey key{seed, 0};
  std::vector<T> elements(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    elements[i] = static_cast<T>(base::uniform_f32(key.word(i))) * T{2} - T{1};
  }
  return elements;
}

// The element type and the precision of a product.
struct F32 {
  using Type = float;
  static constexpr Precision kPrecision = Precision::kF32;
};
struct F64 {
  using Type = double;
  static constexpr Precision kPrecision = Precision::kF32;
};
struct Bf16 {
  using Type = float;
  static constexpr Precision kPrecision = Precision::kBf16;
};

// A product with operands of its own.
template <class Kind>
struct Case {
  using T = typename Kind::Type;
  Gemm<T> gemm;
  std::vector<T> a, b, bias, start;

  Case(std::int64_t m, std::int64_t n, std::int64_t k, Lie lie_a, Lie lie_b,
       GemmStart begin) {
    gemm.m = m;
    gemm.n = n;
    gemm.k = k;
    gemm.a = place(a, m, k, lie_a, 1);
    gemm.b = place(b, k, n, lie_b, 2);
    gemm.start = begin;
    gemm.precision = Kind::kPrecision;
    bias = random_elements<T>(3 * n, 3);
    gemm.bias = bias.data();
    gemm.bias_stride = lie_b == Lie::kSpread ? 3 : 1;
    start = random_elements<T>(m * n, 4);
  }

  static GemmOperand<T> place(std::vector<T>& storage, std::int64_t rows,
                              std::int64_t columns, Lie lie,
                              std::uint64_t seed) {
    GemmOperand<T> operand;
    switch (lie) {
      case Lie::kPlain:
        operand = {nullptr, columns, 1};
        break;
      case Lie::kTransposed:
        operand = {nullptr, 1, rows};
        break;
      case Lie::kSpread:
        operand = {nullptr, 2 * columns + 3, 2};
        break;
      case Lie::kRepeatedRow:
        operand = {nullptr, 0, 1};
        break;
      case Lie::kRepeatedColumn:
        operand = {nullptr, 1, 0};
        break;
    }
    // Exactly as much as the strides reach, so that sanitizers see overreads.
    const std::int64_t reach = rows == 0 || columns == 0
                                   ? 0
                                   : (rows - 1) * operand.row_stride +
                                         (columns - 1) * operand.column_stride +
                                         1;
    storage = random_elements<T>(reach, seed);
    operand.data = storage.data();
    return operand;
  }

  std::vector<T> reference() const {
    std::vector<T> c = start;
    Gemm<T> product = gemm;
    product.c = c.data();
    gemm_reference(product);
    return c;
  }

  // Runs with guards around C and behind the scratch, which begins as NaNs.
  std::vector<T> run(threads::Executor& executor) const {
    const T guard = T{-77};
    std::vector<T> c(start.size() + 2 * kGuard, guard);
    std::copy(start.begin(), start.end(), c.begin() + kGuard);
    Gemm<T> product = gemm;
    product.c = c.data() + kGuard;
    const auto bytes = static_cast<std::size_t>(
        gemm_scratch_bytes(product, executor.threads()));
    std::vector<std::byte> scratch(bytes + kGuard, std::byte{0xFF});
    kernels::gemm(product, std::span(scratch).first(bytes), executor);
    for (std::size_t i = 0; i < kGuard; ++i) {
      EXPECT_EQ(c[i], guard) << "before C";
      EXPECT_EQ(c[c.size() - 1 - i], guard) << "behind C";
      EXPECT_EQ(scratch[bytes + i], std::byte{0xFF}) << "behind the scratch";
    }
    return {c.begin() + kGuard, c.end() - kGuard};
  }
};

template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  return x.size() == y.size() &&
         (x.empty() ||
          std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0);
}

template <class T>
class GemmTest : public testing::Test {};
using ElementTypes = testing::Types<F32, F64, Bf16>;
TYPED_TEST_SUITE(GemmTest, ElementTypes);

TYPED_TEST(GemmTest, HasTheBitsOfTheReferenceForEveryShapeAndStride) {
  at_each_isa<TypeParam>([] {
    std::uint64_t number = 0;
    for (const std::int64_t m : {0, 1, 2, 3, 5, 6, 7, 12, 13, 25, 61}) {
      for (const std::int64_t n : {0, 1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 67}) {
        for (const std::int64_t k : {0, 1, 2, 5, 16, 19, 256, 257, 523}) {
          ++number;  // walks through all pairs of layouts and all starts
          Case<TypeParam> x(m, n, k, kLies[number % 5], kLies[number / 5 % 5],
                            kStarts[number % 3]);
          x.gemm.end = kEnds[number / 2 % 2];
          ASSERT_TRUE(
              same_bits(x.run(threads::serial_executor()), x.reference()))
              << m << " x " << n << " x " << k << ", number " << number;
        }
      }
    }
  });
}

TYPED_TEST(GemmTest, HasTheSameBitsForEveryThreadCount) {
  using T = typename TypeParam::Type;
  struct Extents {
    std::int64_t m, n, k;
  };
  threads::Pool pool(1);
  at_each_isa<TypeParam>([&pool] {
    std::size_t number = 0;
    for (const Extents e :
         {Extents{128, 10, 1021}, Extents{10, 1021, 128}, Extents{97, 101, 103},
          Extents{1, 1021, 1021}, Extents{1021, 1, 1021},
          Extents{1021, 1021, 1}, Extents{128, 272, 300}}) {
      for (const GemmStart start : kStarts) {
        ++number;
        const Case<TypeParam> x(e.m, e.n, e.k, kLies[number % 3],
                                kLies[number / 3 % 3], start);
        const std::vector<T> expected = x.reference();
        for (const int threads : {1, 2, 3, 5}) {
          pool.resize(threads);
          ASSERT_TRUE(same_bits(x.run(pool), expected))
              << e.m << " x " << e.n << " x " << e.k << ", " << threads
              << " threads";
        }
      }
    }
  });
}

TYPED_TEST(GemmTest, HasTheBitsOfTheReferenceForEachWayOfReadingOperands) {
  struct Extents {
    std::int64_t m, n, k;
  };
  at_each_isa<TypeParam>([] {
    std::size_t number = 0;
    // Swapped over several blocks of k; rows a page apart; B in place and not.
    for (const Extents e :
         {Extents{20, 300, 2500}, Extents{300, 9, 1100}, Extents{30, 70, 1024},
          Extents{30, 140, 2048}, Extents{96, 48, 770}, Extents{97, 48, 770},
          Extents{3, 33, 3}, Extents{24, 64, 10}}) {
      for (const Lie lie_a : {Lie::kPlain, Lie::kTransposed}) {
        for (const Lie lie_b : {Lie::kPlain, Lie::kTransposed}) {
          ++number;
          Case<TypeParam> x(e.m, e.n, e.k, lie_a, lie_b, kStarts[number % 3]);
          x.gemm.end = kEnds[number / 3 % 2];
          ASSERT_TRUE(
              same_bits(x.run(threads::serial_executor()), x.reference()))
              << e.m << " x " << e.n << " x " << e.k << ", number " << number;
        }
      }
    }
  });
}

TYPED_TEST(GemmTest, ClampsFinishedSumsAloneAndKeepsNan) {
  using T = typename TypeParam::Type;
  at_each_isa<TypeParam>([] {
    Case<TypeParam> x(1, 3, 600, Lie::kPlain, Lie::kPlain, GemmStart::kBias);
    std::fill(x.a.begin(), x.a.end(), T{1});
    for (std::size_t i = 0; i < x.b.size(); ++i) {
      const bool is_early = i < 3 * 300;
      x.b[i] = T(i % 3 == 0 ? (is_early ? -1 : 2) : -1);
    }
    x.bias = {0, 0, std::numeric_limits<T>::quiet_NaN()};
    x.gemm.bias = x.bias.data();
    x.gemm.end = GemmEnd::kRelu;
    const std::vector<T> c = x.run(threads::serial_executor());
    EXPECT_EQ(c[0], T{300});  // negative on the way
    EXPECT_EQ(c[1], T{0});
    EXPECT_TRUE(std::isnan(c[2]));
  });
}

TYPED_TEST(GemmTest, ContinuesOneSumOverAllBlocksOfK) {
  using T = typename TypeParam::Type;
  at_each_isa<TypeParam>([] {
    // Above 2^digits adding 1 changes nothing; a sum of 1000 ones would.
    const T large = T{2} / std::numeric_limits<T>::epsilon();
    Case<TypeParam> x(5, 40, 1000, Lie::kPlain, Lie::kPlain, GemmStart::kBias);
    std::fill(x.a.begin(), x.a.end(), T{1});
    std::fill(x.b.begin(), x.b.end(), T{1});
    std::fill(x.bias.begin(), x.bias.end(), large);
    EXPECT_EQ(x.run(threads::serial_executor()), std::vector<T>(5 * 40, large));
  });
}

TYPED_TEST(GemmTest, MultipliesSmallIntegersExactly) {
  using T = typename TypeParam::Type;
  at_each_isa<TypeParam>([] {
    Case<TypeParam> x(2, 2, 2, Lie::kPlain, Lie::kPlain, GemmStart::kC);
    std::ranges::copy(std::array<T, 4>{1, 2, 3, 4}, x.a.begin());
    std::ranges::copy(std::array<T, 4>{5, 6, 7, 8}, x.b.begin());
    x.start = {100, 200, 300, 400};
    const std::vector<T> expected{119, 222, 343, 450};
    EXPECT_EQ(x.run(threads::serial_executor()), expected);
    EXPECT_EQ(x.reference(), expected);
  });
}

TYPED_TEST(GemmTest, KeepsNanAndInfinityInTheirRowsAndColumns) {
  using T = typename TypeParam::Type;
  at_each_isa<TypeParam>([] {
    Case<TypeParam> x(14, 35, 9, Lie::kPlain, Lie::kPlain, GemmStart::kZero);
    x.a[3 * 9 + 4] = std::numeric_limits<T>::infinity();
    x.b[5 * 35 + 34] = std::numeric_limits<T>::quiet_NaN();
    const std::vector<T> c = x.run(threads::serial_executor());
    for (std::size_t i = 0; i < c.size(); ++i) {
      EXPECT_EQ(std::isfinite(c[i]), i / 35 != 3 && i % 35 != 34) << i;
    }
  });
}

TYPED_TEST(GemmTest, SizesItsScratchWithoutLookingAtData) {
  using T = typename TypeParam::Type;
  const Case<TypeParam> x(128, 512, 784, Lie::kPlain, Lie::kTransposed,
                          GemmStart::kZero);
  Gemm<T> blank = x.gemm;
  blank.a.data = nullptr;
  blank.b.data = nullptr;
  EXPECT_EQ(gemm_scratch_bytes(blank, 2), gemm_scratch_bytes(x.gemm, 2));
}

// Every kind of number there is: normal, denormal, infinite, NaN.
std::vector<float> any_numbers(std::size_t count, std::uint64_t seed) {
  const base::DrawKey key{seed, 0};
  std::vector<float> elements(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t word = key.word(2 * i);
    constexpr std::array kExponents{0U,  0U,   1U,   40U,  60U,  63U,
                                    64U, 100U, 127U, 180U, 200U, 254U};
    const std::uint32_t exponent =
        key.word(2 * i + 1) % 64 == 0
            ? 255U
            : kExponents[key.word(2 * i + 1) / 64 % kExponents.size()];
    elements[i] = std::bit_cast<float>((word & 0x807FFFFFU) | exponent << 23U);
  }
  return elements;
}

TEST(GemmBf16Test, HasTheBitsOfTheReferenceForEveryKindOfNumber) {
  for (const std::int64_t k : {1, 2, 3, 8}) {
    for (const Lie lie : kLies) {
      Case<Bf16> x(30, 40, k, Lie::kPlain, lie, GemmStart::kC);
      x.a = any_numbers(x.a.size(), 5);
      x.b = any_numbers(x.b.size(), 6);
      x.gemm.a.data = x.a.data();
      x.gemm.b.data = x.b.data();
      x.start = any_numbers(x.start.size(), 7);
      const std::vector<float> c = x.run(threads::serial_executor());
      const std::vector<float> expected = x.reference();
      for (std::size_t i = 0; i < c.size(); ++i) {
        ASSERT_TRUE((std::isnan(c[i]) && std::isnan(expected[i])) ||
                    std::bit_cast<std::uint32_t>(c[i]) ==
                        std::bit_cast<std::uint32_t>(expected[i]))
            << "k " << k << ", " << i << ": " << c[i] << " not " << expected[i];
      }
    }
  }
}

// Rounded, paired and added by hand.
TEST(GemmBf16Test, RoundsFactorsToNearestEvenAndTakesTheOddProductFirst) {
  const auto dot = [](std::vector<float> a, std::vector<float> b, float c) {
    Gemm<float> x;
    x.m = 1;
    x.n = 1;
    x.k = static_cast<std::int64_t>(a.size());
    x.a = {a.data(), x.k, 1};
    x.b = {b.data(), 1, 1};
    x.c = &c;
    x.start = GemmStart::kC;
    x.precision = Precision::kBf16;
    std::vector<std::byte> scratch(
        static_cast<std::size_t>(gemm_scratch_bytes(x, 1)));
    gemm(x, scratch, threads::serial_executor());
    return c;
  };
  EXPECT_EQ(dot({1 + 0x1p-8F}, {1}, 0), 1);            // a tie, to even
  EXPECT_EQ(dot({1 + 0x3p-8F}, {1}, 0), 1 + 0x1p-6F);  // likewise, upward
  EXPECT_EQ(dot({1 + 0x1.1p-8F}, {1}, 0), 1 + 0x1p-7F);
  // The odd product meets the sum first: 2^24 + 1 is lost, 2^24 - 2^24 + 1 not.
  EXPECT_EQ(dot({1, -1}, {1, 0x1p24F}, 0x1p24F), 1);
  EXPECT_EQ(dot({-1, 1}, {0x1p24F, 1}, 0x1p24F), 0);
  // Denormals are zeros: as factors, as what a pair is added to, as a result.
  EXPECT_EQ(dot({0x1p-127F}, {0x1p100F}, 1), 1);
  EXPECT_EQ(dot({0}, {0}, 0x1p-127F), 0);
  EXPECT_EQ(dot({0x1p-100F}, {0x1p-30F}, 0), 0);
}

}  // namespace
}  // namespace neap::kernels
