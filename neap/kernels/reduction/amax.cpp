// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/reduction/amax.hpp"

#include <limits>

#include "neap/kernels/engine/targets.hpp"
#include "neap/kernels/reduction/reduce_kernels.hpp"
#include "neap/kernels/reduction/reduce_reference.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/reduction/amax.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/reduction/reduce-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class T>
using AmaxOfFloats = PlainReduction<T, LargerVectors, ExtremeStates<T, true>>;
template <class T>
using AmaxOfIntegers = IntegerReduction<T, ExtremeStates<T, true>>;
template <class T>
using AminOfFloats = PlainReduction<T, SmallerVectors, ExtremeStates<T, false>>;
template <class T>
using AminOfIntegers = IntegerReduction<T, ExtremeStates<T, false>>;

}  // namespace

Reduction amax_of(DType dtype) {
  return reduction_by_dtype<AmaxOfFloats, AmaxOfIntegers>(dtype);
}

Reduction amin_of(DType dtype) {
  return reduction_by_dtype<AminOfFloats, AminOfIntegers>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(amax_of);
HWY_EXPORT(amin_of);

template <bool kIsMax>
struct Extreme : OverAxes {
  static Reduction reduction(const Args& args) {
    const DType dtype = args.in[0].dtype;
    return kIsMax ? HWY_DYNAMIC_DISPATCH(amax_of)(dtype)
                  : HWY_DYNAMIC_DISPATCH(amin_of)(dtype);
  }
  template <class T>
  static void reference(const Args& args) noexcept {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    reduce_reference<T>(
        args, axes(args), kIsMax ? -kInfinity : kInfinity,
        [](auto a, auto b) { return kIsMax ? larger(a, b) : smaller(a, b); });
  }
};

}  // namespace

constinit const KernelList amax_kernels{"amax",
                                        kReductions<"amax", Extreme<true>>};
constinit const KernelList amin_kernels{"amin",
                                        kReductions<"amin", Extreme<false>>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
