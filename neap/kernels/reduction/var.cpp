// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/reduction/var.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "neap/kernels/engine/targets.hpp"
#include "neap/kernels/reduction/reduce_kernels.hpp"
#include "neap/kernels/reduction/reduce_reference.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/reduction/var.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/reduction/reduce-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

struct Moments {
  double mean;
  double squares;  // sum of (x - mean)^2
};

// (x - m)^2
template <class T>
struct SquareFrom {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V from_m = hn::Sub(x, hn::Set(d, m));
    return hn::Mul(from_m, from_m);
  }
  T m;
};

template <class T>
struct VarOf {
  using In = T;
  using State = Moments;
  static constexpr std::int64_t kBlockRows = 64;  // with some columns, in L1

  static State neutral() { return {0.0, 0.0}; }

  static State row(const T* x, std::int64_t count) {
    const T sum = reduce_block<AddVectors>(Same(), x, count);
    const T mean = sum / static_cast<T>(count);
    return {static_cast<double>(mean),
            static_cast<double>(
                reduce_block<AddVectors>(SquareFrom<T>{mean}, x, count))};
  }

  // kVectors vectors of columns from `first` on; the last may be cut short.
  template <std::size_t kVectors>
  static void some_columns(const Tile& tile, std::size_t first, State* parts) {
    const hn::ScalableTag<T> d;
    using V = hn::Vec<decltype(d)>;
    constexpr std::size_t kLanes = hn::MaxLanes(d);
    const std::size_t count = HWY_MIN(
        kVectors * kLanes, static_cast<std::size_t>(tile.columns) - first);
    const auto load = [&](std::int64_t r, std::size_t v) {
      const T* x = tile.row<T>(r) + first + v * kLanes;
      return (v + 1) * kLanes <= count ? hn::LoadU(d, x)
                                       : load_some_as(d, x, count - v * kLanes);
    };
    V mean[kVectors];
    V squares[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      mean[v] = squares[v] = hn::Zero(d);
    }
    for (std::int64_t r = 0; r < tile.row_count; ++r) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        mean[v] = hn::Add(mean[v], load(r, v));
      }
    }
    const V rows = constant(d, static_cast<double>(tile.row_count));
    for (V& m : mean) {
      m = hn::Div(m, rows);
    }
    for (std::int64_t r = 0; r < tile.row_count; ++r) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        const V from_mean = hn::Sub(load(r, v), mean[v]);
        squares[v] = hn::Add(squares[v], hn::Mul(from_mean, from_mean));
      }
    }
    HWY_ALIGN T means[kVectors * kLanes];
    HWY_ALIGN T sums[kVectors * kLanes];
    for (std::size_t v = 0; v < kVectors; ++v) {
      hn::Store(mean[v], d, means + v * kLanes);
      hn::Store(squares[v], d, sums + v * kLanes);
    }
    for (std::size_t c = 0; c < count; ++c) {
      parts[first + c] = {static_cast<double>(means[c]),
                          static_cast<double>(sums[c])};
    }
  }

  static void columns(const Tile& tile, State* parts) {
    constexpr std::size_t kVectors = 4;
    constexpr std::size_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
    const auto columns = static_cast<std::size_t>(tile.columns);
    std::size_t c = 0;
    for (; c + kVectors * kLanes <= columns; c += kVectors * kLanes) {
      some_columns<kVectors>(tile, c, parts);
    }
    for (; c < columns; c += kLanes) {
      some_columns<1>(tile, c, parts);
    }
  }

  static void join(State& total, const State& part, double before,
                   double added) {
    if (before == 0.0) {
      total = part;
      return;
    }
    const double apart = part.mean - total.mean;
    const double share = added / (before + added);
    total.mean += apart * share;
    total.squares += part.squares + apart * apart * (before * share);
  }

  static void finish(const State* totals, std::int64_t count,
                     const ReduceFinish& finish) {
    const auto& attrs = finish.attrs_as<VarAttrs>();
    const double n = static_cast<double>(finish.length);
    const double by = std::max(0.0, n - attrs.correction);
    const double empty =
        n == 0.0 ? std::numeric_limits<double>::quiet_NaN() : 0.0;
    for (std::int64_t i = 0; i < count; ++i) {
      const double var = totals[i].squares / by + empty;
      finish.at<T>(0)[i] = static_cast<T>(attrs.is_std ? std::sqrt(var) : var);
      finish.at<T>(1)[i] = static_cast<T>(totals[i].mean + empty);
    }
  }
};

}  // namespace

Reduction var_of(DType dtype) {
  return reduction_by_float<VarOf>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(var_of);

struct Var {
  static Reduction reduction(const Args& args) {
    return HWY_DYNAMIC_DISPATCH(var_of)(args.in[0].dtype);
  }
  static std::uint64_t axes(const Args& args) noexcept {
    return args.attrs_as<VarAttrs>().axes;
  }
  // Two passes in double: what all orders come close to.
  template <class T>
  static void reference(const Args& args) noexcept {
    const auto& attrs = args.attrs_as<VarAttrs>();
    Args means = args;
    means.out = args.out.subspan(1);
    for_each_list<T>(
        means, attrs.axes,
        [&](const T* x, std::int64_t place, const detail::AxesOf& list) {
          const auto n = static_cast<double>(list.count());
          double sum = 0.0;
          for (std::int64_t j = 0; j < list.count(); ++j) {
            sum += static_cast<double>(x[list.offset(j)]);
          }
          args.out[1].as<T>()[place] = static_cast<T>(sum / n);
        });
    for_each_list<T>(
        args, attrs.axes,
        [&](const T* x, std::int64_t place, const detail::AxesOf& list) {
          const auto n = static_cast<double>(list.count());
          double sum = 0.0;
          for (std::int64_t j = 0; j < list.count(); ++j) {
            sum += static_cast<double>(x[list.offset(j)]);
          }
          double squares = n == 0.0 ? std::nan("") : 0.0;
          for (std::int64_t j = 0; j < list.count(); ++j) {
            const double apart =
                static_cast<double>(x[list.offset(j)]) - sum / n;
            squares += apart * apart;
          }
          const double var = squares / std::max(0.0, n - attrs.correction);
          args.out[0].as<T>()[place] =
              static_cast<T>(attrs.is_std ? std::sqrt(var) : var);
        });
  }
};

}  // namespace

constinit const KernelList var_kernels{"var", kFloatReductions<"var", Var>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
