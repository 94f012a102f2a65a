// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Pooling: the vector kernels beside their references, bit for bit, for
// windows of every kind, layouts and thread counts.
#include "neap/kernels/conv/pool.hpp"

#include "neap/kernels/conv/avg_pool2d.hpp"
#include "neap/kernels/conv/max_pool2d.hpp"
#include "neap/kernels/conv/max_pool2d_grad.hpp"
#include "neap/kernels/engine/kernel_testing.hpp"

namespace neap::kernels {
namespace {

using testing::Array;
using testing::call;
using testing::kLays;
using testing::Lay;
using testing::noise;
using testing::reference_of;

// The axis as the ops make it: with `ceil`, a last window that begins inside.
PoolAxis axis(std::int64_t in, std::int64_t kernel, std::int64_t stride,
              std::int64_t padding, std::int64_t dilation = 1,
              bool ceil = false) {
  const std::int64_t rest = in + 2 * padding - dilation * (kernel - 1) - 1;
  std::int64_t out = (rest + (ceil ? stride - 1 : 0)) / stride + 1;
  if (ceil && (out - 1) * stride >= in + padding) {
    --out;
  }
  return {in, out, kernel, stride, padding, dilation};
}

PoolAxis adaptive(std::int64_t in, std::int64_t out) {
  return {in, out, 0, 1, 0, 1};
}

std::vector<PoolAxis> axes() {
  return {axis(8, 2, 2, 0),          axis(33, 2, 2, 1),
          axis(9, 3, 2, 1),          axis(40, 3, 1, 1),
          axis(7, 3, 3, 0, 1, true), axis(71, 3, 2, 0, 1, true),
          axis(13, 3, 2, 1, 2),      axis(5, 1, 1, 0),
          axis(7, 7, 7, 0),          axis(12, 2, 5, 1),
          axis(30, 5, 4, 2),         axis(1, 1, 2, 0),
          axis(7, 2, 2, 1, 3),       axis(21, 2, 2, 0)};
}

template <class T>
Array noise_array(const Shape& shape, Lay lay, std::int64_t from = 0) {
  return Array::of<T>(shape, lay, [from](std::int64_t i) {
    return static_cast<T>(std::round(noise(from + i) * 4.0) / 4.0);
  });
}

const Kernel& pick(const KernelList& list, DType dtype, const PoolAttrs& attrs,
                   bool is_reference) {
  const Args args{{}, {}, &attrs, {}, &threads::serial_executor()};
  return is_reference ? reference_of(list, dtype)
                      : find(list, memory::kHost, dtype, args);
}

struct Result {
  Array y;
  Array codes;
  Array dx;
  Array taken;
};

constexpr std::int64_t kN = 2;
constexpr std::int64_t kC = 3;

template <class T>
Result max_pool(const PoolAttrs& attrs, bool is_reference,
                Lay lay = Lay::kDense, int threads = 1) {
  const DType dtype = dtype_of<T>;
  const Shape in{kN, kC, attrs.h.in, attrs.w.in};
  const Shape out{kN, kC, attrs.h.out, attrs.w.out};
  Array x = noise_array<T>(in, lay);
  Array g = noise_array<T>(out, lay, 1000);
  Result r{Array(out, dtype), Array({kN, kC * plane_code_bytes(attrs)}, u8),
           Array(in, dtype), Array(out, dtype)};
  const auto run = [&](const KernelList& list, std::vector<Strided> from,
                       std::vector<Strided> to) {
    call(pick(list, dtype, attrs, is_reference), from, to, &attrs, threads);
  };
  run(max_pool2d_kernels, {x.view()}, {r.y.view(), r.codes.view()});
  run(max_pool2d_grad_kernels, {g.view(), r.codes.view()}, {r.dx.view()});
  run(max_pool2d_take_kernels, {x.view(), r.codes.view()}, {r.taken.view()});
  return r;
}

template <class T>
Result avg_pool(const PoolAttrs& attrs, bool is_reference,
                Lay lay = Lay::kDense, int threads = 1) {
  const DType dtype = dtype_of<T>;
  const Shape in{kN, kC, attrs.h.in, attrs.w.in};
  const Shape out{kN, kC, attrs.h.out, attrs.w.out};
  Array x = Array::of<T>(
      in, lay, [](std::int64_t i) { return static_cast<T>(noise(i)); });
  Array g = Array::of<T>(
      out, lay, [](std::int64_t i) { return static_cast<T>(noise(i + 99)); });
  Result r{Array(out, dtype), Array({0}, u8), Array(in, dtype),
           Array({0}, dtype)};
  const auto run = [&](const KernelList& list, std::vector<Strided> from,
                       std::vector<Strided> to) {
    call(pick(list, dtype, attrs, is_reference), from, to, &attrs, threads);
  };
  run(avg_pool2d_kernels, {x.view()}, {r.y.view()});
  run(avg_pool2d_grad_kernels, {g.view()}, {r.dx.view()});
  return r;
}

void expect_same(Result got, Result want, const PoolAttrs& attrs) {
  const auto text = [](const PoolAxis& a) {
    std::string out;
    for (const std::int64_t v :
         {a.in, a.out, a.kernel, a.stride, a.padding, a.dilation}) {
      out += std::to_string(v) + " ";
    }
    return out;
  };
  const std::string what = text(attrs.h) + "/ " + text(attrs.w);
  EXPECT_EQ(got.y.elements(), want.y.elements()) << what;
  EXPECT_EQ(got.codes.elements(), want.codes.elements()) << what;
  EXPECT_EQ(got.dx.elements(), want.dx.elements()) << what;
  EXPECT_EQ(got.taken.elements(), want.taken.elements()) << what;
  EXPECT_TRUE(got.y.has_intact_guards() && got.codes.has_intact_guards() &&
              got.dx.has_intact_guards() && got.taken.has_intact_guards())
      << what;
}

TEST(PoolKernelTest, MaxAgreesWithItsReference) {
  for (const PoolAxis& h : axes()) {
    for (const PoolAxis& w : axes()) {
      const PoolAttrs attrs{.h = h, .w = w, .keeps_codes = true};
      expect_same(max_pool<float>(attrs, false), max_pool<float>(attrs, true),
                  attrs);
      expect_same(max_pool<double>(attrs, false), max_pool<double>(attrs, true),
                  attrs);
    }
  }
}

TEST(PoolKernelTest, AverageAgreesWithItsReference) {
  for (PoolAxis h : axes()) {
    for (PoolAxis w : axes()) {
      h.dilation = w.dilation = 1;
      h = axis(h.in, h.kernel, h.stride, h.padding, 1, true);
      for (const std::int64_t divisor : {0, 5}) {
        const PoolAttrs attrs{.h = h,
                              .w = w,
                              .divisor = divisor,
                              .counts_padding = w.stride != 2};
        if (window_of(w, w.out - 1).end <= window_of(w, w.out - 1).begin) {
          continue;  // a dilated one, whose count of outputs does not hold
        }
        expect_same(avg_pool<float>(attrs, false), avg_pool<float>(attrs, true),
                    attrs);
        expect_same(avg_pool<double>(attrs, false),
                    avg_pool<double>(attrs, true), attrs);
      }
    }
  }
}

TEST(PoolKernelTest, LayoutsAndThreadsDoNotChangeBits) {
  const PoolAttrs all[] = {
      {.h = axis(61, 3, 2, 1), .w = axis(67, 3, 2, 1), .keeps_codes = true},
      {.h = axis(40, 2, 2, 0), .w = axis(90, 2, 2, 0), .keeps_codes = true},
      {.h = adaptive(50, 7), .w = adaptive(45, 4), .keeps_codes = true}};
  for (const PoolAttrs& attrs : all) {
    for (const Lay lay : kLays) {
      for (const int threads : {1, 2, 3}) {
        expect_same(max_pool<float>(attrs, false, lay, threads),
                    max_pool<float>(attrs, true), attrs);
        expect_same(avg_pool<float>(attrs, false, lay, threads),
                    avg_pool<float>(attrs, true), attrs);
      }
    }
  }
}

TEST(PoolKernelTest, WideWindowsHaveWideCodes) {
  for (const auto& [h, w, bits] :
       {std::tuple(1, 2, 1), std::tuple(2, 2, 2), std::tuple(3, 3, 4),
        std::tuple(5, 5, 8), std::tuple(20, 20, 16)}) {
    const PoolAttrs attrs{.h = axis(h + 3, h, 1, 0),
                          .w = axis(w + 4, w, 1, 0),
                          .keeps_codes = true};
    EXPECT_EQ(code_bits(attrs), bits);
    expect_same(max_pool<float>(attrs, false), max_pool<float>(attrs, true),
                attrs);
  }
  EXPECT_EQ(code_bits({.h = axis(300, 300, 1, 0), .w = axis(300, 300, 1, 0)}),
            32);
}

TEST(PoolKernelTest, NanWinsAndNothingIsLessThanMinusInfinity) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float values[] = {-inf, -inf, 1.0F, nan, -inf, -inf, nan, 5.0F};
  PoolAttrs attrs{
      .h = axis(2, 2, 2, 0), .w = axis(4, 2, 2, 0), .keeps_codes = true};
  for (const bool is_reference : {false, true}) {
    Array x = Array::of<float>({1, 1, 2, 4}, Lay::kDense,
                               [&](std::int64_t i) { return values[i]; });
    Array y({1, 1, 1, 2}, f32);
    Array codes({1, plane_code_bytes(attrs)}, u8);
    call(pick(max_pool2d_kernels, f32, attrs, is_reference), {x.view()},
         {y.view(), codes.view()}, &attrs);
    EXPECT_EQ(y.at<float>(0), -inf);
    EXPECT_TRUE(std::isnan(y.at<float>(1)));
    EXPECT_EQ(code_at(codes.view().data, 1, 2, 0), 0);
    EXPECT_EQ(code_at(codes.view().data, 1, 2, 1), 2);
  }
}

TEST(PoolKernelTest, CodesSurvivePacking) {
  for (const std::int64_t bits : {1, 2, 4, 8}) {
    for (std::int64_t count = 0; count < 40; ++count) {
      std::vector<std::uint8_t> codes(static_cast<std::size_t>(count) + 8);
      for (std::int64_t i = 0; i < count; ++i) {
        codes[static_cast<std::size_t>(i)] =
            static_cast<std::uint8_t>((i * 37 + i / 3) & ((1 << bits) - 1));
      }
      std::vector<std::byte> packed(
          static_cast<std::size_t>((count * bits + 7) / 8));
      pack_codes(codes.data(), count, bits, packed.data());
      std::vector<std::uint8_t> again(codes.size());
      unpack_codes(packed.data(), count, bits, again.data());
      for (std::int64_t i = 0; i < count; ++i) {
        const auto want = codes[static_cast<std::size_t>(i)];
        EXPECT_EQ(again[static_cast<std::size_t>(i)], want);
        EXPECT_EQ(code_at(packed.data(), 1, bits, i), want);
      }
    }
  }
}

}  // namespace
}  // namespace neap::kernels
