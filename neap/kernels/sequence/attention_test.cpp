// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// attention and attention_grad against their references, and that nothing but
// the values changes their bits.
#include "neap/kernels/sequence/attention.hpp"

#include <cmath>

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

enum class Mask { kNone, kBool, kAdded };

struct Problem {
  std::int64_t batch = 1;
  std::int64_t rows = 1;
  std::int64_t keys = 1;
  std::int64_t heads = 1;
  std::int64_t key_heads = 1;
  std::int64_t width = 1;
  std::int64_t value_width = 1;
  bool is_causal = false;
  Mask mask = Mask::kNone;
  double dropout = 0.0;
  double scale = 0.3;
  Precision precision = Precision::kF32;
};

bool has_bf16() {
  isa();
  return has_bf16_dot();
}

template <class T>
Array noise_array(const Shape& shape, Lay lay, int salt) {
  return Array::of<T>(shape, lay, [salt](std::int64_t i) {
    return static_cast<T>(noise(3 * i + salt) / 2);
  });
}

template <class T>
Array mask_of(const Problem& p, Lay lay) {
  const Shape shape{1, p.heads, p.rows, p.keys};
  if (p.mask == Mask::kBool) {  // row 1 sees nothing
    return Array::of<bool>(shape, lay, [&](std::int64_t i) {
      return i / p.keys % p.rows != 1 && noise(i) > -2;
    });
  }
  return noise_array<T>(shape, lay, 4);
}

// A call of both kernels, on operands that lie so.
template <class T>
class Call {
 public:
  explicit Call(const Problem& p, Lay lay = Lay::kDense)
      : problem_(p),
        q_(noise_array<T>({p.batch, p.rows, p.heads, p.width}, lay, 0)),
        k_(noise_array<T>({p.batch, p.keys, p.key_heads, p.width}, lay, 1)),
        v_(noise_array<T>({p.batch, p.keys, p.key_heads, p.value_width}, lay,
                          2)),
        dy_(noise_array<T>({p.batch, p.rows, p.heads, p.value_width}, lay, 3)),
        mask_(mask_of<T>(p, lay)),
        y_(dy_.shape(), dtype_of<T>),
        lse_({p.batch, p.heads, p.rows}, dtype_of<T>),
        dq_(q_.shape(), dtype_of<T>),
        dk_(k_.shape(), dtype_of<T>),
        dv_(v_.shape(), dtype_of<T>) {
    attrs_.scale = p.scale;
    attrs_.dropout = p.dropout;
    attrs_.key = {7, 3};
    attrs_.is_causal = p.is_causal;
    attrs_.has_mask = p.mask != Mask::kNone;
    attrs_.dq = attrs_.dk = attrs_.dv = true;
    attrs_.precision = p.precision;
  }

  void run(int threads = 1) {
    forward(first_of(attention_kernels, dtype_of<T>), threads);
    backward(first_of(attention_grad_kernels, dtype_of<T>), threads);
  }
  void run_reference() {
    forward(reference_of(attention_kernels, dtype_of<T>), 1);
    backward(reference_of(attention_grad_kernels, dtype_of<T>), 1);
  }

  std::vector<Array*> results() { return {&y_, &lse_, &dq_, &dk_, &dv_}; }

  void expect_near(Call& want, double tolerance) {
    for (std::size_t k = 0; k < results().size(); ++k) {
      Array& got = *results()[k];
      EXPECT_TRUE(got.has_intact_guards()) << k;
      for (std::int64_t i = 0; i < got.count(); ++i) {
        const double value = want.results()[k]->template at<T>(i);
        if (static_cast<double>(got.at<T>(i)) == value) {
          continue;  // infinities
        }
        ASSERT_NEAR(static_cast<double>(got.at<T>(i)), value,
                    tolerance * (1 + std::abs(value)))
            << "result " << k << " at " << i;
      }
    }
  }
  void expect_same_bits(Call& want) {
    for (std::size_t k = 0; k < results().size(); ++k) {
      EXPECT_EQ(results()[k]->elements(), want.results()[k]->elements()) << k;
    }
  }

 private:
  void forward(const Kernel& kernel, int threads) {
    call(kernel, with_mask({q_.view(), k_.view(), v_.view()}),
         {y_.view(), lse_.view()}, &attrs_, threads);
  }
  void backward(const Kernel& kernel, int threads) {
    for (Array* gradient : {&dq_, &dk_, &dv_}) {  // whatever is there
      for (std::int64_t i = 0; i < gradient->count(); ++i) {
        gradient->at<T>(i) = T(7);
      }
    }
    call(kernel,
         with_mask({dy_.view(), v_.view(), q_.view(), k_.view(), lse_.view(),
                    y_.view()}),
         {dq_.view(), dk_.view(), dv_.view()}, &attrs_, threads);
  }
  std::vector<Strided> with_mask(std::vector<Strided> in) {
    if (attrs_.has_mask) {
      in.push_back(mask_.view());
    }
    return in;
  }

  Problem problem_;
  Array q_, k_, v_, dy_, mask_;
  Array y_, lse_, dq_, dk_, dv_;
  AttentionAttrs attrs_;
};

// The bits of the reference, which are near the results in f32.
void expect_reference_in_bf16(Problem p, Call<float>& in_f32) {
  p.precision = Precision::kBf16;
  Call<float> got(p);
  Call<float> want(p);
  got.run();
  want.run_reference();
  got.expect_same_bits(want);
  got.expect_near(in_f32, 0x1p-5);
}

void expect_reference(const Problem& p) {
  SCOPED_TRACE(::testing::Message()
               << p.rows << " rows, " << p.keys << " keys, " << p.width << ", "
               << p.value_width << (p.is_causal ? ", causal" : "") << ", mask "
               << static_cast<int>(p.mask) << ", dropout " << p.dropout);
  Call<float> narrow(p);
  Call<float> narrow_reference(p);
  narrow.run();
  narrow_reference.run_reference();
  narrow.expect_near(narrow_reference, 2e-5);
  Call<double> wide(p);
  Call<double> wide_reference(p);
  wide.run();
  wide_reference.run_reference();
  wide.expect_near(wide_reference, 1e-13);
  if (has_bf16()) {
    expect_reference_in_bf16(p, narrow);
  }
}

TEST(AttentionTest, AgreesWithItsReference) {
  for (const std::int64_t rows : {1, 2, 13, 36, 37, 97}) {
    for (const std::int64_t keys : {1, 12, 33, 97, 130}) {
      for (const bool is_causal : {false, true}) {
        expect_reference({.rows = rows,
                          .keys = keys,
                          .heads = 2,
                          .key_heads = 2,
                          .width = 5,
                          .value_width = 7,
                          .is_causal = is_causal});
      }
    }
  }
}

TEST(AttentionTest, TakesAnyWidths) {
  for (const std::int64_t width : {1, 8, 16, 17, 33, 64}) {
    for (const std::int64_t value_width : {1, 15, 32, 40}) {
      expect_reference({.batch = 2,
                        .rows = 20,
                        .keys = 21,
                        .width = width,
                        .value_width = value_width,
                        .is_causal = true});
    }
  }
}

TEST(AttentionTest, JoinsBlocksOfKeys) {
  expect_reference({.rows = 3, .keys = 1100, .width = 4, .value_width = 4});
  expect_reference({.rows = 1100,
                    .keys = 1030,
                    .width = 4,
                    .value_width = 4,
                    .is_causal = true});
}

TEST(AttentionTest, MasksAndDrops) {
  for (const Mask mask : {Mask::kNone, Mask::kBool, Mask::kAdded}) {
    for (const double dropout : {0.0, 0.4}) {
      for (const bool is_causal : {false, true}) {
        expect_reference({.batch = 2,
                          .rows = 40,
                          .keys = 50,
                          .heads = 3,
                          .key_heads = 3,
                          .width = 8,
                          .value_width = 8,
                          .is_causal = is_causal,
                          .mask = mask,
                          .dropout = dropout});
      }
    }
  }
}

TEST(AttentionTest, SharesKeysAmongHeads) {
  expect_reference({.batch = 2,
                    .rows = 50,
                    .keys = 40,
                    .heads = 6,
                    .key_heads = 2,
                    .width = 8,
                    .value_width = 4,
                    .is_causal = true,
                    .dropout = 0.2});
}

void expect_same_bits_of_all(std::int64_t heads, Precision precision) {
  const Problem p{.batch = 1,
                  .rows = 230,
                  .keys = 211,
                  .heads = heads,
                  .key_heads = heads,
                  .width = 23,
                  .value_width = 20,
                  .is_causal = true,
                  .mask = Mask::kAdded,
                  .precision = precision};
  Call<float> want(p);
  want.run();
  for (const Lay lay : kLays) {
    for (const int threads : {1, 2, 3, 7}) {
      Call<float> got(p, lay);
      got.run(threads);
      got.expect_same_bits(want);
    }
  }
}

TEST(AttentionTest, LayoutsAndThreadsDoNotChangeBits) {
  for (const std::int64_t heads : {1, 4}) {
    expect_same_bits_of_all(heads, Precision::kF32);
    if (has_bf16()) {
      expect_same_bits_of_all(heads, Precision::kBf16);
    }
  }
}

TEST(AttentionTest, RunsTheReferenceInBf16WhereTheProcessorCannot) {
  isa();
  Array q({1, 1, 1, 1}, f32);
  const std::vector<Strided> in{q.view()};
  AttentionAttrs attrs;
  attrs.precision = Precision::kBf16;
  Args args;
  args.in = in;
  args.attrs = &attrs;
  for (const KernelList* list : {&attention_kernels, &attention_grad_kernels}) {
    EXPECT_EQ(
        &find(*list, memory::kHost, f32, args) == &reference_of(*list, f32),
        !has_bf16());
  }
}

TEST(AttentionTest, ReturnsZerosWhereNothingIsSeen) {
  const Problem p{
      .rows = 3, .keys = 5, .width = 4, .value_width = 4, .mask = Mask::kBool};
  Call<float> attention(p);
  attention.run();
  for (std::int64_t i = 4; i < 8; ++i) {
    EXPECT_EQ(attention.results()[0]->at<float>(i), 0.0F);
    EXPECT_EQ(attention.results()[2]->at<float>(i), 0.0F);
  }
  EXPECT_EQ(attention.results()[1]->at<float>(1),
            std::numeric_limits<float>::infinity());
  const Problem empty{.rows = 3, .keys = 0, .width = 4, .value_width = 4};
  Call<double> nothing(empty);
  nothing.run();
  for (std::int64_t i = 0; i < 12; ++i) {
    EXPECT_EQ(nothing.results()[0]->at<double>(i), 0.0);
    EXPECT_EQ(nothing.results()[2]->at<double>(i), 0.0);
  }
}

}  // namespace
}  // namespace neap::kernels
