// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// What log_softmax and cross_entropy share: the largest element of a row and
// the sum of exponentials, in the order that reduce.hpp defines for rows.
#if defined(NEAP_KERNELS_SOFTMAX_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_SOFTMAX_INL_HPP_
#undef NEAP_KERNELS_SOFTMAX_INL_HPP_
#else
#define NEAP_KERNELS_SOFTMAX_INL_HPP_
#endif

#include "hwy/highway.h"
#include "neap/kernels/math-inl.hpp"
#include "neap/kernels/reduce-inl.hpp"
#include "neap/kernels/rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

// e^(x - m)
template <class T>
struct ExpAbove {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return exp_of(d, hn::Sub(x, hn::Set(d, m)));
  }
  T m;
};

template <class T>
struct RowTotal {
  T m;    // the largest element
  T sum;  // of e^(x - m)
};

template <class T, class Map>
T sum_of(RowBlock<T>& block, const T* row, std::int64_t length,
         const Map& map) {
  double total = 0.0;
  for (std::int64_t first = 0; first < length; first += kReduceBlock) {
    const std::int64_t count = std::min(kReduceBlock, length - first);
    total += static_cast<double>(
        reduce_block<AddVectors>(map, block.read(row, first, count), count));
  }
  return static_cast<T>(total);
}

template <class T>
RowTotal<T> total_of(RowBlock<T>& block, const T* row, std::int64_t length) {
  T m = -std::numeric_limits<T>::infinity();
  for (std::int64_t first = 0; first < length; first += kReduceBlock) {
    const std::int64_t count = std::min(kReduceBlock, length - first);
    m = larger(m, reduce_block<LargerVectors>(
                      Same(), block.read(row, first, count), count));
  }
  return {m, sum_of(block, row, length, ExpAbove<T>{m})};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#endif
