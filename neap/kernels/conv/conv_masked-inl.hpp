// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A multiply-add of some lanes, by the one instruction that it is with AVX-512:
// Highway of this version has none for it, and the compiler does not make one
// of a multiply-add and a choice. Compiled once for each instruction set;
// included by the headers of convolutions alone.
#if defined(NEAP_KERNELS_CONV_MASKED_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_CONV_MASKED_INL
#undef NEAP_KERNELS_CONV_MASKED_INL
#else
#define NEAP_KERNELS_CONV_MASKED_INL
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels::HWY_NAMESPACE {
#if HWY_TARGET == HWY_AVX3
namespace hn = hwy::HWY_NAMESPACE;

/// a * b + sum where `takes`, else sum.
HWY_INLINE hn::Vec512<float> add_where(hn::Mask512<float> takes,
                                       hn::Vec512<float> a, hn::Vec512<float> b,
                                       hn::Vec512<float> sum) {
  return hn::Vec512<float>{
      _mm512_mask3_fmadd_ps(a.raw, b.raw, sum.raw, takes.raw)};
}
HWY_INLINE hn::Vec512<double> add_where(hn::Mask512<double> takes,
                                        hn::Vec512<double> a,
                                        hn::Vec512<double> b,
                                        hn::Vec512<double> sum) {
  return hn::Vec512<double>{
      _mm512_mask3_fmadd_pd(a.raw, b.raw, sum.raw, takes.raw)};
}

#endif  // AVX-512
}  // namespace neap::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the toggle
