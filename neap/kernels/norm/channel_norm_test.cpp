// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// batch_norm and group_norm: close to their references for cells of every
// shape, and the same bits for layouts and thread counts.
#include "neap/kernels/norm/channel_norm.hpp"

#include <algorithm>

#include "neap/kernels/engine/kernel_testing.hpp"
#include "neap/kernels/norm/channel_norm_grad.hpp"
#include "neap/kernels/norm/running_stats.hpp"

namespace neap::kernels {
namespace {

using testing::Array;
using testing::call;
using testing::first_of;
using testing::kLays;
using testing::Lay;
using testing::noise;
using testing::reference_of;

struct Result {
  Array y;
  Array stats;
  Array dx;
  Array dw;
  Array db;
};

template <class T>
Array values(const Shape& shape, Lay lay, std::int64_t from, double offset) {
  return Array::of<T>(shape, lay, [=](std::int64_t i) {
    return static_cast<T>(noise(from + i) + offset);
  });
}

struct How {
  bool is_reference = false;
  Lay lay = Lay::kDense;
  int threads = 1;
  double offset = 0.0;
};

template <class T>
Result run(const Shape& shape, std::int64_t groups, const How& how) {
  const auto& pick = how.is_reference ? reference_of : first_of;
  const DType dtype = dtype_of<T>;
  Array x = values<T>(shape, how.lay, 0, how.offset);
  Array g = values<T>(shape, how.lay, 5000, 0.0);
  Array w = values<T>({shape[1]}, how.lay, 700, 0.0);
  Array b = values<T>({shape[1]}, how.lay, 800, 0.0);
  const Shape stats =
      groups == 0 ? Shape{shape[1], 2} : Shape{shape[0], groups, 2};
  Result r{Array(shape, dtype, how.lay), Array(stats, f64),
           Array(shape, dtype, how.lay), Array({shape[1]}, dtype),
           Array({shape[1]}, dtype)};
  const ChannelNormAttrs attrs{1e-5, groups};
  const ChannelNormGradAttrs wanted{
      .eps = 1e-5, .groups = groups, .dx = true, .dw = true, .db = true};
  call(pick(groups == 0 ? batch_norm_kernels : group_norm_kernels, dtype),
       {x.view(), w.view(), b.view()}, {r.y.view(), r.stats.view()}, &attrs,
       how.threads);
  call(pick(groups == 0 ? batch_norm_grad_kernels : group_norm_grad_kernels,
            dtype),
       {g.view(), x.view(), r.stats.view(), w.view()},
       {r.dx.view(), r.dw.view(), r.db.view()}, &wanted, how.threads);
  return r;
}

template <class T>
void expect_near(Array got, Array want, double tolerance,
                 const std::string& what) {
  for (std::int64_t i = 0; i < want.count(); ++i) {
    const auto a = static_cast<double>(got.at<T>(i));
    const auto b = static_cast<double>(want.at<T>(i));
    ASSERT_NEAR(a, b, tolerance * (1.0 + std::abs(b))) << what << " at " << i;
  }
  EXPECT_TRUE(got.has_intact_guards()) << what;
}

template <class T>
void expect_close(const Shape& shape, std::int64_t groups, double tolerance,
                  double offset = 0.0) {
  const Result got = run<T>(shape, groups, {.offset = offset});
  const Result want =
      run<T>(shape, groups, {.is_reference = true, .offset = offset});
  const std::string what = std::to_string(shape[0]) + " " +
                           std::to_string(shape[1]) + " " +
                           std::to_string(shape[2]);
  expect_near<T>(got.y, want.y, tolerance, what + " y");
  expect_near<double>(got.stats, want.stats, tolerance, what + " stats");
  expect_near<T>(got.dx, want.dx, tolerance, what + " dx");
  expect_near<T>(got.dw, want.dw, 10 * tolerance, what + " dw");
  expect_near<T>(got.db, want.db, 10 * tolerance, what + " db");
}

const std::pair<Shape, std::int64_t> kShapes[] = {
    {{4, 5, 1}, 0},    {{70, 37, 1}, 0}, {{1100, 3, 1}, 0}, {{3, 7, 4}, 0},
    {{2, 3, 49}, 0},   {{5, 70, 16}, 0}, {{2, 3, 1024}, 0}, {{1, 2, 2500}, 0},
    {{40, 2, 100}, 0}, {{2, 6, 9}, 3},   {{3, 4, 1}, 2},    {{2, 4, 1300}, 4},
    {{2, 8, 300}, 1}};

TEST(ChannelNormKernelTest, IsCloseToItsReference) {
  for (const auto& [shape, groups] : kShapes) {
    expect_close<float>(shape, groups, 2e-5);
    expect_close<double>(shape, groups, 1e-12);
  }
}

TEST(ChannelNormKernelTest, ALargeOffsetCostsNothing) {
  for (const auto& [shape, groups] : kShapes) {
    const Result got = run<float>(shape, groups, {.offset = 4096.0});
    const Result want =
        run<float>(shape, groups, {.is_reference = true, .offset = 4096.0});
    expect_near<float>(got.y, want.y, 1e-4, "y");
    expect_near<float>(got.dx, want.dx, 1e-4, "dx");
  }
}

TEST(ChannelNormKernelTest, LayoutsAndThreadsDoNotChangeBits) {
  for (const auto& [shape, groups] : kShapes) {
    Result want = run<float>(shape, groups, {});
    for (const Lay lay : kLays) {
      for (const int threads : {1, 2, 3}) {
        Result got =
            run<float>(shape, groups, {.lay = lay, .threads = threads});
        EXPECT_EQ(got.y.elements(), want.y.elements());
        EXPECT_EQ(got.stats.elements(), want.stats.elements());
        EXPECT_EQ(got.dx.elements(), want.dx.elements());
        EXPECT_EQ(got.dw.elements(), want.dw.elements());
        EXPECT_EQ(got.db.elements(), want.db.elements());
      }
    }
  }
}

Strided samples_of(Strided view, std::int64_t first, std::int64_t count) {
  view.data += first * view.strides[0] * size_of(view.dtype);
  view.shape[0] = count;
  return view;
}

// dw and db, or one of them, of so many samples at a time; rounded by hand.
template <class T>
std::vector<std::vector<double>> sums_in_parts(const Shape& shape,
                                               std::int64_t groups,
                                               std::int64_t each,
                                               const How& how,
                                               ChannelNormGradAttrs wanted) {
  Array x = values<T>(shape, how.lay, 0, how.offset);
  Array g = values<T>(shape, how.lay, 5000, 0.0);
  Array stats = run<T>(shape, groups, how).stats;
  const std::size_t count = (wanted.dw ? 1U : 0U) + (wanted.db ? 1U : 0U);
  std::vector<Array> sums;
  std::vector<Strided> out;
  for (std::size_t i = 0; i < count; ++i) {
    sums.push_back(values<double>({shape[1]}, Lay::kDense, 0, 0.0));
    std::fill_n(sums.back().view().template as<double>(), shape[1], 0.0);
  }
  for (Array& sum : sums) {
    out.push_back(sum.view());
  }
  for (std::int64_t first = 0; first < shape[0]; first += each) {
    const std::int64_t some = std::min(each, shape[0] - first);
    call(first_of(group_norm_sums_kernels, dtype_of<T>),
         {samples_of(g.view(), first, some), samples_of(x.view(), first, some),
          samples_of(stats.view(), first, some)},
         out, &wanted, how.threads);
  }
  std::vector<std::vector<double>> rounded;
  for (Array& sum : sums) {
    rounded.emplace_back();
    for (std::int64_t c = 0; c < shape[1]; ++c) {
      rounded.back().push_back(
          static_cast<double>(static_cast<T>(sum.at<double>(c))));
    }
  }
  return rounded;
}

template <class T>
void expect_sums_of_the_whole(const Shape& shape, std::int64_t groups) {
  Result whole = run<T>(shape, groups, {});
  const auto numbers = [&](Array& sums) {
    std::vector<double> out;
    for (std::int64_t c = 0; c < shape[1]; ++c) {
      out.push_back(static_cast<double>(sums.at<T>(c)));
    }
    return out;
  };
  const ChannelNormGradAttrs both{
      .eps = 1e-5, .groups = groups, .dw = true, .db = true};
  ChannelNormGradAttrs one = both;
  one.dw = false;
  for (const std::int64_t each : {1, 2, 3}) {
    const How how{.threads = static_cast<int>(each)};
    const auto sums = sums_in_parts<T>(shape, groups, each, how, both);
    EXPECT_EQ(sums[0], numbers(whole.dw)) << each;
    EXPECT_EQ(sums[1], numbers(whole.db)) << each;
    const auto db = sums_in_parts<T>(shape, groups, each, how, one);
    EXPECT_EQ(db[0], numbers(whole.db)) << each;
  }
}

TEST(ChannelNormKernelTest, SumsOfGroupsGoOnFromSampleToSample) {
  for (const Shape& shape :
       {Shape{5, 6, 9}, Shape{7, 4, 1300}, Shape{4, 2, 1}}) {
    expect_sums_of_the_whole<float>(shape, 2);
    expect_sums_of_the_whole<double>(shape, 2);
  }
}

TEST(RunningStatsKernelTest, MovesTowardsTheBatch) {
  Array stats = Array::of<double>(
      {1, 2}, Lay::kDense, [](std::int64_t i) { return i == 0 ? 4 : 3; });
  const auto ones = [](std::int64_t) { return 1.0F; };
  Array mean = Array::of<float>({1}, Lay::kDense, ones);
  Array var = Array::of<float>({1}, Lay::kDense, ones);
  Array batches =
      Array::of<std::int64_t>({}, Lay::kDense, [](std::int64_t) { return 3; });
  const RunningStatsAttrs attrs{.momentum = -1.0, .count = 4};
  call(reference_of(running_stats_kernels, f64), {stats.view()},
       {mean.view(), var.view(), batches.view()}, &attrs);
  EXPECT_EQ(mean.at<float>(0), 1.75F);
  EXPECT_EQ(var.at<float>(0), 1.75F);
  EXPECT_EQ(batches.at<std::int64_t>(0), 4);
}

}  // namespace
}  // namespace neap::kernels
