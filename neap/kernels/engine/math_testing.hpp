// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// For the tests of mathematical kernels: their errors against a wider type.
#pragma once

#include <algorithm>

#include "neap/kernels/engine/kernel_testing.hpp"

namespace neap::kernels::testing {

template <class T>
Array apply(const KernelList& list, std::int64_t count,
            const std::function<T(std::int64_t)>& value) {
  Array x = Array::of<T>({count}, Lay::kDense, value);
  Array y({count}, dtype_of<T>);
  call(first_of(list, dtype_of<T>), {x.view()}, {y.view()});
  return y;
}

template <class T>
T apply_one(const KernelList& list, T x) {
  return apply<T>(list, 1, [x](std::int64_t) { return x; }).template at<T>(0);
}

// The largest error over [low, high], in units in the last place.
template <class T>
double worst_error(const KernelList& list, long double (*exact)(long double),
                   double low, double high) {
  constexpr std::int64_t kCount = 200001;
  const auto value = [&](std::int64_t i) {
    return static_cast<T>(low + (high - low) * static_cast<double>(i) /
                                    static_cast<double>(kCount - 1));
  };
  Array y = apply<T>(list, kCount, value);
  double worst = 0.0;
  for (std::int64_t i = 0; i < kCount; ++i) {
    const long double want = exact(static_cast<long double>(value(i)));
    worst = std::max(worst, ulps(y.at<T>(i), want));
  }
  return worst;
}

// The same, with x = +-2^e for e in [low, high].
template <class T>
double worst_error_by_scale(const KernelList& list,
                            long double (*exact)(long double), double low,
                            double high, double sign) {
  constexpr std::int64_t kCount = 100001;
  const auto value = [&](std::int64_t i) {
    return static_cast<T>(
        sign * std::exp2(low + (high - low) * static_cast<double>(i) /
                                   static_cast<double>(kCount)));
  };
  Array y = apply<T>(list, kCount, value);
  double worst = 0.0;
  for (std::int64_t i = 0; i < kCount; ++i) {
    const long double want = exact(static_cast<long double>(value(i)));
    worst = std::max(worst, ulps(y.at<T>(i), want));
  }
  return worst;
}

}  // namespace neap::kernels::testing
