// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// cholesky, triangular_solve, solve, inverse, det, slogdet and triangle.
#include <cmath>

#include "neap/kernels/engine/kernel_testing.hpp"
#include "neap/kernels/linalg/cholesky.hpp"
#include "neap/kernels/linalg/solve.hpp"
#include "neap/kernels/linalg/triangle.hpp"
#include "neap/kernels/linalg/triangular_solve.hpp"

namespace neap::kernels {
namespace {

using testing::Array;
using testing::BackwardExecutor;
using testing::first_of;
using testing::kLays;
using testing::Lay;
using testing::noise;
using testing::reference_of;

// With scratch of exactly the size that the kernel asks for.
void run(const Kernel& kernel, std::vector<Strided> in,
         std::vector<Strided> out, const void* attrs = nullptr,
         int threads = 1) {
  isa();
  BackwardExecutor executor(threads);
  Args args{in, out, attrs, {}, &executor};
  std::vector<std::byte> scratch(
      static_cast<std::size_t>(scratch_bytes(kernel, args)));
  args.scratch = scratch;
  kernel.run(args);
}

// Matrices far from singular, whose largest elements are not on the diagonal.
template <class T>
Array regular(std::int64_t batch, std::int64_t n, Lay lay = Lay::kDense) {
  return Array::of<T>({batch, n, n}, lay, [n](std::int64_t at) {
    const std::int64_t i = at / n % n;
    const std::int64_t j = at % n;
    const double root = std::sqrt(static_cast<double>(n));
    return static_cast<T>(noise(at) / root + (j == (i + 1) % n ? 6.0 : 0.0));
  });
}

template <class T>
Array positive_definite(std::int64_t batch, std::int64_t n,
                        Lay lay = Lay::kDense) {
  return Array::of<T>({batch, n, n}, lay, [n](std::int64_t at) {
    const std::int64_t i = at / n % n;
    const std::int64_t j = at % n;
    const double off = std::cos(0.7 * static_cast<double>(i + j)) / 4.0;
    return static_cast<T>(i == j ? static_cast<double>(n) + 2.0 : off);
  });
}

template <class T>
Array columns_of(std::int64_t batch, std::int64_t n, std::int64_t k,
                 Lay lay = Lay::kDense) {
  return Array::of<T>({batch, n, k}, lay, [](std::int64_t i) {
    return static_cast<T>(noise(7 * i + 3));
  });
}

template <class T>
void expect_near(Array& got, Array& want, double tolerance) {
  ASSERT_TRUE(got.has_intact_guards());
  for (std::int64_t i = 0; i < want.count(); ++i) {
    ASSERT_NEAR(static_cast<double>(got.at<T>(i)),
                static_cast<double>(want.at<T>(i)), tolerance)
        << i << " of " << format_shape(want.shape());
  }
}

// A kernel and its reference on the same operands.
template <class T>
void expect_reference(const KernelList& list, std::vector<Strided> in,
                      const Shape& shape, double tolerance,
                      const void* attrs = nullptr) {
  Array got(shape, dtype_of<T>);
  Array want(shape, dtype_of<T>);
  run(first_of(list, dtype_of<T>), in, {got.view()}, attrs);
  run(reference_of(list, dtype_of<T>), in, {want.view()}, attrs);
  expect_near<T>(got, want, tolerance);
}

template <class T>
void expect_references(std::int64_t n, double tolerance) {
  Array a = regular<T>(2, n);
  Array spd = positive_definite<T>(2, n);
  Array b = columns_of<T>(2, n, 5);
  expect_reference<T>(cholesky_kernels, {spd.view()}, {2, n, n}, tolerance);
  expect_reference<T>(inverse_kernels, {a.view()}, {2, n, n}, tolerance);
  expect_reference<T>(solve_kernels, {a.view(), b.view()}, {2, n, 5},
                      tolerance);
  for (bool upper : {false, true}) {
    for (bool transpose : {false, true}) {
      for (bool unit : {false, true}) {
        // Without its diagonal a triangle is further from the identity.
        const TriangleAttrs attrs{upper, transpose, unit};
        expect_reference<T>(triangular_solve_kernels, {spd.view(), b.view()},
                            {2, n, 5}, unit ? 1e3 * tolerance : tolerance,
                            &attrs);
      }
    }
  }
}

TEST(LinalgTest, AgreesWithTheReferencesAtEverySize) {
  for (std::int64_t n : {1, 2, 3, 5, 8, 16, 31, 32, 33, 65}) {
    expect_references<double>(n, 1e-11);
    expect_references<float>(n, 1e-4);
  }
}

TEST(LinalgTest, TheInverseTimesTheMatrixIsTheIdentity) {
  constexpr std::int64_t kN = 200;
  Array a = regular<double>(1, kN);
  Array y({1, kN, kN}, f64);
  run(first_of(inverse_kernels, f64), {a.view()}, {y.view()});
  for (std::int64_t i = 0; i < kN; ++i) {
    for (std::int64_t j = 0; j < kN; ++j) {
      double sum = 0.0;
      for (std::int64_t k = 0; k < kN; ++k) {
        sum += a.at<double>(i * kN + k) * y.at<double>(k * kN + j);
      }
      ASSERT_NEAR(sum, i == j ? 1.0 : 0.0, 1e-10);
    }
  }
}

TEST(LinalgTest, SameBitsForEveryLayoutAndThreadCount) {
  const auto all = [](Lay lay, int threads) {
    Array a = regular<float>(5, 37, lay);
    Array spd = positive_definite<float>(5, 37, lay);
    Array b = columns_of<float>(5, 37, 21, lay);
    Array l({5, 37, 37}, f32);
    Array x({5, 37, 21}, f32);
    Array t({5, 37, 21}, f32);
    Array det({5}, f32);
    const TriangleAttrs attrs{.upper = true};
    run(first_of(cholesky_kernels, f32), {spd.view()}, {l.view()}, nullptr,
        threads);
    run(first_of(solve_kernels, f32), {a.view(), b.view()}, {x.view()}, nullptr,
        threads);
    run(first_of(triangular_solve_kernels, f32), {spd.view(), b.view()},
        {t.view()}, &attrs, threads);
    run(first_of(det_kernels, f32), {a.view()}, {det.view()}, nullptr, threads);
    std::vector<std::byte> bytes;
    for (Array* array : {&l, &x, &t, &det}) {
      const std::vector<std::byte> part = array->elements();
      bytes.insert(bytes.end(), part.begin(), part.end());
    }
    return bytes;
  };
  const std::vector<std::byte> want = all(Lay::kDense, 1);
  for (Lay lay : kLays) {
    for (int threads = 1; threads <= 3; ++threads) {
      EXPECT_EQ(all(lay, threads), want);
    }
  }
}

TEST(LinalgTest, OneBadMatrixIsNanAndTheOthersAreNot) {
  Array a = Array::of<double>({2, 2, 2}, Lay::kDense, [](std::int64_t i) {
    return i == 0 || i == 3 || i > 3 ? 1.0 : 0.0;
  });
  Array y({2, 2, 2}, f64);
  for (const KernelList* list : {&inverse_kernels, &cholesky_kernels}) {
    for (const Kernel* kernel :
         {&first_of(*list, f64), &reference_of(*list, f64)}) {
      run(*kernel, {a.view()}, {y.view()});
      EXPECT_EQ(y.at<double>(3), 1.0);
      for (std::int64_t i = 4; i < 8; ++i) {
        EXPECT_TRUE(std::isnan(y.at<double>(i)));
      }
    }
  }
}

TEST(LinalgTest, TheDeterminantCountsExchanges) {
  // A cycle of n rows is an even permutation where n is odd.
  for (std::int64_t n : {2, 3, 4, 40}) {
    Array a = Array::of<double>({n, n}, Lay::kDense, [n](std::int64_t i) {
      return i % n == (i / n + 1) % n ? 1.5 : 0.0;
    });
    Array det({}, f64);
    Array sign({}, f64);
    Array log({}, f64);
    const double want = n % 2 == 0 ? -1.0 : 1.0;
    for (bool plain : {false, true}) {
      const auto pick = [&](const KernelList& list) -> const Kernel& {
        return plain ? reference_of(list, f64) : first_of(list, f64);
      };
      run(pick(det_kernels), {a.view()}, {det.view()});
      run(pick(slogdet_kernels), {a.view()}, {sign.view(), log.view()});
      EXPECT_DOUBLE_EQ(det.at<double>(0),
                       want * std::pow(1.5, static_cast<double>(n)));
      EXPECT_EQ(sign.at<double>(0), want);
      EXPECT_NEAR(log.at<double>(0), static_cast<double>(n) * std::log(1.5),
                  1e-12);
    }
  }
}

TEST(LinalgTest, ATriangleKeepsItsSideInEveryLayout) {
  const TrilAttrs attrs{-1, 0};
  for (Lay lay : kLays) {
    Array x = columns_of<float>(3, 5, 4, lay);
    Array y({3, 5, 4}, f32, lay);
    run(triangle_kernels.kernels[0], {x.view()}, {y.view()}, &attrs, 2);
    EXPECT_TRUE(y.has_intact_guards());
    for (std::int64_t at = 0; at < y.count(); ++at) {
      const bool is_kept = at % 4 - at / 4 % 5 <= -1;
      EXPECT_EQ(y.at<float>(at), is_kept ? x.at<float>(at) : 0.0F);
    }
  }
}

}  // namespace
}  // namespace neap::kernels
