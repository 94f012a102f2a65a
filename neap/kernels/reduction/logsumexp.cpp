// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/reduction/logsumexp.hpp"

#include <cmath>
#include <limits>

#include "neap/kernels/engine/targets.hpp"
#include "neap/kernels/reduction/reduce_kernels.hpp"
#include "neap/kernels/reduction/reduce_reference.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/reduction/logsumexp.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/engine/math-inl.hpp"
#include "neap/kernels/reduction/reduce-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

// sum of e^x = sum e^m. An infinite m (or NaN) says it all.
struct ScaledSum {
  double m;  // the largest element
  double sum;
};

// e^(x - m)
template <class T>
struct ExpFrom {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return exp_of(d, hn::Sub(x, hn::Set(d, m)));
  }
  T m;
};

double exp_of_one(double x) {
  const hn::ScalableTag<double> d;
  return hn::GetLane(exp_of(d, hn::Set(d, x)));
}

template <class T>
struct LogSumExpOf {
  using In = T;
  using State = ScaledSum;
  static constexpr std::int64_t kBlockRows = 64;  // with some columns, in L1

  static State neutral() {
    return {-std::numeric_limits<double>::infinity(), 0.0};
  }

  static State row(const T* x, std::int64_t count) {
    const T m = reduce_plain_block<LargerVectors>(Same(), x, count);
    if (m - m != T(0)) {
      return {static_cast<double>(m), 0.0};
    }
    return {
        static_cast<double>(m),
        static_cast<double>(reduce_block<AddVectors>(ExpFrom<T>{m}, x, count))};
  }

  static void one_vector(const Tile& tile, std::size_t first, State* parts) {
    const hn::ScalableTag<T> d;
    using V = hn::Vec<decltype(d)>;
    const std::size_t count =
        HWY_MIN(hn::Lanes(d), static_cast<std::size_t>(tile.columns) - first);
    const auto load = [&](std::int64_t r) {
      const T* x = tile.row<T>(r) + first;
      return count == hn::Lanes(d) ? hn::LoadU(d, x)
                                   : load_some_as(d, x, count);
    };
    V m = LargerVectors::neutral(d);
    for (std::int64_t r = 0; r < tile.row_count; ++r) {
      m = LargerVectors::join(m, load(r));
    }
    V sum = hn::Zero(d);
    for (std::int64_t r = 0; r < tile.row_count; ++r) {
      sum = hn::Add(sum, exp_of(d, hn::Sub(load(r), m)));
    }
    HWY_ALIGN T largest[hn::MaxLanes(d)];
    HWY_ALIGN T sums[hn::MaxLanes(d)];
    hn::Store(m, d, largest);
    hn::Store(sum, d, sums);
    for (std::size_t c = 0; c < count; ++c) {
      parts[first + c] = {static_cast<double>(largest[c]),
                          static_cast<double>(sums[c])};
    }
  }

  static void columns(const Tile& tile, State* parts) {
    const auto columns = static_cast<std::size_t>(tile.columns);
    for (std::size_t c = 0; c < columns;
         c += hn::MaxLanes(hn::ScalableTag<T>())) {
      one_vector(tile, c, parts);
    }
  }

  static void join(State& total, const State& part, double, double) {
    const bool is_above = larger(part.m, total.m) != total.m;
    const State& high = is_above ? part : total;
    const State& low = is_above ? total : part;
    const double apart = low.m - high.m;
    // An infinite m, or NaN, stays; below it nothing counts.
    total = high.m - high.m != 0.0 || apart != apart
                ? State{larger(total.m, part.m), 0.0}
                : State{high.m, high.sum + low.sum * exp_of_one(apart)};
  }

  static void finish(const State* totals, std::int64_t count,
                     const ReduceFinish& finish) {
    for (std::int64_t i = 0; i < count; ++i) {
      const double m = totals[i].m;
      finish.at<T>(0)[i] =
          static_cast<T>(m - m != 0.0 ? m : m + log_of_one(totals[i].sum));
    }
  }
};

}  // namespace

Reduction logsumexp_of(DType dtype) {
  return reduction_by_float<LogSumExpOf>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(logsumexp_of);

struct LogSumExp : OverAxes {
  static Reduction reduction(const Args& args) {
    return HWY_DYNAMIC_DISPATCH(logsumexp_of)(args.in[0].dtype);
  }
  // In double, rounded once.
  template <class T>
  static void reference(const Args& args) noexcept {
    for_each_list<T>(
        args, axes(args),
        [&](const T* x, std::int64_t place, const detail::AxesOf& list) {
          double m = -std::numeric_limits<double>::infinity();
          for (std::int64_t j = 0; j < list.count(); ++j) {
            m = larger(m, static_cast<double>(x[list.offset(j)]));
          }
          double sum = 0.0;
          for (std::int64_t j = 0; j < list.count(); ++j) {
            sum += std::exp(static_cast<double>(x[list.offset(j)]) - m);
          }
          args.out[0].as<T>()[place] =
              static_cast<T>(std::isfinite(m) ? m + std::log(sum) : m);
        });
  }
};

}  // namespace

constinit const KernelList logsumexp_kernels{
    "logsumexp", kFloatReductions<"logsumexp", LogSumExp>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
