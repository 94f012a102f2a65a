// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/linalg/linear_cross_entropy.hpp"

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

Array noise_array(const Shape& shape, Lay lay = Lay::kDense) {
  return Array::of<double>(shape, lay, [](std::int64_t i) { return noise(i); });
}

// The loss, lse and gradients of a head of 37 rows, 70 classes and 5 features.
struct Head {
  static constexpr std::int64_t kRows = 37;
  static constexpr std::int64_t kClasses = 70;
  static constexpr std::int64_t kWidth = 5;

  explicit Head(Lay lay)
      : x(noise_array({kRows, kWidth}, lay)),
        w(noise_array({kClasses, kWidth}, lay)),
        bias(noise_array({kClasses}, lay)),
        labels(Array::of<std::int64_t>(
            {kRows}, lay,
            [](std::int64_t i) { return i % 5 == 0 ? -100 : i * 7 % 70; })),
        g(noise_array({})) {}

  void run(bool is_reference, int threads) {
    const auto pick = is_reference ? &reference_of : &first_of;
    LinearCrossEntropyAttrs attrs{.has_bias = true};
    call(pick(linear_cross_entropy_kernels, f64),
         {x.view(), w.view(), labels.view(), bias.view()},
         {loss.view(), lse.view()}, &attrs, threads);
    attrs.dx = attrs.dw = attrs.db = true;
    call(pick(linear_cross_entropy_grad_kernels, f64),
         {g.view(), x.view(), w.view(), bias.view(), labels.view(), lse.view()},
         {dx.view(), dw.view(), db.view()}, &attrs, threads);
  }

  std::vector<Array*> results() { return {&loss, &lse, &dx, &dw, &db}; }

  Array x, w, bias, labels, g;
  Array loss{{}, f64};
  Array lse{{kRows}, f64};
  Array dx{{kRows, kWidth}, f64};
  Array dw{{kClasses, kWidth}, f64};
  Array db{{kClasses}, f64};
};

TEST(LinearCrossEntropyKernelTest, StridesAndThreadsDoNotChangeBits) {
  Head dense(Lay::kDense);
  dense.run(false, 1);
  for (const Lay lay : kLays) {
    for (const int threads : {1, 3}) {
      Head head(lay);
      head.run(false, threads);
      for (std::size_t k = 0; k < 5; ++k) {
        EXPECT_EQ(head.results()[k]->elements(), dense.results()[k]->elements())
            << k;
        EXPECT_TRUE(head.results()[k]->has_intact_guards()) << k;
      }
    }
  }
}

TEST(LinearCrossEntropyKernelTest, AgreesWithItsReference) {
  Head fast(Lay::kDense);
  fast.run(false, 1);
  Head plain(Lay::kDense);
  plain.run(true, 1);
  for (std::size_t k = 0; k < 5; ++k) {
    Array& got = *fast.results()[k];
    Array& want = *plain.results()[k];
    for (std::int64_t i = 0; i < got.count(); ++i) {
      EXPECT_NEAR(got.at<double>(i), want.at<double>(i), 1e-12) << k;
    }
  }
}

TEST(LinearCrossEntropyKernelTest, BlocksHaveAnEvenNumberOfRowsOrAll) {
  EXPECT_EQ(rows_of_logits_block(5, 10, 4), 5);
  EXPECT_EQ(rows_of_logits_block(0, 10, 4), 1);
  EXPECT_EQ(rows_of_logits_block(7, 0, 4), 7);
  EXPECT_EQ(rows_of_logits_block(1 << 20, 50257, 4), kLogitsRows);
  EXPECT_EQ(rows_of_logits_block(1 << 20, 1 << 10, 4),
            kLeastLogits / (4 << 10));
  const std::int64_t rows = rows_of_logits_block(1 << 20, 128257, 4);
  EXPECT_EQ(rows % 2, 0);
  EXPECT_LE(rows * 128257 * 4, kMostLogits);
  EXPECT_GT((rows + 2) * 128257 * 4, kMostLogits);
  EXPECT_EQ(rows_of_logits_block(1 << 20, kMostLogits, 4), 2);
}

// Bytes of scratch for so many rows of 65536 classes.
Bytes scratch_for(std::int64_t rows, bool is_grad) {
  constexpr std::int64_t kClasses = 65536;
  const auto spec = [](const Shape& shape, DType dtype) {
    return Strided{nullptr, dtype, shape, base::row_major_strides(shape)};
  };
  const Strided x = spec({rows, 8}, f32);
  const Strided w = spec({kClasses, 8}, f32);
  const Strided labels = spec({rows}, i64);
  const Strided number = spec({}, f32);
  const Strided lse = spec({rows}, f32);
  LinearCrossEntropyAttrs attrs;
  attrs.dx = attrs.dw = is_grad;
  const std::vector<Strided> in =
      is_grad ? std::vector{number, x, w, lse, labels, lse}
              : std::vector{x, w, labels};
  const std::vector<Strided> out =
      is_grad ? std::vector{x, w, spec({0}, f32)} : std::vector{number, lse};
  testing::BackwardExecutor one(1);
  const Args args{in, out, &attrs, {}, &one};
  return scratch_bytes(first_of(is_grad ? linear_cross_entropy_grad_kernels
                                        : linear_cross_entropy_kernels,
                                f32),
                       args);
}

TEST(LinearCrossEntropyKernelTest, ScratchDoesNotGrowWithRows) {
  for (const bool is_grad : {false, true}) {
    const Bytes few = scratch_for(1 << 12, is_grad);
    EXPECT_EQ(scratch_for(1 << 20, is_grad), few);
    EXPECT_GE(few, kMostLogits);  // 256 rows
    EXPECT_LE(few, kMostLogits + 2 * kMiB);
    EXPECT_LT(scratch_for(2, is_grad), 4 * kMiB);
  }
}

}  // namespace
}  // namespace neap::kernels
