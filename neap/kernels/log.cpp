// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/log.hpp"

#include <array>
#include <cmath>

#include "neap/kernels/scalar.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/log.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise-inl.hpp"
#include "neap/kernels/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct LogVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return log_of(d, x);
  }
};

PieceFunction log_piece(DType dtype) {
  return float_piece<LogVector, 1>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(log_piece);

struct LogScalar {
  template <class T>
  T operator()(T x) const {
    return std::log(x);
  }
};

void log(const Args& args) noexcept {
  run_elementwise(args, HWY_DYNAMIC_DISPATCH(log_piece)(args.in[0].dtype));
}

constexpr std::array kKernels{
    Kernel{.name = "log.f32", .dtype = f32, .run = log},
    Kernel{.name = "log.f64", .dtype = f64, .run = log},
    Kernel{.name = "log.reference.f32",
           .dtype = f32,
           .run = reference<LogScalar, float, 1>},
    Kernel{.name = "log.reference.f64",
           .dtype = f64,
           .run = reference<LogScalar, double, 1>},
};

}  // namespace

constinit const KernelList log_kernels{"log", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
