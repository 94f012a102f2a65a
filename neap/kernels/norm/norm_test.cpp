// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// layer_norm, rms_norm and their derivative rules.
#include <cmath>

#include "neap/kernels/engine/kernel_testing.hpp"
#include "neap/kernels/norm/layer_norm.hpp"
#include "neap/kernels/norm/layer_norm_grad.hpp"

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
Array noise_array(const Shape& shape, Lay lay, int salt, double offset = 0.0) {
  return Array::of<T>(shape, lay, [salt, offset](std::int64_t i) {
    return static_cast<T>(offset + noise(5 * i + salt));
  });
}

struct Normed {
  Array y;
  Array stats;
  Array dx;
  Array dw;
  Array db;
};

// Forward and backward of rows (3, 5, n).
template <class T>
Normed run(bool is_layer, bool by_reference, std::int64_t n,
           Lay lay = Lay::kDense, int threads = 1, double offset = 0.0) {
  const DType dtype = dtype_of<T>;
  const auto pick = [&](const KernelList& list) -> const Kernel& {
    return by_reference ? reference_of(list, dtype) : first_of(list, dtype);
  };
  const Shape shape{3, 5, n};
  Array x = noise_array<T>(shape, lay, 0, offset);
  Array dy = noise_array<T>(shape, lay, 1);
  Array w = noise_array<T>({n}, lay, 2);
  Array b = noise_array<T>({n}, lay, 3);
  Normed out{Array(shape, dtype, lay), Array({3, 5, is_layer ? 2 : 1}, f64),
             Array(shape, dtype, lay), Array({n}, dtype), Array({n}, dtype)};
  const RowNormAttrs attrs{1e-5};
  const NormGradAttrs wanted{.dx = true, .dw = true, .db = is_layer};
  if (is_layer) {
    call(pick(layer_norm_kernels), {x.view(), w.view(), b.view()},
         {out.y.view(), out.stats.view()}, &attrs, threads);
    call(pick(layer_norm_grad_kernels),
         {dy.view(), x.view(), out.stats.view(), w.view()},
         {out.dx.view(), out.dw.view(), out.db.view()}, &wanted, threads);
  } else {
    call(pick(rms_norm_kernels), {x.view(), w.view()},
         {out.y.view(), out.stats.view()}, &attrs, threads);
    call(pick(rms_norm_grad_kernels),
         {dy.view(), x.view(), out.stats.view(), w.view()},
         {out.dx.view(), out.dw.view()}, &wanted, threads);
  }
  for (Array* array : {&out.y, &out.stats, &out.dx, &out.dw, &out.db}) {
    EXPECT_TRUE(array->has_intact_guards());
  }
  return out;
}

template <class T>
void expect_near(Array& got, Array& want, double tolerance, const char* what) {
  for (std::int64_t i = 0; i < want.count(); ++i) {
    ASSERT_NEAR(static_cast<double>(got.at<T>(i)),
                static_cast<double>(want.at<T>(i)), tolerance)
        << what << " " << i;
  }
}

template <class T>
void expect_reference(bool is_layer, std::int64_t n, double tolerance) {
  Normed got = run<T>(is_layer, false, n);
  Normed want = run<T>(is_layer, true, n);
  expect_near<T>(got.y, want.y, tolerance, "y");
  expect_near<double>(got.stats, want.stats, tolerance, "stats");
  expect_near<T>(got.dx, want.dx, tolerance, "dx");
  expect_near<T>(got.dw, want.dw, 10 * tolerance, "dw");
  if (is_layer) {
    expect_near<T>(got.db, want.db, 10 * tolerance, "db");
  }
}

TEST(NormTest, AgreesWithTheReferenceAtEveryLength) {
  for (bool is_layer : {true, false}) {
    for (std::int64_t n : {1, 2, 7, 16, 31, 33, 100, 1024, 1025, 2500}) {
      expect_reference<float>(is_layer, n, 2e-5);
      expect_reference<double>(is_layer, n, 2e-12);
    }
  }
}

TEST(NormTest, SameBitsForEveryLayoutAndThreadCount) {
  for (bool is_layer : {true, false}) {
    for (std::int64_t n : {5, 130, 3000}) {
      Normed want = run<float>(is_layer, false, n);
      for (Lay lay : kLays) {
        for (int threads = 1; threads <= 3; ++threads) {
          Normed got = run<float>(is_layer, false, n, lay, threads);
          EXPECT_EQ(got.y.elements(), want.y.elements());
          EXPECT_EQ(got.stats.elements(), want.stats.elements());
          EXPECT_EQ(got.dx.elements(), want.dx.elements());
          EXPECT_EQ(got.dw.elements(), want.dw.elements());
          if (is_layer) {
            EXPECT_EQ(got.db.elements(), want.db.elements());
          }
        }
      }
    }
  }
}

// Plain f32 sums of squares would lose every digit here.
TEST(NormTest, AnOffsetCommonToTheRowCostsNothing) {
  Normed got = run<float>(true, false, 700, Lay::kDense, 1, 30000.0);
  Normed want = run<float>(true, true, 700, Lay::kDense, 1, 30000.0);
  expect_near<double>(got.stats, want.stats, 1e-5, "stats");
  expect_near<float>(got.y, want.y, 2e-5, "y");
  expect_near<float>(got.dx, want.dx, 2e-5, "dx");
}

TEST(NormTest, ARowOfOneNumberIsZero) {
  Array x = Array::of<float>({2, 40}, Lay::kDense, [](auto) { return 3e7F; });
  Array y({2, 40}, f32);
  Array stats({2, 2}, f64);
  const RowNormAttrs attrs{1e-5};
  call(first_of(layer_norm_kernels, f32), {x.view()}, {y.view(), stats.view()},
       &attrs);
  EXPECT_EQ(y.at<float>(41), 0.0F);
  EXPECT_NEAR(stats.at<double>(1), 1.0 / std::sqrt(1e-5), 1e-9);
}

TEST(NormTest, SumsOverNoRowsAreZero) {
  Array none({0, 3}, f32);
  Array stats({0, 2}, f64);
  Array dx({0, 3}, f32);
  Array dw({3}, f32);
  Array db({3}, f32);
  const NormGradAttrs wanted{.dx = true, .dw = true, .db = true};
  call(first_of(layer_norm_grad_kernels, f32),
       {none.view(), none.view(), stats.view()},
       {dx.view(), dw.view(), db.view()}, &wanted);
  EXPECT_EQ(dw.at<float>(2), 0.0F);
  EXPECT_EQ(db.at<float>(0), 0.0F);
}

}  // namespace
}  // namespace neap::kernels
