// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/reduction/norm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "neap/kernels/engine/targets.hpp"
#include "neap/kernels/reduction/reduce_kernels.hpp"
#include "neap/kernels/reduction/reduce_reference.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/reduction/norm.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/reduction/reduce-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

struct Size {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Abs(x);
  }
};

// 1 where x is not zero, NaN included.
struct IsNonzero {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::IfThenZeroElse(hn::Eq(x, hn::Zero(d)), constant(d, 1.0));
  }
};

struct Square {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Mul(x, x);
  }
};

template <class T>
using CountOf = PlainReduction<T, AddVectors, AddStates<double>, IsNonzero>;
template <class T>
using SumOfSizes = PlainReduction<T, AddVectors, AddStates<double>, Size>;
// Sizes begin at 0, so that those of nothing are 0.
template <class T>
struct LargestSize
    : PlainReduction<T, LargerVectors, ExtremeStates<T, true>, Size> {
  static T neutral() { return T(0); }
};
template <class T>
using SmallestSize =
    PlainReduction<T, SmallerVectors, ExtremeStates<T, false>, Size>;

template <class T>
struct RootOfSquares {
  using In = T;
  using State = double;
  static constexpr std::int64_t kBlockRows = kReduceBlock;

  static double neutral() { return 0.0; }
  static double row(const T* x, std::int64_t count) {
    return reduce_block<AddVectors>(Square(), x, count, double());
  }
  static void columns(const Tile& tile, double* parts) {
    HWY_ALIGN double totals[kReduceColumns];
    reduce_columns<AddVectors, T>(Square(), tile, totals);
    std::copy_n(totals, tile.columns, parts);
  }
  static void join(double& total, const double& part, double, double) {
    total += part;
  }
  static void finish(const double* totals, std::int64_t count,
                     const ReduceFinish& finish) {
    for (std::int64_t i = 0; i < count; ++i) {
      finish.at<T>(0)[i] = static_cast<T>(std::sqrt(totals[i]));
    }
  }
};

}  // namespace

Reduction norm_of(DType dtype, double p) {
  if (p == 0.0) {
    return reduction_by_float<CountOf>(dtype);
  }
  if (p == 1.0) {
    return reduction_by_float<SumOfSizes>(dtype);
  }
  if (p == 2.0) {
    return reduction_by_float<RootOfSquares>(dtype);
  }
  return p > 0.0 ? reduction_by_float<LargestSize>(dtype)
                 : reduction_by_float<SmallestSize>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(norm_of);

struct Norm {
  static Reduction reduction(const Args& args) {
    return HWY_DYNAMIC_DISPATCH(norm_of)(args.in[0].dtype,
                                         args.attrs_as<NormAttrs>().p);
  }
  static std::uint64_t axes(const Args& args) noexcept {
    return args.attrs_as<NormAttrs>().axes;
  }
  template <class T>
  static void reference(const Args& args) noexcept {
    const double p = args.attrs_as<NormAttrs>().p;
    const auto add = [](auto a, auto b) { return a + b; };
    const auto same = [](double total) { return total; };
    const auto size = [](T x) { return std::abs(x); };
    if (p == 0.0) {
      reduce_reference<T>(
          args, axes(args), T(0), add, [](T x) { return T(x == T(0) ? 0 : 1); },
          same);
    } else if (p == 1.0) {
      reduce_reference<T>(args, axes(args), T(0), add, size, same);
    } else if (p == 2.0) {
      reduce_reference<T>(
          args, axes(args), 0.0, add,
          [](T x) { return static_cast<double>(x) * static_cast<double>(x); },
          [](double total) { return std::sqrt(total); });
    } else if (p > 0.0) {
      reduce_reference<T>(
          args, axes(args), T(0), [](auto a, auto b) { return larger(a, b); },
          size, same);
    } else {
      reduce_reference<T>(
          args, axes(args), std::numeric_limits<T>::infinity(),
          [](auto a, auto b) { return smaller(a, b); }, size, same);
    }
  }
};

}  // namespace

constinit const KernelList norm_kernels{"norm", kFloatReductions<"norm", Norm>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
