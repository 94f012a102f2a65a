// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/add.hpp"

#include <array>

#include "neap/kernels/scalar.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/add.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct AddVector {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Add(a, b);
  }
};

PieceFunction add_piece(DType dtype) {
  return float_piece<AddVector, 2>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(add_piece);

struct AddScalar {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(to_wrapping(a) + to_wrapping(b));
  }
};

void add(const Args& args) noexcept {
  run_elementwise(args, HWY_DYNAMIC_DISPATCH(add_piece)(args.in[0].dtype));
}

constexpr std::array kKernels{
    Kernel{.name = "add.f32", .dtype = f32, .run = add},
    Kernel{.name = "add.f64", .dtype = f64, .run = add},
    Kernel{.name = "add.i32",
           .dtype = i32,
           .run = scalar_kernel<AddScalar, std::int32_t, 2>},
    Kernel{.name = "add.i64",
           .dtype = i64,
           .run = scalar_kernel<AddScalar, std::int64_t, 2>},
    Kernel{.name = "add.reference.f32",
           .dtype = f32,
           .run = reference<AddScalar, float, 2>},
    Kernel{.name = "add.reference.f64",
           .dtype = f64,
           .run = reference<AddScalar, double, 2>},
};

}  // namespace

constinit const KernelList add_kernels{"add", kKernels};

}  // namespace neap::kernels
#endif  // HWY_ONCE
