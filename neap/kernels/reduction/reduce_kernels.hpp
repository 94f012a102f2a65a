// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The list of a reduction from one small type, Op:
//
//   struct Sum {
//     static Reduction reduction(const Args& args) {  // the vector loops
//       return HWY_DYNAMIC_DISPATCH(sum_of)(args.in[0].dtype);
//     }
//     static std::uint64_t axes(const Args& args);
//     template <class T>
//     static void reference(const Args& args) noexcept;
//   };
#pragma once

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/float_kernels.hpp"
#include "neap/kernels/reduction/reduce.hpp"

namespace neap::kernels {

/// The base of an Op whose attributes are ReduceAttrs.
struct OverAxes {
  static std::uint64_t axes(const Args& args) noexcept {
    return args.attrs_as<ReduceAttrs>().axes;
  }
};

namespace detail {

template <class Op>
void reduce(const Args& args) noexcept {
  run_reduction(args, Op::axes(args), Op::reduction(args));
}

template <class Op>
Bytes scratch_of_reduction(const Args& args) noexcept {
  return reduction_scratch(args, Op::axes(args), Op::reduction(args));
}

template <Text kName, Text kSuffix, class Op>
constexpr Kernel reduction(DType dtype) {
  return {.name = kJoined<kName, kSuffix>.data(),
          .dtype = dtype,
          .run = reduce<Op>,
          .scratch = scratch_of_reduction<Op>};
}

}  // namespace detail

/// f32 and f64, and their references.
template <Text kName, class Op>
inline constexpr std::array kFloatReductions{
    detail::reduction<kName, ".f32", Op>(f32),
    detail::reduction<kName, ".f64", Op>(f64),
    detail::named<kName, ".reference.f32">(f32, Op::template reference<float>),
    detail::named<kName, ".reference.f64">(f64, Op::template reference<double>),
};

/// All dtypes but bf16.
template <Text kName, class Op>
inline constexpr std::array kReductions{
    detail::reduction<kName, ".f32", Op>(f32),
    detail::reduction<kName, ".f64", Op>(f64),
    detail::reduction<kName, ".i32", Op>(i32),
    detail::reduction<kName, ".i64", Op>(i64),
    detail::reduction<kName, ".u8", Op>(u8),
    detail::reduction<kName, ".bool", Op>(boolean),
    detail::named<kName, ".reference.f32">(f32, Op::template reference<float>),
    detail::named<kName, ".reference.f64">(f64, Op::template reference<double>),
};

}  // namespace neap::kernels
