// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/precision.hpp"

#include "neap/kernels/targets.hpp"
// The targets must be set before Highway is read.
#include "hwy/highway.h"

namespace neap::kernels {

const char* name_of(Precision precision) noexcept {
  return precision == Precision::kBf16 ? "bf16" : "f32";
}

bool has_bf16_dot() noexcept {
#if HWY_ARCH_X86_64 && (HWY_TARGETS & HWY_AVX3)
  // The compiler's own check looks at the operating system's state too.
  static const bool has = __builtin_cpu_supports("avx512bf16") != 0 &&
                          __builtin_cpu_supports("avx512bw") != 0 &&
                          __builtin_cpu_supports("avx512vl") != 0;
  return has && (hwy::SupportedTargets() & HWY_AVX3) != 0;
#else
  return false;
#endif
}

}  // namespace neap::kernels
