// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Vector code for blocks of a reduction, in the order that reduce.hpp defines.
#if defined(NEAP_KERNELS_REDUCE_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_REDUCE_INL_HPP_
#undef NEAP_KERNELS_REDUCE_INL_HPP_
#else
#define NEAP_KERNELS_REDUCE_INL_HPP_
#endif

#include <limits>

#include "hwy/highway.h"
#include "neap/kernels/elementwise-inl.hpp"
#include "neap/kernels/reduce.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

struct AddVectors {
  template <class D>
  static HWY_INLINE hn::Vec<D> neutral(D d) {
    return hn::Zero(d);
  }
  template <class V>
  static HWY_INLINE V join(V a, V b) {
    return hn::Add(a, b);
  }
};

/// The larger; NaN if either is.
struct LargerVectors {
  template <class D>
  static HWY_INLINE hn::Vec<D> neutral(D d) {
    return hn::Set(d, -std::numeric_limits<hn::TFromD<D>>::infinity());
  }
  template <class V>
  static HWY_INLINE V join(V a, V b) {
    return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
  }
};

struct Same {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return x;
  }
};

// Joins 16 partials by halves. One lane at a time, with vector functions.
template <class Join, class T>
HWY_INLINE T join_partials(T* partials) {
  const hn::CappedTag<T, 1> d1;
  for (int half = kReducePartials / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) {
      const auto joined = Join::join(hn::LoadU(d1, partials + i),
                                     hn::LoadU(d1, partials + i + half));
      partials[i] = hn::GetLane(joined);
    }
  }
  return partials[0];
}

/// One block: join over map(x[0]), .., map(x[count - 1]).
template <class Join, class Map, class T>
HWY_INLINE T reduce_block(const Map& map, const T* x, std::int64_t size) {
  const hn::CappedTag<T, kReducePartials> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  constexpr std::size_t kVectors = kReducePartials / kLanes;
  const auto count = static_cast<std::size_t>(size);
  V partials[kVectors];
  for (V& partial : partials) {
    partial = Join::neutral(d);
  }
  std::size_t i = 0;
  for (; i + kReducePartials <= count; i += kReducePartials) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      const V mapped = map(d, hn::LoadU(d, x + i + v * kLanes));
      partials[v] = Join::join(partials[v], mapped);
    }
  }
  for (std::size_t v = 0; i < count; ++v, i += kLanes) {
    // Joining the neutral element changes nothing.
    const std::size_t rest = HWY_MIN(count - i, kLanes);
    const V mapped = map(d, load_some(d, x + i, rest));
    const V valid =
        hn::IfThenElse(hn::FirstN(d, rest), mapped, Join::neutral(d));
    partials[v] = Join::join(partials[v], valid);
  }
  HWY_ALIGN T joined[kReducePartials];
  for (std::size_t v = 0; v < kVectors; ++v) {
    hn::Store(partials[v], d, joined + v * kLanes);
  }
  return join_partials<Join>(joined);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#endif
