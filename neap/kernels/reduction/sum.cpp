// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/reduction/sum.hpp"

#include "neap/kernels/engine/targets.hpp"
#include "neap/kernels/reduction/reduce_kernels.hpp"
#include "neap/kernels/reduction/reduce_reference.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/reduction/sum.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/reduction/reduce-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class T>
using SumOfFloats = PlainReduction<T, AddVectors, AddStates<double>>;
// In i64, wrapping: unsigned, then the same bits.
template <class T>
using SumOfIntegers = IntegerReduction<T, AddStates<std::uint64_t>>;

}  // namespace

Reduction sum_of(DType dtype) {
  return reduction_by_dtype<SumOfFloats, SumOfIntegers>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(sum_of);

struct Sum : OverAxes {
  static Reduction reduction(const Args& args) {
    return HWY_DYNAMIC_DISPATCH(sum_of)(args.in[0].dtype);
  }
  template <class T>
  static void reference(const Args& args) noexcept {
    reduce_reference<T>(args, axes(args), T(0),
                        [](auto a, auto b) { return a + b; });
  }
};

}  // namespace

constinit const KernelList sum_kernels{"sum", kReductions<"sum", Sum>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
