// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/exp.hpp"

#include <array>
#include <cmath>

#include "neap/kernels/scalar.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/exp.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise-inl.hpp"
#include "neap/kernels/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct ExpVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return exp_of(d, x);
  }
};

PieceFunction exp_piece(DType dtype) {
  return float_piece<ExpVector, 1>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(exp_piece);

struct ExpScalar {
  template <class T>
  T operator()(T x) const {
    return std::exp(x);
  }
};

void exp(const Args& args) noexcept {
  run_elementwise(args, HWY_DYNAMIC_DISPATCH(exp_piece)(args.in[0].dtype));
}

constexpr std::array kKernels{
    Kernel{.name = "exp.f32", .dtype = f32, .run = exp},
    Kernel{.name = "exp.f64", .dtype = f64, .run = exp},
    Kernel{.name = "exp.reference.f32",
           .dtype = f32,
           .run = reference<ExpScalar, float, 1>},
    Kernel{.name = "exp.reference.f64",
           .dtype = f64,
           .run = reference<ExpScalar, double, 1>},
};

}  // namespace

constinit const KernelList exp_kernels{"exp", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
