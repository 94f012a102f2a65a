// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/mul.hpp"

#include <array>

#include "neap/kernels/scalar.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/mul.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct MulVector {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Mul(a, b);
  }
};

PieceFunction mul_piece(DType dtype) {
  return float_piece<MulVector, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(mul_piece);

struct MulScalar {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(to_wrapping(a) * to_wrapping(b));
  }
};

void mul(const Args& args) noexcept {
  run_elementwise(args, HWY_DYNAMIC_DISPATCH(mul_piece)(args.in[0].dtype));
}

constexpr std::array kKernels{
    Kernel{.name = "mul.f32", .dtype = f32, .run = mul},
    Kernel{.name = "mul.f64", .dtype = f64, .run = mul},
    Kernel{.name = "mul.i32",
           .dtype = i32,
           .run = scalar_kernel<MulScalar, std::int32_t, 2>},
    Kernel{.name = "mul.i64",
           .dtype = i64,
           .run = scalar_kernel<MulScalar, std::int64_t, 2>},
    Kernel{.name = "mul.reference.f32",
           .dtype = f32,
           .run = reference<MulScalar, float, 2>},
    Kernel{.name = "mul.reference.f64",
           .dtype = f64,
           .run = reference<MulScalar, double, 2>},
};

}  // namespace

constinit const KernelList mul_kernels{"mul", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
