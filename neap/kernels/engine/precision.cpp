// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/engine/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/engine/precision.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "neap/kernels/engine/precision.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {

bool has_pairs() {
#if HWY_TARGET == HWY_AVX3 && HWY_ARCH_X86_64
  // The compiler's own check looks at the operating system's state too. Once:
  // a virtual machine takes microseconds to answer.
  static const bool has = __builtin_cpu_supports("avx512bf16") != 0;
  return has;
#else
  return false;
#endif
}

}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {
HWY_EXPORT(has_pairs);
}  // namespace

const char* name_of(Precision precision) noexcept {
  return precision == Precision::kBf16 ? "bf16" : "f32";
}

bool has_bf16_dot() noexcept {
  return HWY_DYNAMIC_DISPATCH(has_pairs)();
}

}  // namespace neap::kernels
#endif  // HWY_ONCE
