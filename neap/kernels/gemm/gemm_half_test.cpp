// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Products with an operand that lies in memory as bf16: the bits are those of
// the plain loops over a copy of it in float.
#include "neap/kernels/engine/targets.hpp"
// Kept apart: the list of targets must be known before Highway's headers.
#include "neap/kernels/gemm/gemm.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "hwy/highway.h"
#include "neap/kernels/engine/kernel_testing.hpp"
#include "neap/kernels/gemm/gemv.hpp"

namespace neap::kernels {
namespace {

using testing::BackwardExecutor;

enum class Lie { kPlain, kTransposed, kSpread, kRepeatedRow };
constexpr std::array kLies{Lie::kPlain, Lie::kTransposed, Lie::kSpread,
                           Lie::kRepeatedRow};
constexpr std::array kStarts{GemmStart::kZero, GemmStart::kBias, GemmStart::kC};
constexpr std::array kEnds{GemmEnd::kPlain, GemmEnd::kRelu};
enum class Half { kOfA, kOfB };
constexpr std::array kHalves{Half::kOfA, Half::kOfB};

// Runs the body at every instruction set that is compiled in and present.
template <class Body>
void at_each_isa(const Body& body) {
  hwy::SetSupportedTargetsForTest(0);
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

struct Extents {
  std::int64_t m, n, k;
};

// Elements of an operand of these strides, exactly as many as they reach.
struct Storage {
  std::vector<float> wide;
  std::vector<BFloat16> half;

  void fill(std::int64_t count, std::uint64_t seed) {
    const base::DrawKey key{seed, 0};
    wide.resize(static_cast<std::size_t>(count));
    half.resize(wide.size());
    for (std::size_t i = 0; i < wide.size(); ++i) {
      half[i] = BFloat16(base::uniform_f32(key.word(i)) * 2 - 1);
      wide[i] = static_cast<float>(half[i]);
    }
  }
  void set(std::size_t i, std::uint16_t bits) {
    half[i].bits = bits;
    wide[i] = std::bit_cast<float>(std::uint32_t{bits} << 16U);
  }
};

class Case {
 public:
  Case(const Extents& e, Lie lie_a, Lie lie_b, GemmStart start, GemmEnd end)
      : a(place(e.m, e.k, lie_a)),
        b(place(e.k, e.n, lie_b)),
        c(static_cast<std::size_t>(e.m * e.n)) {
    a_.fill(reach(e.m, e.k, a), 1);
    b_.fill(reach(e.k, e.n, b), 2);
    bias_.fill(e.n, 3);
    product_.m = e.m;
    product_.n = e.n;
    product_.k = e.k;
    product_.start = start;
    product_.end = end;
    product_.bias = bias_.wide.data();
    product_.bias_stride = 1;
    for (std::size_t i = 0; i < c.size(); ++i) {
      c[i] = static_cast<float>(i % 7) - 3;
    }
  }

  Gemm<float> wide() const {
    Gemm<float> x = product_;
    x.a = a;
    x.b = b;
    x.a.data = a_.wide.data();
    x.b.data = b_.wide.data();
    return x;
  }

  Gemm<float> half(Half which) const {
    Gemm<float> x = wide();
    GemmOperand<float>& operand = which == Half::kOfA ? x.a : x.b;
    operand.is_half = true;
    operand.data = nullptr;
    operand.half = which == Half::kOfA ? a_.half.data() : b_.half.data();
    return x;
  }

  std::vector<float> reference() const {
    std::vector<float> result = c;
    Gemm<float> x = wide();
    x.c = result.data();
    gemm_reference(x);
    return result;
  }

  std::vector<float> run(Half which, int threads) const {
    std::vector<float> result = c;
    Gemm<float> x = half(which);
    x.c = result.data();
    BackwardExecutor executor(threads);
    std::vector<std::byte> scratch(
        static_cast<std::size_t>(gemm_scratch_bytes(x, threads)) + 64,
        std::byte{0xFF});
    gemm(x, std::span(scratch).first(scratch.size() - 64), executor);
    for (std::size_t i = scratch.size() - 64; i < scratch.size(); ++i) {
      EXPECT_EQ(scratch[i], std::byte{0xFF}) << "behind the scratch";
    }
    return result;
  }

  Storage& elements(Half which) { return which == Half::kOfA ? a_ : b_; }

  GemmOperand<float> a, b;
  std::vector<float> c;

 private:
  static GemmOperand<float> place(std::int64_t rows, std::int64_t columns,
                                  Lie lie) {
    switch (lie) {
      case Lie::kPlain:
        return {nullptr, columns, 1};
      case Lie::kTransposed:
        return {nullptr, 1, rows};
      case Lie::kSpread:
        return {nullptr, 2 * columns + 3, 2};
      case Lie::kRepeatedRow:
        return {nullptr, 0, 1};
    }
    return {};
  }
  static std::int64_t reach(std::int64_t rows, std::int64_t columns,
                            const GemmOperand<float>& x) {
    return rows == 0 || columns == 0 ? 0
                                     : (rows - 1) * x.row_stride +
                                           (columns - 1) * x.column_stride + 1;
  }

  Storage a_, b_, bias_;
  Gemm<float> product_;
};

// Bits, but that one NaN is as good as another.
void expect_same(const std::vector<float>& got, const std::vector<float>& want,
                 const std::string& about) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_TRUE((std::isnan(got[i]) && std::isnan(want[i])) ||
                std::bit_cast<std::uint32_t>(got[i]) ==
                    std::bit_cast<std::uint32_t>(want[i]))
        << about << ", element " << i << ": " << got[i] << " not " << want[i];
  }
}

std::string told(const Extents& e, Half which, std::size_t number) {
  return std::to_string(e.m) + " x " + std::to_string(e.n) + " x " +
         std::to_string(e.k) + (which == Half::kOfA ? ", a" : ", b") +
         " in bf16, number " + std::to_string(number);
}

TEST(GemmHalfTest, HasTheBitsOfTheWidenedOperandForEveryShapeAndStride) {
  at_each_isa([] {
    std::size_t number = 0;
    for (const std::int64_t m : {0, 1, 2, 5, 8, 9, 13, 61}) {
      for (const std::int64_t n : {0, 1, 7, 8, 15, 16, 17, 32, 33, 67}) {
        for (const std::int64_t k : {0, 1, 2, 5, 16, 31, 32, 257, 523}) {
          for (const Half which : kHalves) {
            ++number;
            const Extents e{m, n, k};
            const Case x(e, kLies[number % 4], kLies[number / 4 % 4],
                         kStarts[number % 3], kEnds[number / 2 % 2]);
            expect_same(x.run(which, static_cast<int>(number % 3) + 1),
                        x.reference(), told(e, which, number));
          }
        }
      }
    }
  });
}

TEST(GemmHalfTest, HasTheSameBitsForEachWayOfReadingOperands) {
  at_each_isa([] {
    std::size_t number = 0;
    // Swapped over several blocks of k, rows a page apart, few rows of a large
    // matrix, one row and one column of it.
    for (const Extents& e :
         {Extents{20, 300, 2500}, Extents{300, 9, 1100}, Extents{30, 140, 2048},
          Extents{97, 48, 770}, Extents{8, 700, 900}, Extents{3, 60'000, 9},
          Extents{1, 301, 1055}, Extents{301, 1, 1055}, Extents{1, 5000, 37},
          Extents{128, 272, 300}}) {
      for (const Lie lie_a : {Lie::kPlain, Lie::kTransposed}) {
        for (const Lie lie_b : {Lie::kPlain, Lie::kTransposed}) {
          ++number;
          const Case x(e, lie_a, lie_b, kStarts[number % 3],
                       kEnds[number / 3 % 2]);
          const std::vector<float> want = x.reference();
          for (const Half which : kHalves) {
            expect_same(x.run(which, static_cast<int>(number % 3) + 1), want,
                        told(e, which, number));
          }
        }
      }
    }
  });
}

// Infinities, NaN, denormals and both zeros are widened as they are.
TEST(GemmHalfTest, WidensEveryKindOfNumber) {
  constexpr std::array<std::uint16_t, 8> kBits{0x7F80, 0xFF80, 0x7FC1, 0x0001,
                                               0x8001, 0x007F, 0x0000, 0x8000};
  at_each_isa([&] {
    for (const Extents& e :
         {Extents{1, 48, 67}, Extents{48, 1, 67}, Extents{40, 48, 67}}) {
      for (const Half which : kHalves) {
        for (std::size_t number = 0; number < kBits.size(); ++number) {
          Case x(e, Lie::kPlain, Lie::kTransposed, GemmStart::kZero,
                 GemmEnd::kPlain);
          Storage& elements = x.elements(which);
          elements.set(3, kBits[number]);
          elements.set(elements.half.size() - 1, kBits[number]);
          expect_same(x.run(which, 2), x.reference(), told(e, which, number));
        }
      }
    }
  });
}

TEST(GemmHalfTest, AHalfMatrixIsReadWhereItLiesForOneRow) {
  const Case x({1, 640, 640}, Lie::kPlain, Lie::kTransposed, GemmStart::kZero,
               GemmEnd::kPlain);
  if (is_gemv(x.wide())) {  // of an instruction set that has it
    EXPECT_TRUE(is_gemv(x.half(Half::kOfB)));
    EXPECT_EQ(gemm_scratch_bytes(x.half(Half::kOfB), 2), 0);
    EXPECT_FALSE(is_gemv(x.half(Half::kOfA)));  // the vector in bf16
  }
}

TEST(GemmHalfTest, SizesItsScratchWithoutLookingAtData) {
  const Case x({128, 512, 784}, Lie::kPlain, Lie::kTransposed, GemmStart::kZero,
               GemmEnd::kPlain);
  for (const Half which : kHalves) {
    Gemm<float> blank = x.half(which);
    blank.a.data = blank.b.data = nullptr;
    blank.a.half = blank.b.half = nullptr;
    EXPECT_EQ(gemm_scratch_bytes(blank, 2),
              gemm_scratch_bytes(x.half(which), 2));
  }
}

}  // namespace
}  // namespace neap::kernels
