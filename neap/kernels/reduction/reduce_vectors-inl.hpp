// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How vectors of a reduction are joined, and how they are loaded.
#if defined(NEAP_KERNELS_REDUCE_VECTORS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_REDUCE_VECTORS_INL_HPP_
#undef NEAP_KERNELS_REDUCE_VECTORS_INL_HPP_
#else
#define NEAP_KERNELS_REDUCE_VECTORS_INL_HPP_
#endif

#include <limits>
#include <type_traits>

#include "hwy/highway.h"
#include "neap/kernels/engine/elementwise-inl.hpp"
#include "neap/kernels/reduction/reduce.hpp"

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

struct MulVectors {
  template <class D>
  static HWY_INLINE hn::Vec<D> neutral(D d) {
    return constant(d, 1.0);
  }
  template <class V>
  static HWY_INLINE V join(V a, V b) {
    return hn::Mul(a, b);
  }
};

/// The larger, or the smaller; NaN if either is; b where they are equal.
/// Among numbers alone `Quick` has the same bits.
template <bool kIsMax>
struct ExtremeVectors {
  template <class D>
  static HWY_INLINE hn::Vec<D> neutral(D d) {
    constexpr auto kInfinity = std::numeric_limits<hn::TFromD<D>>::infinity();
    return hn::Set(d, kIsMax ? -kInfinity : kInfinity);
  }
  template <class V>
  static HWY_INLINE auto wins(V a, V b) {
    return kIsMax ? hn::Gt(a, b) : hn::Lt(a, b);
  }
  template <class V>
  static HWY_INLINE V join(V a, V b) {
    return hn::IfThenElse(hn::Or(wins(a, b), hn::IsNaN(a)), a, b);
  }

  struct Quick {
    static constexpr bool kIsForNumbers = true;

    template <class D>
    static HWY_INLINE hn::Vec<D> neutral(D d) {
      return ExtremeVectors::neutral(d);
    }
    template <class V>
    static HWY_INLINE V join(V a, V b) {
#if HWY_TARGET <= HWY_AVX2  // one instruction, which gives b where equal
      return kIsMax ? hn::Max(a, b) : hn::Min(a, b);
#else
      return hn::IfThenElse(wins(a, b), a, b);
#endif
    }
  };
};

using LargerVectors = ExtremeVectors<true>;
using SmallerVectors = ExtremeVectors<false>;

struct Same {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return x;
  }
};

/// A vector of D from elements of T: the same type, or f32 widened to f64.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_as(D d, const T* x) {
  if constexpr (sizeof(T) == sizeof(hn::TFromD<D>)) {
    return hn::LoadU(d, x);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, D>(), x));
  }
}

/// The first `count` of them, the others 0.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_some_as(D d, const T* x, std::size_t count) {
  const hn::Rebind<T, D> from;
#if HWY_TARGET <= HWY_AVX2  // where a masked load touches no more than it takes
  const auto loaded = hn::MaskedLoad(hn::FirstN(from, count), from, x);
#else
  const auto loaded = load_some(from, x, count);
#endif
  if constexpr (sizeof(T) == sizeof(hn::TFromD<D>)) {
    return loaded;
  } else {
    return hn::PromoteTo(d, loaded);
  }
}

// Joins the lanes of a vector by halves.
template <class Join, class D>
HWY_INLINE hn::TFromD<D> join_lanes([[maybe_unused]] D d, hn::Vec<D> v) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(d) > 1) {
    const hn::Half<D> half;
    return join_lanes<Join>(
        half, Join::join(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
#endif
  return hn::GetLane(v);
}

// The sum of what is joined: NaN where there was NaN among it (or infinities of
// both signs), a number where there was none.
template <class D>
class NanWatch {
 public:
  HWY_INLINE NanWatch() {
    for (hn::Vec<D>& sum : sums_) {
      sum = hn::Zero(D());
    }
  }
  HWY_INLINE void see(std::size_t k, hn::Vec<D> x) {
    sums_[k % kSums] = hn::Add(sums_[k % kSums], x);
  }
  HWY_INLINE bool saw_numbers() const {
    const auto sum =
        hn::Add(hn::Add(sums_[0], sums_[1]), hn::Add(sums_[2], sums_[3]));
    return hn::AllFalse(D(), hn::IsNaN(sum));
  }

 private:
  static constexpr std::size_t kSums = 4;
  hn::Vec<D> sums_[kSums];
};

// A watch that sees nothing, for reductions in which NaN needs no other way.
struct NoWatch {
  template <class V>
  HWY_INLINE void see(std::size_t /*k*/, V /*x*/) {}
  HWY_INLINE bool saw_numbers() const { return true; }
};

template <class Join, class D>
using WatchFor = std::conditional_t < requires {
  Join::kIsForNumbers;
}
, NanWatch<D>, NoWatch > ;

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#endif
