// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/reduction/prod.hpp"

#include "neap/kernels/engine/targets.hpp"
#include "neap/kernels/reduction/reduce_kernels.hpp"
#include "neap/kernels/reduction/reduce_reference.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/reduction/prod.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/reduction/reduce-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

// Integers are multiplied in i64, wrapping: unsigned, then the same bits.
template <class S>
struct Multiply {
  using State = S;
  static State neutral() { return State(1); }
  static State join(State a, State b) { return a * b; }
};

template <class T>
using ProductOfFloats = PlainReduction<T, MulVectors, Multiply<double>>;
template <class T>
using ProductOfIntegers = IntegerReduction<T, Multiply<std::uint64_t>>;

}  // namespace

Reduction prod_of(DType dtype) {
  return reduction_by_dtype<ProductOfFloats, ProductOfIntegers>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(prod_of);

struct Prod : OverAxes {
  static Reduction reduction(const Args& args) {
    return HWY_DYNAMIC_DISPATCH(prod_of)(args.in[0].dtype);
  }
  template <class T>
  static void reference(const Args& args) noexcept {
    reduce_reference<T>(args, axes(args), T(1),
                        [](auto a, auto b) { return a * b; });
  }
};

}  // namespace

constinit const KernelList prod_kernels{"prod", kReductions<"prod", Prod>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
