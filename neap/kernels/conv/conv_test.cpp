// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The fast convolutions have the reference's bits: for every geometry, layout,
// instruction set and number of threads.
#include "neap/kernels/conv/conv_for_test.hpp"
// Kept apart: the list of targets must be known before Highway's headers.
#include <bit>
#include <cmath>
#include <limits>

namespace neap::kernels {
namespace {

using testing::Array;
using testing::call;
using testing::Lay;
using testing::noise;

/// Runs one of the three by each kernel that accepts it and by its reference.
template <class T>
void expect_same_bits(const KernelList& list, const Problem& p,
                      std::vector<Array> in, const Shape& out, int threads) {
  std::vector<Strided> views;
  views.reserve(in.size());
  for (Array& array : in) {
    views.push_back(array.view());
  }
  const Kernel& last = testing::reference_of(list, dtype_of<T>);
  Array want(out, dtype_of<T>);
  call(last, views, {want.view()}, &p.attrs);
  for (const Kernel& kernel : list.kernels) {
    Array got(out, dtype_of<T>);
    const Strided result[] = {got.view()};
    const Args args{views, result, &p.attrs, {}, nullptr};
    if (kernel.dtype != dtype_of<T> || &kernel == &last ||
        (kernel.accepts != nullptr && !kernel.accepts(args))) {
      continue;
    }
    call(kernel, views, {got.view()}, &p.attrs, threads);
    EXPECT_EQ(got.elements(), want.elements())
        << kernel.name << ": " << p.text() << ", " << threads << " threads";
    EXPECT_TRUE(got.has_intact_guards() || got.count() == 0) << kernel.name;
  }
}

template <class T>
void expect_all_same(const Problem& p, Lay lay, int threads) {
  const auto x = [&] { return filled<T>(p.x(), lay, 1); };
  const auto w = [&] { return filled<T>(p.w(), lay, 2); };
  const auto y = [&] { return filled<T>(p.y(), lay, 3); };
  std::vector<Array> in;
  in.push_back(x());
  in.push_back(w());
  in.push_back(filled<T>({p.o}, lay, 4));
  expect_same_bits<T>(conv2d_kernels, p, in, p.y(), threads);
  in.pop_back();
  expect_same_bits<T>(conv2d_kernels, p, in, p.y(), threads);
  in[0] = y();
  expect_same_bits<T>(conv_transpose2d_kernels, p, in, p.x(), threads);
  in.push_back(filled<T>({p.c}, lay, 4));
  expect_same_bits<T>(conv_transpose2d_kernels, p, in, p.x(), threads);
  in.clear();
  in.push_back(x());
  in.push_back(y());
  expect_same_bits<T>(conv2d_weight_kernels, p, in, p.w(), threads);
}

TEST(ConvTest, HasTheBitsOfTheReference) {
  at_each_isa([] {
    for (const Problem& p : problems()) {
      expect_all_same<float>(p, Lay::kDense, 1);
      expect_all_same<double>(p, Lay::kDense, 1);
      expect_all_same<float>(in_bf16(p), Lay::kDense, 1);
    }
  });
}

TEST(ConvTest, HasTheSameBitsForEveryLayout) {
  for (const Problem& p : problems()) {
    for (const Lay lay : testing::kLays) {
      expect_all_same<float>(p, lay, 1);
      expect_all_same<float>(in_bf16(p), lay, 1);
    }
  }
}

TEST(ConvTest, HasTheSameBitsForEveryThreadCount) {
  for (const Problem& p : problems()) {
    for (const int threads : {2, 3, 5}) {
      expect_all_same<float>(p, Lay::kDense, threads);
      expect_all_same<float>(in_bf16(p), Lay::kDense, threads);
    }
  }
}

TEST(ConvTest, CutsLargeOnesIntoBandsBlocksAndPanels) {
  const Problem large[] = {
      problem(2, 70, 70,
              {.padding = {1, 1}, .x_extent = {11, 10}, .kernel = {3, 3}}),
      problem(1, 260, 130,  // weights that are not kept
              {.stride = {2, 2},
               .padding = {1, 1},
               .x_extent = {5, 6},
               .kernel = {3, 3}}),
      problem(1, 3, 40,  // rows of one image
              {.padding = {1, 1}, .x_extent = {70, 41}, .kernel = {3, 3}}),
      problem(24, 10, 24,
              {.padding = {1, 1}, .x_extent = {6, 6}, .kernel = {3, 3}}),
      problem(2, 3, 40,  // several windows of one image
              {.padding = {1, 1}, .x_extent = {120, 100}, .kernel = {3, 3}}),
      each_channel(
          2, 20, {.padding = {1, 1}, .x_extent = {60, 70}, .kernel = {3, 3}})};
  for (const Problem& p : large) {
    expect_all_same<float>(p, Lay::kDense, 3);
    expect_all_same<float>(in_bf16(p), Lay::kDense, 3);
  }
}

/// By the kernel that runs for the call.
void make(const KernelList& list, const Problem& p, std::vector<Strided> in,
          Array& out) {
  const Strided result[] = {out.view()};
  const Args args{in, result, &p.attrs, {}, nullptr};
  call(find(list, memory::kHost, in[0].dtype, args), in, {result[0]}, &p.attrs);
}

TEST(ConvTest, WhatIsOutsideOfTheImageTakesNoPart) {
  const Problem plain = problem(
      1, 2, 1, {.padding = {1, 1}, .x_extent = {1, 3}, .kernel = {3, 3}});
  for (const Problem& p : {plain, in_bf16(plain)}) {
    Array x = Array::of<float>(p.x(), Lay::kDense, [](std::int64_t i) {
      return static_cast<float>(i + 5);
    });
    Array w = Array::of<float>(p.w(), Lay::kDense, [](std::int64_t i) {
      return i / 3 % 3 == 1 ? 1.0F : std::numeric_limits<float>::infinity();
    });
    Array y(p.y(), f32);
    make(conv2d_kernels, p, {x.view(), w.view()}, y);
    EXPECT_EQ(y.at<float>(0), x.at<float>(0) + x.at<float>(1) + x.at<float>(3) +
                                  x.at<float>(4));
  }
}

double rounded_to_bf16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return std::bit_cast<float>((bits + 0x7FFFU + (bits >> 16U & 1U)) &
                              0xFFFF0000U);
}

// Sums in bf16 and the double sums of what it leaves of each factor: equal but
// for rounding. Without pairs, no factor is rounded.
void expect_near_double(const KernelList& list, const Problem& p,
                        std::int64_t paired, const Shape& a, const Shape& b,
                        const Shape& out) {
  Array x = filled<float>(a, Lay::kDense, 1);
  Array y = filled<float>(b, Lay::kDense, 2);
  Array got(out, f32);
  make(list, in_bf16(p), {x.view(), y.view()}, got);
  const auto exact = [paired](const Shape& shape, Array& from) {
    return Array::of<double>(shape, Lay::kDense, [&](std::int64_t i) {
      return paired > 1 ? rounded_to_bf16(from.at<float>(i))
                        : double{from.at<float>(i)};
    });
  };
  Array exact_x = exact(a, x);
  Array exact_y = exact(b, y);
  Array want(out, f64);
  call(testing::reference_of(list, f64), {exact_x.view(), exact_y.view()},
       {want.view()}, &p.attrs);
  for (std::int64_t i = 0; i < want.count(); ++i) {
    EXPECT_NEAR(got.at<float>(i), want.at<double>(i), 5e-3)
        << list.name << ": " << in_bf16(p).text() << ", " << i;
  }
}

TEST(ConvTest, Bf16IsTheSumOfRoundedFactorsWhereItHasPairs) {
  for (const Problem& p : problems()) {
    const std::int64_t groups = p.attrs.groups;
    expect_near_double(conv2d_kernels, p, p.c / groups, p.x(), p.w(), p.y());
    expect_near_double(conv_transpose2d_kernels, p, p.o / groups, p.y(), p.w(),
                       p.x());
    const bool is_by_channel = p.c == groups && p.o == groups;
    expect_near_double(conv2d_weight_kernels, p, is_by_channel ? 1 : p.n, p.x(),
                       p.y(), p.w());
  }
}

// 2^24 + 1 is lost: the sum tells in which order it took its products. Of each
// pair the odd one comes first.
TEST(ConvTest, Bf16TakesPairsOfChannelsAndOfSamples) {
  constexpr float kLarge = 0x1p24F;
  const auto sum_of = [](const KernelList& list, const Problem& plain,
                         const Shape& a, const Shape& b, const Shape& out) {
    const Problem p = in_bf16(plain);
    Array x = Array::of<float>(a, Lay::kDense, [](std::int64_t i) {
      const float values[] = {1, kLarge, 1, -kLarge};
      return values[i % 4];
    });
    Array y =
        Array::of<float>(b, Lay::kDense, [](std::int64_t) { return 1.0F; });
    Array sum(out, f32);
    make(list, p, {x.view(), y.view()}, sum);
    return sum.at<float>(0);
  };
  const ConvAttrs one{.x_extent = {1, 1}, .kernel = {1, 1}};
  const Problem y = problem(1, 4, 1, one);
  EXPECT_EQ(sum_of(conv2d_kernels, y, y.x(), y.w(), y.y()), 1.0F);
  const Problem x = problem(1, 1, 4, one);
  EXPECT_EQ(sum_of(conv_transpose2d_kernels, x, x.y(), x.w(), x.x()), 1.0F);
  const Problem w = problem(4, 1, 2, one);
  EXPECT_EQ(sum_of(conv2d_weight_kernels, w, w.x(), w.y(), w.w()), 1.0F);
}

TEST(ConvTest, Bf16DoesNotConcernF64) {
  const Problem p = problems()[0];
  Array x = filled<double>(p.x(), Lay::kDense, 1);
  Array w = filled<double>(p.w(), Lay::kDense, 2);
  const auto made = [&](const Problem& problem) {
    Array y(p.y(), f64);
    make(conv2d_kernels, problem, {x.view(), w.view()}, y);
    return y.elements();
  };
  EXPECT_EQ(made(p), made(in_bf16(p)));
}

// The kernel that runs, by name.
std::string chosen(const KernelList& list, const Problem& p, const Shape& first,
                   const Shape& second, const Shape& result) {
  Array a(first, f32);
  Array b(second, f32);
  Array c(result, f32);
  const Strided in[] = {a.view(), b.view()};
  const Strided out[] = {c.view()};
  return find(list, memory::kHost, f32, {in, out, &p.attrs, {}, nullptr}).name;
}

TEST(ConvTest, EachChannelAndFirstLayersHaveWaysOfTheirOwn) {
  if (std::string(isa()) != "avx512") {
    GTEST_SKIP() << "masked lanes cost something here";
  }
  const Problem each = each_channel(
      2, 20, {.padding = {1, 1}, .x_extent = {14, 14}, .kernel = {3, 3}});
  EXPECT_EQ(chosen(conv2d_kernels, each, each.x(), each.w(), each.y()),
            "conv2d.depthwise.f32");
  EXPECT_EQ(
      chosen(conv_transpose2d_kernels, each, each.y(), each.w(), each.x()),
      "conv_transpose2d.depthwise.f32");
  EXPECT_EQ(chosen(conv2d_weight_kernels, each, each.x(), each.y(), each.w()),
            "conv2d_weight.depthwise.f32");
  const Problem first = problem(
      2, 3, 40, {.padding = {1, 1}, .x_extent = {9, 9}, .kernel = {3, 3}});
  EXPECT_EQ(
      chosen(conv2d_weight_kernels, first, first.x(), first.y(), first.w()),
      "conv2d_weight.few.f32");
}

}  // namespace
}  // namespace neap::kernels
