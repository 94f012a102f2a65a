// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The windows that reach a row, and their elements that reach each phase of it:
// for kernels that make a row of the input from rows of outputs.
#if defined(NEAP_KERNELS_POOL_SPREAD_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_POOL_SPREAD_INL_HPP_
#undef NEAP_KERNELS_POOL_SPREAD_INL_HPP_
#else
#define NEAP_KERNELS_POOL_SPREAD_INL_HPP_
#endif

#include "neap/base/ceil_div.hpp"
#include "neap/kernels/conv/pool_rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

/// Element k of the windows of outputs is element i + shift of its phase.
struct Reach {
  std::int64_t k = 0;
  std::int64_t shift = 0;
};

/// The elements that reach each phase, the last first, so that sums run in
/// the order of the windows. `starts` has phases.count + 1 places, `reaches`
/// one for each element.
inline void list_reaches(const Phases& phases, std::int64_t kernel,
                         std::int64_t* starts, Reach* reaches) {
  std::int64_t count = 0;
  for (std::int64_t phase = 0; phase < phases.count; ++phase) {
    starts[phase] = count;
    for (std::int64_t k = kernel - 1; k >= 0; --k) {
      if (k * phases.dilation % phases.count == phase) {
        reaches[count++] = {k, k * phases.dilation / phases.count};
      }
    }
  }
  starts[phases.count] = count;
}

/// The outputs [first, last] whose windows reach from before to behind `h`.
struct Covering {
  Covering(const PoolAxis& axis, std::int64_t h) noexcept {
    const std::int64_t at = h + axis.padding;
    const std::int64_t before = at - axis.span() + 1;
    first = before <= 0 ? 0 : base::ceil_div(before, axis.stride);
    last = std::min(at / axis.stride, axis.out - 1);
  }
  std::int64_t first = 0;
  std::int64_t last = 0;
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#endif
