// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/compare.hpp"

#include <array>
#include <functional>

#include "neap/kernels/scalar.hpp"

namespace neap::kernels {
namespace {

// These loops are exact and plain, so they are their own reference.
template <class Op>
constexpr std::array<Kernel, 6> kernels_of(
    const std::array<const char*, 6>& names) {
  return {Kernel{names[0], f32, scalar_kernel<Op, float, 2, bool>},
          Kernel{names[1], f64, scalar_kernel<Op, double, 2, bool>},
          Kernel{names[2], i32, scalar_kernel<Op, std::int32_t, 2, bool>},
          Kernel{names[3], i64, scalar_kernel<Op, std::int64_t, 2, bool>},
          Kernel{names[4], u8, scalar_kernel<Op, std::uint8_t, 2, bool>},
          Kernel{names[5], boolean, scalar_kernel<Op, bool, 2, bool>}};
}

constexpr auto kEq = kernels_of<std::equal_to<>>(
    {"eq.f32", "eq.f64", "eq.i32", "eq.i64", "eq.u8", "eq.bool"});
constexpr auto kNe = kernels_of<std::not_equal_to<>>(
    {"ne.f32", "ne.f64", "ne.i32", "ne.i64", "ne.u8", "ne.bool"});
constexpr auto kLt = kernels_of<std::less<>>(
    {"lt.f32", "lt.f64", "lt.i32", "lt.i64", "lt.u8", "lt.bool"});
constexpr auto kLe = kernels_of<std::less_equal<>>(
    {"le.f32", "le.f64", "le.i32", "le.i64", "le.u8", "le.bool"});
constexpr auto kGt = kernels_of<std::greater<>>(
    {"gt.f32", "gt.f64", "gt.i32", "gt.i64", "gt.u8", "gt.bool"});
constexpr auto kGe = kernels_of<std::greater_equal<>>(
    {"ge.f32", "ge.f64", "ge.i32", "ge.i64", "ge.u8", "ge.bool"});

}  // namespace

constinit const KernelList eq_kernels{"eq", kEq};
constinit const KernelList ne_kernels{"ne", kNe};
constinit const KernelList lt_kernels{"lt", kLt};
constinit const KernelList le_kernels{"le", kLe};
constinit const KernelList gt_kernels{"gt", kGt};
constinit const KernelList ge_kernels{"ge", kGe};

}  // namespace neap::kernels
