// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The choice of the instruction set that kernels run with.
#include <array>
#include <cstdlib>
#include <string_view>

#include "neap/base/raise.hpp"
#include "neap/kernels/engine/kernel.hpp"
#include "neap/kernels/engine/targets.hpp"
// The targets must be set before Highway is read.
#include "hwy/highway.h"

namespace neap::kernels {
namespace {

struct Level {
  const char* name;
  std::int64_t target;  // Highway's bit; 0: what every processor has
};

#if HWY_ARCH_X86
constexpr std::array kLevels{Level{"avx512", HWY_AVX3}, Level{"avx2", HWY_AVX2},
                             Level{"sse4", HWY_SSE4}, Level{"baseline", 0}};
#elif HWY_STATIC_TARGET == HWY_NEON
constexpr std::array kLevels{Level{"neon", 0}};
#else
constexpr std::array kLevels{Level{"baseline", 0}};
#endif

bool is_available(const Level& level, std::int64_t supported) noexcept {
  return level.target == 0 || (supported & level.target) != 0;
}

const Level& best_level(std::int64_t supported) noexcept {
  for (const Level& level : kLevels) {
    if (is_available(level, supported)) {
      return level;
    }
  }
  return kLevels.back();
}

const Level& named_level(std::string_view name, std::int64_t supported) {
  for (const Level& level : kLevels) {
    if (name != level.name) {
      continue;
    }
    if (!is_available(level, supported)) {
      base::raise<ValueError>("NEAP_ISA: this processor has no {}", name);
    }
    return level;
  }
  base::raise<ValueError>(
      "NEAP_ISA: '{}' is not an instruction set, expected avx512, avx2, "
      "sse4 or baseline",
      name);
}

// Lower targets have higher bits, so all bits below the level's are better.
const char* pin() {
  const std::int64_t supported = hwy::SupportedTargets() & HWY_TARGETS;
  const char* wanted = std::getenv("NEAP_ISA");
  const Level& level = wanted != nullptr && *wanted != '\0'
                           ? named_level(wanted, supported)
                           : best_level(supported);
#if HWY_ARCH_X86
  const std::int64_t every_x86 = (1LL << (HWY_HIGHEST_TARGET_BIT_X86 + 1)) - 1;
  hwy::DisableTargets(level.target != 0 ? level.target - 1 : every_x86);
#endif
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return level.name;
}

}  // namespace

const char* isa() {
  static const char* const name = pin();
  return name;
}

}  // namespace neap::kernels
