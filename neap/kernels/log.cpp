// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/log.hpp"

#include <cmath>

#include "neap/kernels/float_kernels.hpp"
#include "neap/kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neap/kernels/log.cpp"
#include "hwy/foreach_target.h"
#include "neap/kernels/elementwise-inl.hpp"
#include "neap/kernels/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {

struct LogVector {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return log_of(d, x);
  }
};

PieceFunction log_piece(DType dtype) {
  return float_piece<LogVector, 1>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace neap::kernels {
namespace {

HWY_EXPORT(log_piece);

struct Log {
  static PieceFunction piece(DType dtype) {
    return HWY_DYNAMIC_DISPATCH(log_piece)(dtype);
  }
  template <class T>
  T operator()(T x) const {
    return std::log(x);
  }
};

}  // namespace

constinit const KernelList log_kernels{"log", kFloatKernels<"log", Log, 1>};

}  // namespace neap::kernels
#endif  // HWY_ONCE
