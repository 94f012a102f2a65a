// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rows cut by phases (pool.hpp), and put together again.
#if defined(NEAP_KERNELS_POOL_ROWS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef NEAP_KERNELS_POOL_ROWS_INL_HPP_
#undef NEAP_KERNELS_POOL_ROWS_INL_HPP_
#else
#define NEAP_KERNELS_POOL_ROWS_INL_HPP_
#endif

#include "hwy/highway.h"
#include "neap/kernels/conv/pool.hpp"
#include "neap/kernels/engine/elementwise-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace neap::kernels {
namespace HWY_NAMESPACE {
namespace {

/// to = from, or to += from.
template <bool kAdds, class D, class V, class T>
HWY_INLINE void put(D d, V from, T* to) {
  hn::StoreU(kAdds ? hn::Add(hn::LoadU(d, to), from) : from, d, to);
}

template <bool kAdds, class T>
HWY_INLINE void put_one(T from, T& to) {
  to = kAdds ? to + from : from;
}

// The first `count` of a vector. Behind them 0 is added, or nothing done.
template <bool kAdds, class D, class V, class T>
HWY_INLINE void put_some(D d, V from, T* to, std::int64_t count) {
  if constexpr (kAdds) {
    put<true>(d, from, to);
  } else {
    store_some(d, from, to, static_cast<std::size_t>(count));
  }
}

template <bool kAdds, class T>
HWY_INLINE void put_dense(const T* from, std::int64_t count, T* to) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    put<kAdds>(d, hn::LoadU(d, from + i), to + i);
  }
  if (i < count) {
    const auto rest = static_cast<std::size_t>(count - i);
    put_some<kAdds>(d, load_some(d, from + i, rest), to + i, count - i);
  }
}

// Elements 0, 2, .. of `from` to one array, 1, 3, .. to another.
template <bool kAdds, class T>
HWY_INLINE void put_pairs(const T* from, std::int64_t count, T* even, T* odd) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; 2 * (i + lanes) <= count; i += lanes) {
    hn::Vec<decltype(d)> a;
    hn::Vec<decltype(d)> b;
    hn::LoadInterleaved2(d, from + 2 * i, a, b);
    put<kAdds>(d, a, even + i);
    put<kAdds>(d, b, odd + i);
  }
  const std::int64_t rest = count - 2 * i;
#if HWY_TARGET == HWY_SCALAR
  if (rest > 0) {
    put_one<kAdds>(from[2 * i], even[i]);
  }
#else
  if (rest > 0) {
    const std::int64_t low = std::min(rest, lanes);
    const auto a = load_some(d, from + 2 * i, static_cast<std::size_t>(low));
    const auto b =
        load_some(d, from + 2 * i + low, static_cast<std::size_t>(rest - low));
    put_some<kAdds>(d, hn::ConcatEven(d, b, a), even + i, (rest + 1) / 2);
    put_some<kAdds>(d, hn::ConcatOdd(d, b, a), odd + i, rest / 2);
  }
#endif
}

/// Cuts a row whose elements lie `stride` apart, or adds it to one that was
/// cut. What is padding stays as it is.
template <bool kAdds, class T>
HWY_INLINE void cut_row(const Phases& phases, const T* row, std::int64_t stride,
                        T* to) {
  const std::int64_t padding = phases.padding;
  if (stride == 1 && phases.count == 1) {
    put_dense<kAdds>(row, phases.used, to + padding);
    return;
  }
  if (stride == 1 && phases.count == 2) {
    T* even = to + padding / 2;
    T* odd = even + phases.length;
    const std::int64_t first = padding % 2;  // of an odd phase
    if (first == 1 && phases.used > 0) {
      put_one<kAdds>(row[0], *odd);
      ++even;
      ++odd;
    }
    put_pairs<kAdds>(row + first, phases.used - first, even, odd);
    return;
  }
  std::int64_t phase = padding % phases.count;
  T* at = to + padding / phases.count;
  for (std::int64_t i = 0; i < phases.used; ++i) {
    put_one<kAdds>(row[i * stride], at[phase * phases.length]);
    if (++phase == phases.count) {
      phase = 0;
      ++at;
    }
  }
}

/// The first `count` elements of two vectors, interleaved; at most two vectors.
template <class D, class V, class T>
HWY_INLINE void store_pairs(D d, V even, V odd, std::int64_t count, T* to) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (count == 2 * lanes) {
    hn::StoreInterleaved2(even, odd, d, to);
    return;
  }
  HWY_ALIGN T both[2 * hn::MaxLanes(d)];
  hn::StoreInterleaved2(even, odd, d, both);
  const std::int64_t low = std::min(count, lanes);
  store_some(d, hn::Load(d, both), to, static_cast<std::size_t>(low));
  if (count > lanes) {
    store_some(d, hn::Load(d, both + lanes), to + lanes,
               static_cast<std::size_t>(count - lanes));
  }
}

/// The reverse, to a dense row; what no window looks at is 0.
template <class T>
HWY_INLINE void join_row(const Phases& phases, const T* from, T* row) {
  const std::int64_t padding = phases.padding;
  const std::int64_t used = std::max<std::int64_t>(phases.used, 0);
  std::fill(row + used, row + phases.width, T(0));
  if (phases.count == 1) {
    put_dense<false>(from + padding, used, row);
    return;
  }
  std::int64_t i = 0;
  if (phases.count == 2) {
    const T* even = from + padding / 2;
    const T* odd = even + phases.length;
    if (padding % 2 == 1 && used > 0) {
      row[i++] = *odd++;
      ++even;
    }
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (; i < used; i += 2 * lanes) {
      store_pairs(d, hn::LoadU(d, even), hn::LoadU(d, odd),
                  std::min(2 * lanes, used - i), row + i);
      even += lanes;
      odd += lanes;
    }
    return;
  }
  std::int64_t phase = padding % phases.count;
  const T* at = from + padding / phases.count;
  for (; i < used; ++i) {
    row[i] = at[phase * phases.length];
    if (++phase == phases.count) {
      phase = 0;
      ++at;
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace neap::kernels
HWY_AFTER_NAMESPACE();

#endif
